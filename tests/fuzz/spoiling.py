"""Bytes as accidents and strangers leave them."""

import io
from typing import Any

import numpy as np
from hypothesis import strategies as st


def spoiled(content: bytes) -> st.SearchStrategy[bytes]:
    """`content` cut, with bytes changed, inserted or repeated; or something else altogether."""
    places = st.integers(0, max(0, len(content) - 1))
    return st.one_of(
        st.builds(lambda at: content[:at], places),
        st.builds(lambda at: content[at:], places),
        st.builds(
            _changed,
            st.just(content),
            st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=8),
        ),
        st.builds(
            lambda at, more: content[:at] + more + content[at:], places, st.binary(max_size=40)
        ),
        st.builds(lambda more: content + more, st.binary(min_size=1, max_size=40)),
        st.binary(max_size=200),
    )


def _changed(content: bytes, changes: list[tuple[int, int]]) -> bytes:
    changed = bytearray(content)
    for at, value in changes:
        changed[at] = value
    return bytes(changed)


def npy(array: Any) -> bytes:
    """The bytes of a .npy file; arrays of objects are pickled, which no reader may load."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def arrays() -> st.SearchStrategy[np.ndarray]:
    """Arrays of any kind and shape, few of them what is asked for."""
    shapes = st.one_of(
        st.just((8, 12)), st.lists(st.integers(0, 9), max_size=4).map(tuple), st.just((8, 12, 2))
    )
    kinds = st.sampled_from(
        ["f4", "f8", "f2", "?", "i8", "u1", "c8", "U3", "S2", "O", "M8[s]", "f4,i4", "V3"]
    )
    return st.builds(_array, shapes, kinds, st.integers(0, 2**32 - 1))


def _array(shape: tuple[int, ...], kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    if rng.random() < 0.3 and values.size:
        values.flat[rng.integers(values.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 1e39])
    if kind in ("?", "u1", "i8"):
        values = np.nan_to_num(values) > 0
    if kind == "f4,i4":
        return np.zeros(shape, dtype=kind)
    with np.errstate(all="ignore"):
        if kind == "M8[s]":
            return np.nan_to_num(values).astype(np.int32).astype(kind)
        return values.astype(kind) if kind != "V3" else np.zeros(shape, dtype=kind)
