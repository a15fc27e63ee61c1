"""A defence's own randomness: from each model's seed, apart from what training draws from it.

The seed itself draws initial weights and permutations, so that a defence at its neutral setting
is plain training, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

SUBSETS, STEPS = 3, 4  # which records; what happens at a step (1 and 2 are DP-SGD's)


def numpy_streams(seeds: np.ndarray, stream: int) -> list[np.random.Generator]:
    """A generator for each seed (int64 [m])."""
    return [np.random.default_rng([int(seed), stream]) for seed in seeds]


def torch_streams(seeds: np.ndarray, stream: int, device: torch.device) -> list[torch.Generator]:
    """A generator on the device for each seed (int64 [m])."""
    import torch

    generators = [torch.Generator(device) for _ in seeds]
    for generator, seed in zip(generators, seeds, strict=True):
        generator.manual_seed(further_seed(int(seed), stream))
    return generators


def further_seed(*entropy: int) -> int:
    """A seed below 2⁶³ that follows from the given numbers."""
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> np.uint64(1))


def draw_subsets(members: np.ndarray, seeds: np.ndarray, share: float) -> np.ndarray:
    """Each model's records kept independently with probability `share`, bool [m, N].

    members: bool [m, N]; a record's fate does not depend on which others are members.
    """
    draws = [rng.random(members.shape[1]) for rng in numpy_streams(seeds, SUBSETS)]
    return members & (np.stack(draws) < share)


def expected_size(num_train: int, share: float) -> int:
    """Records that a share of a training set has on average, at least 1."""
    return max(1, int(np.floor(share * num_train + 0.5)))


def check_share(key: str, share: float) -> None:
    """ValueError unless 0 < share ≤ 1."""
    if not 0 < share <= 1:
        raise ValueError(f"defence.{key} is {share}: it must be above 0 and at most 1.")
