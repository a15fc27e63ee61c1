"""Fetch a known table from the UCI repository or from OpenML."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class Source(Enum):
    """Where a known table is read from: the file in the package, or the network."""

    bundled = "bundled"
    ucimlrepo = "ucimlrepo"
    openml = "openml"


def fetch(source: Source, *, uci_id: int, openml_id: int) -> pd.DataFrame:
    """Features and target side by side, under the network's own names.

    Raises:
        ValueError: the package or the network is missing.
    """
    assert source is not Source.bundled
    try:
        return _from_uci(uci_id) if source is Source.ucimlrepo else _from_openml(openml_id)
    except ImportError as fault:
        raise ValueError(
            "dataset.source=ucimlrepo needs the package ucimlrepo: pip install "
            "'mia_audit[network]', or use dataset.source=bundled."
        ) from fault
    except Exception as fault:  # either client raises its own kinds for a network that fails
        raise ValueError(
            f"dataset.source={source.value} got no answer from the network "
            f"({type(fault).__name__}): use dataset.source=bundled."
        ) from fault


def _from_uci(uci_id: int) -> pd.DataFrame:
    import pandas as pd
    from ucimlrepo import fetch_ucirepo

    data = fetch_ucirepo(id=uci_id).data
    return pd.concat([data.features, data.targets], axis=1)


def _from_openml(openml_id: int) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=openml_id, as_frame=True, parser="auto").frame
