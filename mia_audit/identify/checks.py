"""What must hold between the files before anything is computed or written."""

from __future__ import annotations

from pathlib import Path

from mia_audit.identify.reading import Records
from mia_audit.identify.settings import IdentifyConfig

MIN_CALIBRATION = 2
_MOST_NAMED = 3


def check_apart(first: Records, second: Records) -> None:
    """ValueError when two files share an id: a record cannot be known and in question."""
    if first.ids is None or second.ids is None:
        return
    shared = sorted(set(first.ids.tolist()).intersection(second.ids.tolist()))
    if shared:
        named = ", ".join(repr(name) for name in shared[:_MOST_NAMED])
        more = " …" if len(shared) > _MOST_NAMED else ""
        raise ValueError(
            f"{first.file} and {second.file} share {len(shared):,} ids ({named}{more}): a record"
            " may be in one of them only; take these out of one file."
        )


def check_enough(calibration: Records) -> None:
    if len(calibration) < MIN_CALIBRATION:
        raise ValueError(
            f"{calibration.file} holds {len(calibration)} record: at least {MIN_CALIBRATION} are"
            " needed, and some hundreds to be of use."
        )


def check_outputs(config: IdentifyConfig, *inputs: Records) -> None:
    """ValueError when a result would land where it cannot be written, or on an input."""
    read = {records.file.path.resolve() for records in inputs}
    named: dict[Path, str] = {}
    for key, value in (("output", config.output), ("figure", config.figure)):
        if value is None:
            continue
        path = _place(key, value)
        if path.resolve() in read:
            raise ValueError(f"{key}={value} is one of the files read: choose another name.")
        if path.resolve() in named:
            raise ValueError(f"{key}={value} is also {named[path.resolve()]}: choose another name.")
        if path.is_dir() or not path.parent.is_dir():
            what = "is a folder" if path.is_dir() else f"cannot be written: no folder {path.parent}"
            raise ValueError(f"{key}={value} {what}; name a file in a folder that exists.")
        named[path.resolve()] = key
    if config.figure is not None and Path(config.figure).suffix.lower() != ".png":
        raise ValueError(f"figure={config.figure}: the figure is a .png file; give such a name.")


def _place(key: str, value: str) -> Path:
    try:
        path = Path(value).expanduser()
        path.exists()
    except (OSError, RuntimeError) as fault:  # a name too long, a user who is not there
        reason = getattr(fault, "strerror", None) or "there is no such user"
        raise ValueError(f"{key}={value} cannot be written: {reason.lower()}.") from fault
    return path


def repeated_ids(records: Records) -> str:
    """A sentence when ids repeat within a file, else ""."""
    count = 0 if records.ids is None else len(records) - len(set(records.ids.tolist()))
    if count == 0:
        return ""
    return (
        f"{records.file}: {count:,} records repeat the id of an earlier one and are counted"
        " separately."
    )
