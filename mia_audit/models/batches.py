"""Which records every model of a stack sees at every step, in fixed shapes.

Models of one sweep have training sets of unequal size, yet all take the same number of steps an
epoch, S = ⌈num_train / batch⌉: a model's permutation of its n records is cut at ⌊s·n/S⌋. Shapes
depend on the configuration alone (float32 results depend on them): rows beyond a batch's own
size are padding with weight 0.

Letters: K slots of a stack, N records, S steps an epoch, B rows of a padded batch.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch


def steps_per_epoch(num_train: int, batch: int) -> int:
    """Optimiser steps an epoch, for every model of the sweep."""
    return math.ceil(num_train / batch)


def largest_training_set(num_records: int, num_train: int) -> int:
    """Records the padded batches of one epoch can hold: mean + 6 sd of a Bernoulli design."""
    fraction = num_train / num_records
    spread = math.sqrt(num_records * fraction * (1 - fraction))
    return min(num_records, math.ceil(num_train + 6 * spread))


@dataclass(frozen=True, eq=False)
class Schedule:
    """The batches of one stack.

    index_shape: (S, K, B).
    rows: for each slot the records of its training set, int64 [n], empty for a dummy.
    places: for each slot where its permuted records go in the flattened [S, K, B], int64 [n].
    weights: float64 [S, K, 1, B], 1 / (size of that batch) for a record and 0 for padding.
    """

    index_shape: tuple[int, int, int]
    rows: list[torch.Tensor]
    places: list[torch.Tensor]
    weights: torch.Tensor

    def draw_epoch(self, generators: list[torch.Generator]) -> torch.Tensor:
        """Record numbers of an epoch's batches, int64 [S, K, B], each slot permuted by its own
        generator; padding points at record 0."""
        index = torch.zeros(math.prod(self.index_shape), dtype=torch.int64)
        for rows, places, generator in zip(self.rows, self.places, generators, strict=True):
            index[places] = rows[torch.randperm(len(rows), generator=generator)]
        return index.view(self.index_shape)


def make_schedule(
    members: np.ndarray, slots: np.ndarray, *, num_slots: int, num_train: int, batch: int
) -> Schedule:
    """Lay out the batches of m models that sit in `slots` (int [m]) of a stack of `num_slots`.

    members: bool [m, N]; num_train: the expected size of a training set.
    ValueError: a training set has fewer records than steps, or more than the padding can hold.
    """
    num_records = members.shape[1]
    steps = steps_per_epoch(num_train, batch)
    largest = largest_training_set(num_records, num_train)
    shape = (steps, num_slots, math.ceil(largest / steps))
    empty = torch.zeros(0, dtype=torch.int64)
    rows, places = [empty] * num_slots, [empty] * num_slots
    weights = torch.zeros(math.prod(shape), dtype=torch.float64)
    for model, slot in enumerate(slots):
        chosen = np.flatnonzero(members[model])
        _check_size(model, len(chosen), steps, largest, num_train)
        rows[slot] = torch.from_numpy(chosen)
        cuts = np.arange(steps + 1) * len(chosen) // steps
        places[slot] = torch.from_numpy(_places(cuts, int(slot), shape))
        sizes = np.diff(cuts)
        weights[places[slot]] = torch.from_numpy(np.repeat(1 / sizes, sizes))
    steps, slots_, width = shape
    return Schedule(shape, rows, places, weights.view(steps, slots_, 1, width))


def _places(cuts: np.ndarray, slot: int, shape: tuple[int, int, int]) -> np.ndarray:
    """Positions in the flattened [S, K, B] of the records cut at `cuts` [S + 1], int64 [n]."""
    sizes = np.diff(cuts)
    step = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(cuts[-1]) - cuts[step]
    return (step * shape[1] + slot) * shape[2] + within


def _check_size(model: int, size: int, steps: int, largest: int, num_train: int) -> None:
    if size < steps:
        raise ValueError(
            f"The training set in row {model} of members has {size} records, fewer than the "
            f"{steps} batches of an epoch: use a larger pool, fraction or batch."
        )
    if size > largest:
        raise ValueError(
            f"The training set in row {model} of members has {size} records, but with "
            f"num_train={num_train} at most {largest} fit: pass the num_train of this design."
        )
