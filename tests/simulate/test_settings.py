import pytest

from mia_audit import config
from mia_audit.help import help_text
from mia_audit.simulate.settings import SimulateConfig, Simulation, check_settings


def test_the_file_holds_the_schemas_own_defaults() -> None:
    assert config.compose("simulate").settings == SimulateConfig()
    assert "ptdi_ablation" in help_text("simulate")


def test_all_means_each_of_the_others() -> None:
    assert len(SimulateConfig().wanted()) == len(Simulation) - 1
    one = SimulateConfig(simulation=Simulation.toy)
    assert one.wanted() == [Simulation.toy]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("seed=-1", "seed=-1: must be 0 or more"),
        ("toy.repeats=2", "toy.repeats=2: at least 5"),
        ("toy.num_models=8", "toy.num_models=8: at least 16"),
        ("toy.dimension=0", "toy.dimension=0: must be at least 1"),
        ("finite_population.num_train=999", "finite_population.num_train=999: must lie between 2"),
        ("ptdi_ablation.alpha=1", "ptdi_ablation.alpha=1: must lie strictly"),
        ("ptdi_ablation.num_candidates=3", "ptdi_ablation.num_candidates=3: at least 20"),
        ("ptdi_ablation.shift=nan", "ptdi_ablation.shift=nan: must be finite"),
        ("ptdi_ablation.num_candidates=99999999999", "num_candidates=9+: too large to be held"),
        ("toy.dimension=99999999999", "toy.dimension=9+: too large to be held"),
        ("finite_population.num_models=9999999", "num_models=9+: too large to be held"),
        ("toy.repeats=9999999", "toy.repeats=9999999: at most 1,000,000"),
    ],
)
def test_mistakes_are_named_before_anything_is_simulated(argument: str, says: str) -> None:
    settings = config.compose("simulate", [argument]).settings
    with pytest.raises(ValueError, match=says):
        check_settings(settings)


def test_a_simulation_that_is_not_run_is_not_checked() -> None:
    settings = config.compose("simulate", ["simulation=toy", "ptdi_ablation.repeats=1"]).settings
    check_settings(settings)
