"""Maximum-likelihood degrees of freedom of a Student-t with location 0 and scale 1."""

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import gammaln

LARGEST = 1e6


def fit_degrees_of_freedom(values: NDArray) -> float:
    """df of the t distribution that fits `values` best; ∞ (the normal) where t gains nothing.

    The normal is taken when df would exceed 1e6 or its likelihood is at least as good, and when
    there are no values at all.
    """
    squares = np.square(np.asarray(values, dtype=float))
    if squares.size == 0:
        return np.inf

    def loss(log_df: float) -> float:
        """Mean negative log-likelihood less the normal's."""
        df = np.exp(log_df)
        constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
        tail = float(np.mean(np.log1p(squares / df)))
        return float(0.5 * (df + 1) * tail - constant - normal)

    normal = 0.5 * float(np.mean(squares)) + 0.5 * np.log(2 * np.pi)
    found = scipy.optimize.minimize_scalar(
        loss, bounds=(np.log(0.05), np.log(LARGEST)), method="bounded", options={"xatol": 1e-5}
    )
    df = float(np.exp(found.x))
    return np.inf if found.fun >= 0 or df > 0.99 * LARGEST else df
