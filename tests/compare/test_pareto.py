"""The front against its definition, and names that do not overlap."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mia_audit.compare.pareto import pareto_front
from mia_audit.compare.trade_off import spread_apart

POINT = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.lists(POINT, min_size=1, max_size=8))
def test_equals_the_definition(points: list[tuple[int, int]]) -> None:
    def dominated(p: tuple[int, int]) -> bool:
        return any(q[0] >= p[0] and q[1] <= p[1] and q != p for q in points)

    utility, leak = np.array(points, dtype=float).T
    np.testing.assert_array_equal(pareto_front(utility, leak), [not dominated(p) for p in points])


def test_unknown_points_are_not_on_it_and_beat_nobody() -> None:
    front = pareto_front(np.array([0.9, np.nan, 0.8]), np.array([0.1, 0.0, 0.2]))
    np.testing.assert_array_equal(front, [True, False, False])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_keep_their_order_and_distance(wanted: list[float]) -> None:
    places = spread_apart(np.sort(wanted), 0.05)
    assert (np.diff(places) >= 0.05 - 1e-9).all()
    assert places[-1] <= 1 + 1e-9
    assert places[0] >= min(min(wanted), 1 - 0.05 * (len(wanted) - 1)) - 1e-9
