"""Time several variants fairly: A B C A B C … in one process, medians, ratios to the first.

A machine drifts while it is measured. Variants that alternate see the same drift, so their
*ratios* hold where their absolute times do not.
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """One way of doing the work.

    name: what the table calls it.
    run: does the work once.
    share: share of the whole work that one run does (1/16: a run on every 16th target). The
        reference of a table is often too slow to be run whole; times are divided by `share`.
    """

    name: str
    run: Callable[[], object]
    share: float = 1.0


@dataclass(frozen=True)
class Timing:
    """Median seconds of the whole work (scaled by the share), and the ratio to the reference."""

    name: str
    seconds: float
    fastest: float
    slowest: float
    share: float
    ratio: float


def alternate(variants: list[Variant], *, rounds: int = 5) -> list[Timing]:
    """Run every variant once unmeasured, then `rounds` alternating rounds.

    The first variant is the reference: `ratio` = its median over the variant's median.
    """
    for variant in variants:
        variant.run()
    seconds: dict[str, list[float]] = {variant.name: [] for variant in variants}
    for _ in range(rounds):
        for variant in variants:
            gc.collect()
            start = time.perf_counter()
            variant.run()
            seconds[variant.name].append((time.perf_counter() - start) / variant.share)
    reference = statistics.median(seconds[variants[0].name])
    return [_timing(variant, seconds[variant.name], reference) for variant in variants]


def _timing(variant: Variant, seconds: list[float], reference: float) -> Timing:
    median = statistics.median(seconds)
    return Timing(
        variant.name, median, min(seconds), max(seconds), variant.share, reference / median
    )


def print_table(title: str, timings: list[Timing], limits: dict[str, float]) -> bool:
    """Print one row a variant with its ratio beside the limit it has to reach.

    limits: variant name → least ratio asked; variants without one are shown for information.
    Returns whether every limit is reached.
    """
    width = max(len(timing.name) for timing in timings)
    print(f"\n{title}")
    print(f"{'variant':<{width}}  {'seconds':>10}  {'min … max':>21}  {'ratio':>8}  limit")
    reached = True
    for timing in timings:
        limit = limits.get(timing.name)
        verdict = ""
        if limit is not None:
            ok = timing.ratio >= limit
            reached = reached and ok
            verdict = f"≥ {limit:g} {'reached' if ok else 'MISSED'}"
        scaled = "" if timing.share == 1 else f"  (timed on {timing.share:.3g} of the work)"
        spread = f"{timing.fastest:.4g} … {timing.slowest:.4g}"
        ratio = f"{timing.ratio:,.1f}×"
        print(
            f"{timing.name:<{width}}  {timing.seconds:>10.4g}  {spread:>21}  {ratio:>8}  "
            f"{verdict}{scaled}"
        )
    return reached
