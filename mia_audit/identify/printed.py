"""What `jobs.identify` prints: what was read and how, what was selected, how sure one may be."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mia_audit.identify.cutoffs import CutOff, shown_cutoffs
from mia_audit.identify.direction import direction_statement
from mia_audit.identify.reading import Records
from mia_audit.identify.selecting import CONFIDENCE, Identified
from mia_audit.identify.settings import Estimator, IdentifyConfig, is_higher_member
from mia_audit.report.words import level, percent, percent_up

_READABLE_WIDTH = 100


def print_identified(
    console: Console, result: Identified, config: IdentifyConfig, cutoffs: list[CutOff]
) -> None:
    """Print facts, warnings, the headline and a short table of cut-offs."""
    console.print()
    console.print(_grid(dict(_read(result, config))))
    console.print()
    for sentence in result.warnings:
        _print_wrapped(console, Text(f"Warning: {sentence}", style="bold yellow"))
        console.print()
    _print_wrapped(console, Text(headline(result), style="bold"))
    console.print()
    console.print(_grid(dict(_facts(result, config))))
    console.print()
    _print_wrapped(console, Text(
        f"Cut-offs to choose from after looking: with {level(CONFIDENCE)} confidence all of these"
        " hold together."))  # fmt: skip
    console.print(_cutoffs(shown_cutoffs(cutoffs)))
    for note in result.notes:
        _print_wrapped(console, Text(note, style="dim"))
    console.print()


def print_places(console: Console, places: dict[str, str]) -> None:
    """Where the results lie; a long address is folded, never cut."""
    console.print(_grid(places))


def headline(result: Identified) -> str:
    """The selection as one sentence, or why there is none."""
    selection = result.selection
    size = selection.indices.size
    if size == 0:
        return f"0 of {selection.num_candidates:,} candidates are selected. {selection.note}" + (
            f" {smallest_level(result)}" if selection.smallest_alpha < 1 else ""
        )
    return (
        f"{size:,} of {selection.num_candidates:,} candidates are selected as training data at a"
        f" false-discovery rate of {level(selection.alpha)}: of such selections at most"
        f" {level(selection.alpha)} is expected to be wrong."
    )


def smallest_level(result: Identified) -> str:
    """The level below which these data select nothing, as a sentence."""
    smallest = percent_up(result.selection.smallest_alpha, 2)
    return f"The smallest false-discovery rate at which anything would be selected is {smallest}."


def share_of_training_data(result: Identified, estimator: Estimator) -> str:
    """How much of the candidates is training data, and which way the estimate errs."""
    share = percent(result.member_share)
    match estimator:
        case Estimator.none:
            return "not estimated: estimator=none takes no candidate for granted"
        case Estimator.subtraction | Estimator.storey:
            return (
                f"about {share} of the candidates, estimated by {estimator.value}, which is low on"
                " average"
            )
        case Estimator.moment | Estimator.jackknife_beta:
            return f"about {share} of the candidates, estimated by {estimator.value}"


def _read(result: Identified, config: IdentifyConfig) -> Iterator[tuple[str, str]]:
    sources = result.sources
    yield "Calibration", f"{_described(sources.calibration)}, known not to be training data"
    yield "Candidates", _described(sources.candidates)
    if sources.members is not None:
        yield "Members", f"{_described(sources.members)}, known to be training data"
    name = f"column {config.column!r}" if config.score is None else f"score {config.score.value}"
    yield "Direction", f"{name}: {direction_statement(is_higher_member(config))}"


def _facts(result: Identified, config: IdentifyConfig) -> Iterator[tuple[str, str]]:
    selection = result.selection
    yield "Training data", share_of_training_data(result, config.estimator)
    if selection.smallest_alpha < 1:
        smallest = f"{percent_up(selection.smallest_alpha, 2)}; below it these data select nothing"
    else:
        smallest = "none: these data select nothing at any level"
    yield "Smallest level", smallest
    if selection.indices.size:
        sure = f"with {level(CONFIDENCE)} confidence at most {percent(result.bound)} are wrong"
        yield "The selection", sure
        if selection.note:
            yield "Note", selection.note
    if result.found_members == result.found_members:
        found = f"{percent(result.found_members)} of the confirmed members pass the same cut-off"
        yield "Members found", found
    if (alike := result.exchangeability) is not None:
        told = "can be told apart" if alike.warning else "could not be told apart"
        yield "Covariates", f"calibration and candidates {told} (AUC {alike.auc:.2f})"


def _described(records: Records) -> str:
    ids = "ids from the file" if records.ids is not None else "no ids: positions from 0"
    return f"{len(records):,} records of {records.file.path} ({ids})"


def _cutoffs(cutoffs: list[CutOff]) -> Table:
    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("p-value up to", "Candidates", "At most wrong", "At least training data"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for cut in cutoffs:
        table.add_row(
            f"{cut.p_value:.3g}", f"{cut.called:,}", percent(cut.bound),
            f"{cut.at_least_members:,}", "selected" if cut.is_selection else "",
            style="bold" if cut.is_selection else None,
        )  # fmt: skip
    return table


def _grid(lines: dict[str, str]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, line in lines.items():
        grid.add_row(name, Text(line))
    return grid


def _print_wrapped(console: Console, text: Text) -> None:
    for line in text.wrap(console, min(console.width, _READABLE_WIDTH)):
        line.rstrip()
        console.print(line)
