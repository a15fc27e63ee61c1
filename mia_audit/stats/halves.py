"""The models of a sweep in two halves, so that what one half suggests the other can confirm."""

import numpy as np
from numpy.typing import NDArray

from mia_audit.stats.panel import Panel, build_panel

FEWEST_MODELS = 12


def split_halves(scores: NDArray, members: NDArray[np.bool_]) -> tuple[Panel, Panel] | None:
    """Panels of the first and of the second half of the models; None with fewer than 12 models.

    Rows are independent draws, and neighbouring rows may be complementary pairs: a cut in the
    middle keeps pairs together.
    """
    middle = members.shape[0] // 2
    if members.shape[0] < FEWEST_MODELS:
        return None
    return (
        build_panel(scores[:middle], members[:middle]),
        build_panel(scores[middle:], members[middle:]),
    )
