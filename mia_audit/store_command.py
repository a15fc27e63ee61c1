"""`jobs.store`: what a store holds, and how to delete a part of it."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

from mia_audit.config_errors import one_line
from mia_audit.entry import say
from mia_audit.faults import StoreError
from mia_audit.store import Entry, Store

HELP = """Show the sweeps in a store, or delete one.

usage: python -m jobs.store list [store=./mia_store]
       python -m jobs.store remove key=KEY [store=./mia_store]

store is a folder or any fsspec URI, such as s3://bucket/mia."""
DONE, FAULT, USER_MISTAKE = 0, 1, 2
_VERBS = ("list", "remove")


def run_store(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit status. A mistake is one sentence."""
    if not arguments or {"-h", "--help"} & set(arguments):
        say(HELP)
        return DONE if arguments else USER_MISTAKE
    try:
        verb, values = _read(arguments)
        store = Store(values["store"])
        if verb == "list":
            _list(store)
        else:
            _remove(store, values["key"])
    except ValueError as error:
        print(one_line(str(error)), file=sys.stderr)
        return USER_MISTAKE
    except StoreError as error:
        print(one_line(str(error)), file=sys.stderr)
        return FAULT
    return DONE


def _read(arguments: list[str]) -> tuple[str, dict[str, str]]:
    verb, *pairs = arguments
    if verb not in _VERBS:
        raise ValueError(f"{verb}: write list or remove first (see --help).")
    allowed = ("store", "key") if verb == "remove" else ("store",)
    given: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if key not in allowed or not equals:
            raise ValueError(f"{pair}: {verb} takes {' and '.join(f'{k}=…' for k in allowed)}.")
        if key in given:
            raise ValueError(f"{pair}: {key} is given twice; write it once.")
        given[key] = value
    values = {"store": "./mia_store"} | given
    if verb == "remove" and "key" not in values:
        raise ValueError("remove needs key=KEY; list shows the keys.")
    return verb, values


def _list(store: Store) -> None:
    entries = store.entries()
    lines = [] if entries else [f"no sweeps in {store.label}"]
    for entry in entries:
        used = entry.last_use.astimezone().strftime("%Y-%m-%d %H:%M")
        lines += [f"{entry.key}  {_size(entry)}, last used {used}", *_folded(_config(entry))]
    say("\n".join(lines))


def _folded(text: str) -> list[str]:
    """Indented by two; in lines that fit where it is read on a terminal."""
    if not sys.stdout.isatty():
        return [f"  {text}"]
    width = shutil.get_terminal_size().columns
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")


def _remove(store: Store, key: str) -> None:
    entry = store.remove(key)
    print(f"removed {key} from {store.label} ({_size(entry)})")


def _size(entry: Entry) -> str:
    return f"{entry.num_models:,} models, {entry.size / 1e6:,.1f} MB"


def _config(entry: Entry) -> str:
    """What the key stands for, in one line; plan.json may come from anywhere."""
    told = entry.description
    nouns = [_noun(told.get(kind)) for kind in ("model", "defence")]
    left_out = ("data", "model", "defence", "scores_version")
    rest = [f"{key}={value}" for key, value in told.items() if key not in left_out]
    text = one_line(", ".join([entry.dataset or "?", *nouns, *rest]))
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _noun(settings: Any) -> str:
    """A model or a defence as name(key=value, …)."""
    if not isinstance(settings, dict):
        return "?"
    inside = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "name")
    return f"{settings.get('name')}({inside})" if inside else str(settings.get("name"))
