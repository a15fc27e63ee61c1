"""How much privacy a run of DP-SGD spends: opacus's accountants, asked for one mechanism.

The mechanism is the Poisson-subsampled Gaussian, composed over the steps; neighbouring training
sets differ by one record added or removed.
"""

import functools
import importlib.util
import math
import warnings


def require_opacus() -> None:
    """ValueError if opacus is not installed."""
    if importlib.util.find_spec("opacus") is None:
        raise ValueError("defence=dpsgd needs opacus for its accountant: pip install opacus.")


@functools.lru_cache(maxsize=32)
def epsilon_spent(
    noise_multiplier: float, *, delta: float, rate: float, steps: int, accountant: str
) -> float:
    """ε at δ of `steps` steps on batches that hold each record with probability `rate`.

    noise_multiplier: noise sd over the clipping norm; 0 spends infinitely much.
    """
    if noise_multiplier == 0:
        return math.inf
    from opacus.accountants import create_accountant

    counted = create_accountant(mechanism=accountant)
    counted.history = [(noise_multiplier, rate, steps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(counted.get_epsilon(delta=delta))


@functools.lru_cache(maxsize=32)
def noise_needed(
    epsilon: float, *, delta: float, rate: float, steps: int, accountant: str
) -> float:
    """The least noise multiplier found that spends at most ε, and more than ε − 0.01.

    Raises ValueError when no noise does, as far as the accountant can tell.
    """
    from opacus.accountants.utils import get_noise_multiplier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = get_noise_multiplier(
                target_epsilon=epsilon,
                target_delta=delta,
                sample_rate=rate,
                steps=steps,
                accountant=accountant,
                epsilon_tolerance=min(0.01, epsilon / 50),
            )
        except ValueError as error:
            raise ValueError(
                f"defence.epsilon is {epsilon:g}: no noise is known to keep it at "
                f"defence.delta={delta:g} by defence.accountant={accountant}; take a larger "
                "epsilon or delta, or accountant=prv."
            ) from error
    return float(found)
