"""What a report says about an audit beside its numbers."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReportContext:
    """Names and provenance of one audit, as strings ready to print.

    Every string may come from data or from a user and is escaped where it is shown.
    `seconds` is the training time recorded in the store; `profile` maps a fact about the
    data set to its value; `versions` maps a package to its version; `run_link` is an address
    or a run id; `report_path` is where the page is saved, empty when it is not.
    """

    title: str
    dataset: str
    model: str
    defence: str
    attack: str
    num_models: int
    num_records: int
    seed: int
    design: str = "bernoulli"
    notes: tuple[str, ...] = ()
    profile: dict[str, str] = field(default_factory=dict)
    config_yaml: str = ""
    store_key: str = ""
    devices: tuple[str, ...] = ()
    seconds: float = float("nan")
    versions: dict[str, str] = field(default_factory=dict)
    run_link: str = ""
    report_path: str = ""
    command: str = ""
