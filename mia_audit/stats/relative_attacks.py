"""Attacks on probabilities relative to the other models' mean: RMIA and BASE.

`log_confidences` [M, N] are log p_y ≤ 0. Means over models are taken in logs without the target's
own value, so a record that one model alone has learnt costs no digits.
"""

from collections.abc import Iterator

import numpy as np

from mia_audit.stats.blocks import BLOCK_ENTRIES, check_matrices


def rmia(
    log_confidences: np.ndarray,
    members: np.ndarray,
    *,
    gamma: float = 1.0,
    offline_a: float | None = None,
    reference: np.ndarray | None = None,
) -> np.ndarray:
    """RMIA (arXiv 2312.03262), float64 [M, N]: the share of reference records a record outdoes.

    With r = log p(·|target) − log p(·), the share of z with r_x − r_z ≥ log γ, z being all N
    columns, or the columns of `reference`: log p_y [M, Z] of records never trained on. p(x) is
    ½(mean_in + mean_out) over the M−1 others; with `offline_a` = a, ((1+a)·mean_out + (1−a))/2.
    p(z) follows the same rule, for `reference` it is the plain mean. Entries without the shadows
    they need are nan. Raises ValueError for matrices or options that do not fit.
    """
    _check(log_confidences, members)
    if not gamma > 0:
        raise ValueError(f"gamma must be positive, not {gamma:g}.")
    if offline_a is not None and not 0 <= offline_a <= 1:
        raise ValueError(f"offline_a must lie between 0 and 1, not {offline_a:g}.")
    relative = _relative_to_classes(log_confidences, members, offline_a)
    against = None if reference is None else _relative_to_all(_check_reference(reference, members))
    for m, row in enumerate(relative):
        row[:] = _share_outdone(row, row if against is None else against[m], np.log(gamma))
    return relative


def base(log_confidences: np.ndarray, members: np.ndarray) -> np.ndarray:
    """BASE (arXiv 2505.24089), float64 [M, N]: log p_y − log of the mean p_y over the M−1 others.

    `members` is only checked for its shape: BASE does not look at it. Raises ValueError for
    matrices that do not fit.
    """
    _check(log_confidences, members)
    return _relative_to_all(log_confidences)


def _relative_to_all(log_values: np.ndarray) -> np.ndarray:
    relative = np.empty(log_values.shape)
    for columns in _columns(log_values):
        own = log_values[:, columns].astype(np.float64)
        relative[:, columns] = own - _left_out_log_sum(own) + np.log(len(own) - 1)
    return relative


def _relative_to_classes(
    log_values: np.ndarray, members: np.ndarray, offline_a: float | None
) -> np.ndarray:
    """log p(x|target) − log p(x), p(x) from in and out shadows or, offline, from out alone."""
    relative = np.empty(log_values.shape)
    for columns in _columns(log_values):
        own, inside = log_values[:, columns].astype(np.float64), members[:, columns]
        average = _left_out_log_mean(own, ~inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            if offline_a is None:
                average = np.logaddexp(average, _left_out_log_mean(own, inside))
            else:
                average = np.logaddexp(np.log1p(offline_a) + average, np.log1p(-offline_a))
        relative[:, columns] = own - average + np.log(2)
    return relative


def _left_out_log_mean(log_values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Log mean over the other chosen models of each record; nan where there is none."""
    log_sum = _left_out_log_sum(np.where(chosen, log_values, -np.inf))
    count = chosen.sum(axis=0) - chosen
    return log_sum - np.log(np.where(count > 0, count, np.nan))


def _left_out_log_sum(log_values: np.ndarray) -> np.ndarray:
    """log Σ_{k≠m} exp(values_k), [M, w]: what stands before row m joined with what follows."""
    result = np.full(log_values.shape, -np.inf)
    result[1:] = np.logaddexp.accumulate(log_values[:-1], axis=0)
    after = np.logaddexp.accumulate(log_values[:0:-1], axis=0)[::-1]
    result[:-1] = np.logaddexp(result[:-1], after)
    return result


def _share_outdone(row: np.ndarray, reference: np.ndarray, margin: float) -> np.ndarray:
    """Share of the reference at or below row − margin, nan entries aside."""
    ordered = np.sort(reference)
    ordered = ordered[: len(ordered) - np.isnan(ordered).sum()]
    share = np.searchsorted(ordered, row - margin, side="right") / max(len(ordered), 1)
    return np.where(np.isnan(row), np.nan, share)


def _columns(values: np.ndarray) -> Iterator[slice]:
    width = max(1, BLOCK_ENTRIES // len(values))
    return (slice(start, start + width) for start in range(0, values.shape[1], width))


def _check(log_confidences: np.ndarray, members: np.ndarray) -> None:
    check_matrices(log_confidences, members)
    _check_log_confidences(log_confidences)


def _check_log_confidences(values: np.ndarray) -> None:
    if len(values) < 2:
        raise ValueError("a relative attack needs at least 2 models: train more.")
    if not (np.isfinite(values.sum()) and values.max(initial=0.0) <= 1e-6):
        raise ValueError(
            "log confidences must be finite and at most 0: pass log p_y, not the score φ "
            "(log_confidence converts)."
        )


def _check_reference(reference: np.ndarray, members: np.ndarray) -> np.ndarray:
    if reference.ndim != 2 or len(reference) != len(members) or reference.shape[1] == 0:
        raise ValueError(
            f"reference must be [{len(members)} models, records], not shape {reference.shape}."
        )
    _check_log_confidences(reference)
    return reference
