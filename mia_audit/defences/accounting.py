"""How much privacy a run of DP-SGD spends: opacus's accountants, asked for one mechanism.

The mechanism is the Poisson-subsampled Gaussian, composed over the steps; neighbouring training
sets differ by one record added or removed.
"""

import functools
import importlib.util
import math
import warnings

import numpy as np

LARGEST_EPSILON = 100.0  # asked for; e^100 to 1 is no privacy
_LEAST_NOISE, _MOST_NOISE = 1e-9, 1e6  # opacus's RDP accountant does not end near 0


def require_opacus() -> None:
    """ValueError if opacus is not installed."""
    if importlib.util.find_spec("opacus") is None:
        raise ValueError("defence=dpsgd needs opacus for its accountant: pip install opacus.")


@functools.lru_cache(maxsize=64)
def epsilon_spent(
    noise_multiplier: float, *, delta: float, rate: float, steps: int, accountant: str
) -> float:
    """ε at δ of `steps` steps on batches that hold each record with probability `rate`.

    noise_multiplier: noise sd over the clipping norm; less than 1e-9 spends infinitely much. Where
    the RDP accountant says more than `LARGEST_EPSILON`, or the PRV accountant finds no number, the
    value is RDP's: a bound as well, a little larger.
    """
    if noise_multiplier < _LEAST_NOISE:
        return math.inf
    run = (noise_multiplier, rate, steps)
    by_rdp = _counted("rdp", run, delta)
    # PRV's grid grows with ε: beyond this it takes minutes, then more memory than there is.
    if accountant == "rdp" or not by_rdp <= LARGEST_EPSILON:
        return by_rdp
    try:
        found = _counted(accountant, run, delta)
    except (ValueError, MemoryError):
        return by_rdp
    return found if math.isfinite(found) else by_rdp


def _counted(accountant: str, run: tuple[float, float, int], delta: float) -> float:
    """ε of a run (noise multiplier, rate, steps) by one of opacus's accountants; inf, not nan."""
    from opacus.accountants import create_accountant

    counted = create_accountant(mechanism=accountant)
    counted.history = [run]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        epsilon = float(counted.get_epsilon(delta=delta))
    return math.inf if math.isnan(epsilon) else epsilon


@functools.lru_cache(maxsize=32)
def noise_needed(
    epsilon: float, *, delta: float, rate: float, steps: int, accountant: str
) -> float:
    """The least noise multiplier found, by bisection, that spends at most ε.

    It spends more than ε − 0.01, unless `epsilon_spent` jumps there from PRV's value to RDP's.
    epsilon: at most `LARGEST_EPSILON`. Raises ValueError when no noise keeps it, as far as the
    accountant can tell.
    """
    assert 0 < epsilon <= LARGEST_EPSILON

    def spent(noise: float) -> float:
        return epsilon_spent(noise, delta=delta, rate=rate, steps=steps, accountant=accountant)

    low, high = 0.0, 20.0
    while (found := spent(high)) > epsilon:
        high *= 2
        if high > _MOST_NOISE:
            raise ValueError(
                f"defence.epsilon is {epsilon:g}: no noise is known to keep it at "
                f"defence.delta={delta:g} by defence.accountant={accountant}; take a larger "
                "epsilon or delta, or accountant=prv."
            )
    while epsilon - found > min(0.01, epsilon / 50) and high - low > 1e-4 * high:
        middle = (low + high) / 2
        tried = spent(middle)
        if tried < epsilon:
            high, found = middle, tried
        else:
            low = middle
    return high
