"""All files of one identification, read and checked against each other."""

from __future__ import annotations

from dataclasses import dataclass

from mia_audit.identify.checks import check_apart, check_enough, check_outputs, repeated_ids
from mia_audit.identify.exchangeability import check_comparable
from mia_audit.identify.reading import Records, read_records
from mia_audit.identify.settings import IdentifyConfig, check_settings


@dataclass(frozen=True, eq=False)
class Sources:
    """The records read: known non-members, those in question, and known members if any."""

    calibration: Records
    candidates: Records
    members: Records | None

    @property
    def all(self) -> list[Records]:
        return [self.calibration, self.candidates, *filter(None, [self.members])]

    @property
    def notes(self) -> list[str]:
        """Sentences on what is odd about the files without being wrong."""
        return [note for records in self.all if (note := repeated_ids(records))]


def read_sources(config: IdentifyConfig, given: tuple[str, ...] = ()) -> Sources:
    """Read what `config` names.  Every mistake of the user's ends here, before anything is written.

    Raises ValueError with one sentence naming the key and the file.
    """
    check_settings(config, given)
    sources = Sources(
        read_records(config.calibration, "calibration", config, covariates=True),
        read_records(config.candidates, "candidates", config, covariates=True),
        _read_members(config),
    )
    check_enough(sources.calibration)
    check_apart(sources.calibration, sources.candidates)
    if sources.members is not None:
        check_apart(sources.members, sources.calibration)
        check_apart(sources.members, sources.candidates)
    if config.covariates:
        check_comparable(len(sources.calibration), len(sources.candidates))
    check_outputs(config, *sources.all)
    return sources


def _read_members(config: IdentifyConfig) -> Records | None:
    if config.members is None:
        return None
    return read_records(config.members, "members", config, covariates=False)
