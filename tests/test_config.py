"""Real Hydra composition of every configuration, and one sentence for every mistake."""

from pathlib import Path

import pytest

from mia_audit import config, help, schema
from mia_audit.help import conf_folder
from mia_audit.schema import GROUPS, AuditConfig, Composed

CONF = conf_folder()
CHOICES = [(group, path.stem) for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]
TABLE = ["dataset.path=people.csv", "dataset.target=income"]


def run(name: str, arguments: list[str], job: config.Job | None = None) -> int:
    return config.run(name, job or (lambda composed: 0), arguments)


@pytest.mark.parametrize(("group", "choice"), CHOICES, ids=lambda value: value)
def test_every_choice_composes_to_its_own_type(group: str, choice: str) -> None:
    extra = TABLE if choice == "table" else []
    settings = config.compose("audit", [f"{group}={choice}", *extra]).settings
    expected = GROUPS[group].get(choice) or tuple(GROUPS[group].values())
    assert isinstance(settings, AuditConfig)
    assert isinstance(getattr(settings, group), expected)


@pytest.mark.parametrize("path", sorted((CONF / "experiment").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_experiment_composes_with_the_job_it_names(path: Path) -> None:
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if "# job:" in line]
    assert len(comments) == 1
    composed = config.compose(comments[0].split(":")[1].strip(), [f"experiment={path.stem}"])
    assert isinstance(composed, Composed)


def test_an_experiment_overrides_defaults_and_the_command_line_overrides_it() -> None:
    quick = config.compose("audit", ["experiment=quick"]).settings
    assert quick.num_models == 32
    assert config.compose("audit", ["experiment=quick", "num_models=48"]).settings.num_models == 48


def test_defaults_are_the_documented_ones() -> None:
    settings = config.compose("audit").settings
    assert (settings.num_models, settings.num_records, settings.fraction) == (128, 4000, 0.5)
    assert settings.alphas == [0.1, 0.01, 0.001]
    assert (settings.model.hidden, settings.model.epochs, settings.model.batch) == (
        [64, 64],
        30,
        128,
    )
    assert settings.tracking.uri == "sqlite:///mlflow.db"
    assert settings.store == "./mia_store"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("store=a folder (old), ~ and ünïcode=1", "a folder (old), ~ and ünïcode=1"),
        ("store=it's", "it's"),
        ("store=plain", "plain"),
    ],
)
def test_values_that_hydra_cannot_parse_are_quoted(argument: str, value: str) -> None:
    assert config.compose("audit", [argument]).settings.store == value


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("num_model=5", ["num_model", "num_models"]),
        ("model.epoch=5", ["model.epoch", "model.epochs"]),
        ("num_models=many", ["num_models"]),
        ("alphas=[low]", ["alphas"]),
        ("design=bernouli", ["design", "bernoulli", "balanced"]),
        ("model=mpl", ["model=mpl", "mlp"]),
        ("dataset=adlut", ["dataset=adlut", "adult"]),
        ("model.hidden=wide", ["model.hidden"]),
        ("selection.estimator=guess", ["selection.estimator", "subtraction"]),
        ("nonsense", ["nonsense: cannot be read; write key=value"]),
        ("ø;=1", ["ø;=1: cannot be read; write key=value"]),
        ("", ["'': cannot be read; write key=value"]),
        ("+a\nb=1", ["+a b=1: keys cannot be added"]),
        ("--nonsense", ["unrecognized arguments: --nonsense (see --help)."]),
        ("--cfg=nonsense", ["invalid choice: 'nonsense'", "(see --help)."]),
        ("attack=[0.5]", ["attack=[0.5]: there is no such choice", "lira"]),
        ("defence=7", ["defence=7: there is no such choice", "dpsgd"]),
        ("model=", ["model=: there is no such choice", "mlp"]),
        ("store=[1]", ["store=[1]: must be text."]),
        ("selection=3", ["selection=3: has keys of its own"]),
        ("dataset.encoding=[]", ["dataset.encoding=[]: must be one name"]),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_key(
    argument: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[object] = []
    status = run("audit", [argument], lambda composed: ran.append(composed) or 0)
    error = capsys.readouterr().err.strip()
    assert status == 2
    assert ran == []
    assert len(error.splitlines()) == 1
    assert "Traceback" not in error
    for word in words:
        assert word in error


def test_a_value_error_of_a_job_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    def job(composed: Composed) -> int:
        raise ValueError("num_records=9: too many;\n take fewer")

    assert run("audit", [], job) == 2
    assert capsys.readouterr().err == "num_records=9: too many; take fewer\n"


def test_a_fault_of_ours_is_not_hidden() -> None:
    def job(composed: Composed) -> int:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        run("audit", [], job)


def test_multirun_returns_the_worst_status_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[int] = []

    def job(composed: Composed) -> int:
        seen.append(composed.settings.seed)
        return {0: 0, 1: 3, 2: 1}[composed.settings.seed]

    assert run("audit", ["-m", "seed=0,1,2"], job) == 3
    assert seen == [0, 1, 2]
    assert list(tmp_path.iterdir()) == []


def test_passwords_do_not_reach_what_is_shown() -> None:
    composed = config.compose(
        "audit", ["tracking.uri=http://me:hunter2@host:5000", "store=s3://k:s3cr3t@b/x"]
    )
    assert composed.settings.tracking.uri == "http://me:hunter2@host:5000"
    for shown in (composed.yaml, composed.command, str(composed.values)):
        assert "hunter2" not in shown
        assert "s3cr3t" not in shown


@pytest.mark.parametrize(
    "arguments",
    [["dataset=german_credit", "--cfg", "job"], ["--cfg", "job", "dataset=german_credit"]],
)
def test_hydras_own_flags_may_stand_anywhere(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("audit", arguments) == 0
    assert "num_models: 128" in capsys.readouterr().out


def test_help_names_the_groups_and_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", ["--help"]) == 0
    text = capsys.readouterr().out
    for word in ("dataset=", "adult", "num_models: 128", "jobs.audit"):
        assert word in text


def test_help_knows_every_group_and_job() -> None:
    assert (*schema.GROUPS, "experiment") == help.GROUPS
    assert set(help.HELP) == set(schema.JOBS)
    extended = [name for name, kind in schema.JOBS.items() if issubclass(kind, schema.AuditConfig)]
    assert sorted(help.WITH_AUDIT_KEYS) == sorted(extended)
