"""The job, in order: check, read, select, write, print, log."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from mia_audit import tracking
from mia_audit.identify.cutoffs import every_cutoff
from mia_audit.identify.figure import draw_identified
from mia_audit.identify.logged import log_identified
from mia_audit.identify.printed import print_identified, print_places
from mia_audit.identify.selecting import identify
from mia_audit.identify.settings import IdentifyConfig
from mia_audit.identify.sources import read_sources
from mia_audit.identify.written import write_selection
from mia_audit.schema import Composed

DONE = 0


def run_identify(composed: Composed[IdentifyConfig]) -> int:
    """`conf/identify.yaml` says what its keys are.  Returns 0, also when nothing is selected.

    Raises ValueError for the user's mistakes, before anything is written.
    """
    console, config = Console(), composed.settings
    sources = read_sources(config, composed.given)
    with ThreadPoolExecutor(1) as background:  # a fresh tracking database takes seconds
        tracked = background.submit(tracking.prepare, config.tracking)
        result = identify(sources, config)
        cutoffs = every_cutoff(result)
        picture = draw_identified(result, cutoffs)
        tracked.result()
    write_selection(result, config.output)
    if config.figure is not None:
        Path(config.figure).expanduser().write_bytes(picture)
    print_identified(console, result, config, cutoffs)
    places = {"Selection": config.output, "Figure": config.figure}
    print_places(console, {name: place for name, place in places.items() if place is not None})
    link = log_identified(result, composed, cutoffs, picture)
    where = f"{link.url} (start '{link.command}' first)" if link.command else link.url
    print_places(console, {"Run": where})
    return DONE
