"""What `defences=` may hold, how the rows are called, and one sentence for every mistake."""

from dataclasses import fields

import pytest

from mia_audit import config
from mia_audit.compare.entries import compose_entries, label_of, label_of_run
from mia_audit.compare.planning import check_keys
from mia_audit.defences.none import NoDefence
from mia_audit.defences.weight_decay import WeightDecay
from mia_audit.help import help_text
from mia_audit.schema import AuditConfig, CompareConfig


def entries(defences: str, *arguments: str) -> list[tuple[str, object]]:
    composed = config.compose("compare", [f"defences={defences}", *arguments])
    return [(entry.label, entry.defence) for entry in compose_entries(composed)]


def test_keys_shared_with_an_audit_have_the_same_defaults() -> None:
    ours, audit = config.compose("compare").settings, config.compose("audit").settings
    assert isinstance(ours, CompareConfig)
    for field in fields(AuditConfig):
        assert getattr(ours, field.name) == getattr(audit, field.name), field.name


def test_a_choice_with_settings_becomes_the_configured_object() -> None:
    found = entries("[none,weight_decay,{weight_decay:{strength:1}}]")
    assert found == [
        ("none", NoDefence()),
        ("weight_decay", WeightDecay()),
        ("weight_decay(strength=1)", WeightDecay(strength=1.0)),
    ]


def test_none_comes_first_and_is_added_when_missing() -> None:
    assert [label for label, _ in entries("[weight_decay]")] == ["none", "weight_decay"]
    assert [label for label, _ in entries("[weight_decay,none]")] == ["none", "weight_decay"]


def test_each_entry_is_an_audit_of_its_own() -> None:
    composed = config.compose(
        "compare", ["defences=[{weight_decay:{strength:0.5}}]", "num_models=48"]
    )
    reference, decayed = compose_entries(composed)
    assert type(decayed.composed.settings) is AuditConfig
    assert decayed.composed.settings.num_models == 48
    assert decayed.composed.values["defence"] == {"strength": 0.5}
    assert "strength: 0.5" in decayed.composed.yaml
    assert "defences" not in decayed.composed.yaml
    assert reference.composed.values["defence"] == {}


@pytest.mark.parametrize(
    ("defences", "words"),
    [
        ("[none,wait_decay]", ("defence=wait_decay", "weight_decay")),
        ("[{weight_decay:{strenght:1}}]", ("weight_decay.strenght", "weight_decay.strength")),
        ("[{weight_decay:{strength:big}}]", ("weight_decay.strength=big", "a number")),
        ("[weight_decay,weight_decay]", ("weight_decay", "2 times")),
        ("[{weight_decay:{strength:1},none:{}}]", ("not understood",)),
        ("[3]", ("not understood",)),
    ],
)
def test_mistakes_are_one_sentence(defences: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"[.?]$") as caught:
        entries(defences)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_entries_compose_inside_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    labels: list[str] = []

    def job(composed: object) -> int:
        labels.extend(entry.label for entry in compose_entries(composed))  # type: ignore[arg-type]
        return 0

    assert config.run("compare", job, ["defences=[{weight_decay:{strength:0.2}}]"]) == 0
    assert labels == ["none", "weight_decay(strength=0.2)"]
    assert config.run("compare", job, ["defences=[nothing]"]) == config.USER_MISTAKE
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["defence=weight_decay", "scores=here", "target.scores=x.npy"])
def test_keys_that_mean_nothing_here_are_refused(argument: str) -> None:
    composed = config.compose("compare", [argument])
    if argument.startswith("defence="):  # known to a command only
        composed = type(composed)(**{**composed.__dict__, "given": ("defence",)})
    with pytest.raises(ValueError, match=argument.partition("=")[0]):
        check_keys(composed)


def test_labels_have_one_spelling_for_a_number() -> None:
    assert label_of("dpsgd", {"epsilon": 1, "delta": 1e-5}) == "dpsgd(epsilon=1, delta=1e-05)"
    assert label_of("dpsgd", {"epsilon": 1.0}) == label_of("dpsgd", {"epsilon": "1"})
    assert label_of("x", {"on": True, "none": None}) == "x(on=true, none=null)"


def test_a_logged_run_is_called_by_what_differs_from_the_defaults() -> None:
    defaults = {"epsilon": 8.0, "delta": 1e-5, "noise": None}
    params = {
        "defence.epsilon": "1",
        "defence.delta": "1e-05",
        "defence.noise": "null",
        "seed": "0",
    }
    assert label_of_run("dpsgd", params, defaults) == "dpsgd(epsilon=1)"
    assert label_of_run("dpsgd", {**params, "defence.epsilon": "8.0"}, defaults) == "dpsgd"
    assert label_of_run("dpsgd(epsilon=8)", params, defaults) == "dpsgd(epsilon=8)"
    assert label_of_run("external", params, {}) == "external"


def test_help_lists_the_keys_of_the_comparison_and_of_the_audit() -> None:
    text = help_text("compare")
    for words in ("defences: [none]", "allow_different_designs", "num_models: 128", "defence="):
        assert words in text
