"""What every defence on offer must do. A new one joins by a line in EXAMPLES."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from mia_audit import config
from mia_audit.defences.adversarial_regularisation import AdversarialRegularisation
from mia_audit.defences.bagging import Bagging
from mia_audit.defences.confidence_penalty import ConfidencePenalty
from mia_audit.defences.context_subsampling import ContextSubsampling
from mia_audit.defences.dpsgd import DPSGD
from mia_audit.defences.dropout import Dropout
from mia_audit.defences.early_stopping import EarlyStopping
from mia_audit.defences.kinds import TrainingDefence
from mia_audit.defences.label_smoothing import LabelSmoothing
from mia_audit.defences.mixup import Mixup
from mia_audit.defences.none import NoDefence
from mia_audit.defences.output_noise import OutputNoise
from mia_audit.defences.relaxloss import RelaxLoss
from mia_audit.defences.rounding import Rounding
from mia_audit.defences.selena import Selena
from mia_audit.defences.temperature import Temperature
from mia_audit.defences.top_label import TopLabel
from mia_audit.defences.weight_decay import WeightDecay
from mia_audit.models.linear import Logistic
from mia_audit.models.mlp import MLP
from mia_audit.models.sklearn import SklearnModel
from mia_audit.schema import GROUPS
from tests.models.tables import gaussian_table

EXAMPLES: list[Any] = [
    NoDefence(),
    DPSGD(epsilon=None, noise_multiplier=1.0),
    WeightDecay(),
    Dropout(),
    EarlyStopping(),
    LabelSmoothing(),
    ConfidencePenalty(),
    Mixup(),
    RelaxLoss(),
    AdversarialRegularisation(),
    Selena(sub_models=3, unseen_by=1),
    Temperature(),
    Rounding(),
    TopLabel(),
    OutputNoise(),
    ContextSubsampling(),
    Bagging(bags=2),
]
DATA = gaussian_table(300, 6, 3)
MEMBERS = np.random.default_rng(0).random((8, 300)) < 0.5
SEEDS = np.arange(50, 58)
SMALL = MLP(hidden=[8], epochs=3, batch=16)
MLP_ALONE = [e for e in EXAMPLES if isinstance(e, TrainingDefence | DPSGD | WeightDecay)]
FOR_ALL = [e for e in EXAMPLES if e not in MLP_ALONE]

each_defence = pytest.mark.parametrize("defence", EXAMPLES, ids=lambda defence: defence.name)


def test_every_defence_on_offer_is_tested_here() -> None:
    assert [defence.name for defence in EXAMPLES] == list(GROUPS["defence"])
    assert [type(defence) for defence in EXAMPLES] == list(GROUPS["defence"].values())


@each_defence
def test_a_model_has_the_same_bits_whatever_is_trained_beside_it(defence: Any) -> None:
    defence.supports(SMALL, DATA)
    full = defence.train(SMALL, DATA, MEMBERS, SEEDS, num_train=150, slots=np.arange(8))
    assert full.values.shape == (8, 300, 3)
    assert np.isfinite(full.confidence(DATA.y)).all()
    some = np.array([2, 7])
    part = defence.train(SMALL, DATA, MEMBERS[some], SEEDS[some], num_train=150, slots=some)
    np.testing.assert_array_equal(part.values, full.values[some])


@pytest.mark.gpu
@each_defence
def test_learns_on_a_gpu_what_it_learns_on_a_cpu(defence: Any) -> None:
    """Captured steps must read what changes from step to step from tensors alone."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    model = MLP(hidden=[16], epochs=10, batch=16)
    right = {}
    for device in ("cpu", "cuda"):
        outputs = defence.train(model, DATA, MEMBERS, SEEDS, num_train=150, device=device)
        right[device] = (outputs.predictions() == DATA.y).mean()
    assert abs(right["cuda"] - right["cpu"]) < 0.03


@each_defence
def test_is_called_by_its_name_with_the_settings_of_its_class(defence: Any) -> None:
    composed = config.compose("audit", [f"defence={defence.name}"]).settings
    assert composed.defence == type(defence)()
    if defence.name != "dpsgd":
        assert defence.claimed_epsilon(SMALL, num_train=150) is None


@pytest.mark.parametrize("defence", MLP_ALONE, ids=lambda defence: defence.name)
def test_refuses_other_models_than_mlp_before_any_work(defence: Any) -> None:
    with pytest.raises(ValueError, match=f"defence={defence.name} trains model=mlp only, not log"):
        defence.supports(Logistic(), DATA)


@pytest.mark.parametrize("defence", FOR_ALL, ids=lambda defence: defence.name)
def test_fits_models_that_give_probabilities(defence: Any) -> None:
    model = SklearnModel("sklearn.naive_bayes.GaussianNB")
    defence.supports(model, DATA)
    outputs = defence.train(model, DATA, MEMBERS[:2], SEEDS[:2], num_train=150)
    assert np.isfinite(outputs.confidence(DATA.y)).all()


def test_offering_them_costs_no_torch() -> None:
    modules = sorted({kind.__module__ for kind in GROUPS["defence"].values()})
    code = (
        f"import sys, {', '.join(modules)}\n"
        "print(sorted({'torch', 'opacus', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
