"""Membership designs: which record is in which model's training set, and each model's seed.

M models, N records. Randomness of row m comes from (seed, m) alone, so a larger sweep extends a
smaller one: ``draw_members(256, N)[:128]`` equals ``draw_members(128, N)`` (not for ``balanced``).
"""

import math

import numpy as np

DESIGNS = ("bernoulli", "balanced", "fixed_size")

# First element of the spawn key: keeps the streams of members and of training seeds apart.
_MEMBERS, _SEEDS = 0, 1


def draw_members(
    num_models: int,
    num_records: int,
    *,
    design: str = "bernoulli",
    fraction: float = 0.5,
    seed: int = 0,
) -> np.ndarray:
    """Draw the membership matrix, bool [M, N] (True: the record is in the model's training set).

    ``bernoulli``: each entry independently with probability ``fraction``. ``fixed_size``: each
    model gets exactly ⌊fraction·N + ½⌋ records. ``balanced``: each record is in exactly fraction·M
    models; the matrix then depends on M. Raises ValueError for an unknown design, a fraction
    outside (0, 1), or sizes the design cannot split.
    """
    _check(num_models, num_records, fraction, seed)
    if design == "balanced":
        return _balanced(num_models, num_records, fraction, seed)
    if design == "fixed_size":
        return _fixed_size(num_models, num_records, fraction, seed)
    if design == "bernoulli":
        rows = [_stream(seed, _MEMBERS, m).random(num_records) for m in range(num_models)]
        return np.array([row < fraction for row in rows], dtype=bool)
    raise ValueError(f"unknown design {design!r}: choose one of {', '.join(DESIGNS)}.")


def model_seeds(num_models: int, *, seed: int = 0, repeat: int = 0) -> np.ndarray:
    """One training seed a model, int64 [M], non-negative; the first k do not depend on M.

    `repeat` 1, 2, … gives other seeds for training the same sets again.
    """
    _check(num_models, 1, 0.5, seed)
    keys = [(_SEEDS, m, repeat) if repeat else (_SEEDS, m) for m in range(num_models)]
    words = [
        np.random.SeedSequence(seed, spawn_key=k).generate_state(1, np.uint64)[0] for k in keys
    ]
    return (np.array(words, dtype=np.uint64) >> np.uint64(1)).astype(np.int64)


def _stream(seed: int, stream: int, model: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, model)))


def _fixed_size(num_models: int, num_records: int, fraction: float, seed: int) -> np.ndarray:
    size = math.floor(fraction * num_records + 0.5)
    if not 0 < size < num_records:
        raise ValueError(
            f"design fixed_size with fraction {fraction:g} of {num_records} records gives training "
            f"sets of {size}: choose a fraction that leaves records both in and out."
        )
    members = np.zeros((num_models, num_records), dtype=bool)
    for m in range(num_models):
        members[m, _stream(seed, _MEMBERS, m).permutation(num_records)[:size]] = True
    return members


def _balanced(num_models: int, num_records: int, fraction: float, seed: int) -> np.ndarray:
    times_in = round(fraction * num_models)
    if not math.isclose(times_in, fraction * num_models) or not 0 < times_in < num_models:
        raise ValueError(
            f"design balanced needs fraction·num_models to be a whole number of models, not "
            f"{fraction:g}·{num_models}: for fraction 0.5 choose an even num_models."
        )
    by_record = np.zeros((num_records, num_models), dtype=bool)
    by_record[:, :times_in] = True
    _stream(seed, _MEMBERS, num_models).permuted(by_record, axis=1, out=by_record)
    return np.ascontiguousarray(by_record.T)


def _check(num_models: int, num_records: int, fraction: float, seed: int) -> None:
    if num_models < 1:
        raise ValueError(f"num_models must be at least 1, not {num_models}.")
    if num_records < 1:
        raise ValueError(f"num_records must be at least 1, not {num_records}.")
    if not 0.0 < fraction < 1.0:
        raise ValueError(f"fraction must lie strictly between 0 and 1, not {fraction:g}.")
    if seed < 0:
        raise ValueError(f"seed must be a non-negative whole number, not {seed}.")
