"""Read one file another program wrote: nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mia_audit.data.reading import nearest


def local_path(path: str | Path, key: str) -> Path:
    """The path on this machine; ``key`` is the setting that an error names.

    Raises:
        ValueError: an address of another machine, or a name that no file can have.
    """
    text = str(path).removeprefix("file://")
    if "://" in text:
        raise ValueError(f"{key}={path} is not on this machine: copy it here first.")
    try:
        place = Path(text).expanduser()
        place.exists()
    except (OSError, RuntimeError) as fault:  # a name too long, a user who is not there
        reason = getattr(fault, "strerror", None) or "there is no such user"
        raise ValueError(f"{key}={path}: {reason.lower()}; name a file on this machine.") from fault
    return place


def load(path: Path) -> NDArray:
    """An array from a .npy file, with ``allow_pickle=False``."""
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError as fault:
        raise ValueError(f"{path} does not exist.") from fault
    except (ValueError, OSError, EOFError, SyntaxError, TokenError, BadZipFile) as fault:  # damaged
        raise ValueError(f"{path} is not a readable .npy file of numbers.") from fault
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} holds several arrays: save one as .npy.")
    return array


def read_column(path: str | Path, key: str, names: tuple[str, ...]) -> NDArray[Any]:
    """One value a record, [N], from .npy, .csv or .parquet: the only column, or one so named.

    Raises:
        ValueError: no such file, an unreadable one, or no column to be told by its name.
    """
    file = local_path(path, key)
    if not file.is_file():
        raise ValueError(f"{key}={path}: there is no such file{nearest(file)}.")
    if file.suffix == ".npy":
        values = load(file)
        if values.size != max(values.shape, default=0):
            raise ValueError(f"{key}={path} is {list(values.shape)}: one value a record is needed.")
        return values.reshape(-1)
    return _from_table(file, key, names)


def _from_table(file: Path, key: str, names: tuple[str, ...]) -> NDArray[Any]:
    import pandas as pd

    if file.suffix not in (".csv", ".parquet"):
        raise ValueError(f"{key}={file} must be a .npy, .csv or .parquet file.")
    try:
        if file.suffix == ".parquet":
            frame = pd.read_parquet(file)
        else:
            frame = pd.read_csv(file)
            if frame.shape[1] == 1 and _is_value(frame.columns[0]):
                frame = pd.read_csv(file, header=None)  # a bare column of values
    except Exception as fault:  # parsers raise many kinds
        raise ValueError(f"{key}={file} is not a readable {file.suffix[1:]} file.") from fault
    wanted = [name for name in frame.columns if str(name).strip().lower() in names]
    if frame.shape[1] == 1:
        wanted = [frame.columns[0]]
    if len(wanted) != 1:
        raise ValueError(
            f"{key}={file} has {frame.shape[1]} columns: keep one, or name one {names[0]!r}."
        )
    return np.asarray(frame[wanted[0]].to_numpy())


def _is_value(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return name.strip().lower() in ("true", "false")
    return True


def as_members(values: NDArray[Any], path: str | Path) -> NDArray[np.bool_]:
    """Memberships as bool, from bool or 0/1."""
    if values.dtype == np.bool_:
        return values
    if values.dtype.kind not in "iuf" or not np.all((values == 0) | (values == 1)):
        raise ValueError(f"{path} must hold true/false or 0/1, one a record.")
    return values.astype(np.bool_)


def as_floats(values: NDArray[Any], path: str | Path) -> NDArray[np.floating]:
    """Scores as floats, float32 kept as it is."""
    if values.dtype.kind not in "iuf":
        raise ValueError(f"{path} holds {values.dtype}, not numbers.")
    return values if values.dtype == np.float32 else values.astype(np.float64)
