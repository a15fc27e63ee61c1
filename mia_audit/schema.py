"""The typed shape of a job's configuration: plain dataclasses, checked by OmegaConf on composing.

Groups hold working objects (a `dataset` loads itself, a `model` trains itself); a new choice is
one dataclass in its own package, one line in `GROUPS` and one yaml in `conf/<group>/`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeVar

from mia_audit.attacks import BASE, RMIA, CalibratedLoss, LiRA, LiRAOffline, Loss
from mia_audit.cluster import Cluster
from mia_audit.data import Adult, CreditDefault, GermanCredit, Table
from mia_audit.defences.adversarial_regularisation import AdversarialRegularisation
from mia_audit.defences.bagging import Bagging
from mia_audit.defences.confidence_penalty import ConfidencePenalty
from mia_audit.defences.context_subsampling import ContextSubsampling
from mia_audit.defences.dpsgd import DPSGD
from mia_audit.defences.dropout import Dropout
from mia_audit.defences.early_stopping import EarlyStopping
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
from mia_audit.external import TargetScale
from mia_audit.identify.settings import IdentifyConfig
from mia_audit.models.linear import Logistic
from mia_audit.models.mlp import MLP
from mia_audit.models.sklearn import SklearnModel
from mia_audit.models.tabpfn import TabPFN
from mia_audit.noise import NoiseSource, TwoFrames, TwoSeeds
from mia_audit.simulate.settings import SimulateConfig
from mia_audit.stats.member_share import NoScaling, ShareEstimator, Storey, Subtraction
from mia_audit.tracking import Tracking

GROUPS: dict[str, dict[str, type]] = {
    "dataset": {
        "adult": Adult,
        "german_credit": GermanCredit,
        "credit_default": CreditDefault,
        "table": Table,
    },
    "model": {"mlp": MLP, "logistic": Logistic, "sklearn": SklearnModel, "tabpfn": TabPFN},
    "defence": {
        "none": NoDefence,
        "dpsgd": DPSGD,
        "weight_decay": WeightDecay,
        "dropout": Dropout,
        "early_stopping": EarlyStopping,
        "label_smoothing": LabelSmoothing,
        "confidence_penalty": ConfidencePenalty,
        "mixup": Mixup,
        "relaxloss": RelaxLoss,
        "adversarial_regularisation": AdversarialRegularisation,
        "selena": Selena,
        "temperature": Temperature,
        "rounding": Rounding,
        "top_label": TopLabel,
        "output_noise": OutputNoise,
        "context_subsampling": ContextSubsampling,
        "bagging": Bagging,
    },
    "attack": {
        "lira": LiRA,
        "lira_offline": LiRAOffline,
        "rmia": RMIA,
        "base": BASE,
        "calibrated_loss": CalibratedLoss,
        "loss": Loss,
    },
    "cluster": {"cluster": Cluster},
}


class Design(Enum):
    """How training sets are drawn from the pool (see `draw_members`)."""

    bernoulli = "bernoulli"
    balanced = "balanced"
    fixed_size = "fixed_size"


class Intervals(Enum):
    """How a pooled TPR's interval is computed (see `evaluate`)."""

    clustered = "clustered"
    bootstrap = "bootstrap"


class Estimator(Enum):
    """How PTDI estimates the share of non-members among the candidates."""

    subtraction = "subtraction"
    storey = "storey"
    none = "none"


@dataclass
class Selection:
    """PTDI at the end of an audit: level, share estimator and which model is the named target."""

    alpha: float = 0.1
    estimator: Estimator = Estimator.subtraction
    eta: float = 0.05
    member_share: float = 0.5
    target: int = 0

    def share_estimator(self) -> ShareEstimator:
        match self.estimator:
            case Estimator.subtraction:
                return Subtraction(eta=self.eta)
            case Estimator.storey:
                return Storey()
            case Estimator.none:
                return NoScaling()


class Noise(Enum):
    """How the share of training noise is measured for the population correction."""

    none = "none"
    seeds = "seeds"
    frames = "frames"


@dataclass
class Population:
    """What the finite-population correction takes for the variance that training adds."""

    noise: Noise = Noise.none
    models: int = 32

    def noise_source(self) -> NoiseSource | None:
        match self.noise:
            case Noise.none:
                return None
            case Noise.seeds:
                return TwoSeeds(self.models)
            case Noise.frames:
                return TwoFrames(self.models)


@dataclass
class Target:
    """Files of an existing model's scores on the pool's records, and of its membership."""

    scores: str | None = None
    members: str | None = None
    scale: TargetScale | None = None


@dataclass
class AuditConfig:
    """The whole configuration; `conf/audit.yaml` holds the defaults and says what each key is."""

    dataset: Any = "???"
    model: Any = "???"
    defence: Any = "???"
    attack: Any = "???"
    cluster: Any = "???"
    num_models: int = 128
    num_records: int | None = None
    seed: int = 0
    design: Design = Design.bernoulli
    fraction: float = 0.5
    alphas: list[float] = field(default_factory=lambda: [0.1, 0.01, 0.001])
    intervals: Intervals = Intervals.clustered
    population_correction: bool = False
    population: Population = field(default_factory=Population)
    scores: str | None = None
    target: Target = field(default_factory=Target)
    selection: Selection = field(default_factory=Selection)
    store: str = "./mia_store"
    tracking: Tracking = field(default_factory=Tracking)
    dry_run: bool = False


@dataclass
class CompareConfig(AuditConfig):
    """An audit's configuration, and which defences stand side by side (`conf/compare.yaml`)."""

    defences: list[Any] = field(default_factory=lambda: ["none"])
    runs: str | None = None
    allow_different_designs: bool = False


JOBS: dict[str, type] = {
    "audit": AuditConfig,
    "train": AuditConfig,
    "identify": IdentifyConfig,
    "simulate": SimulateConfig,
    "compare": CompareConfig,
}

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Composed(Generic[Settings]):
    """One composed configuration: typed objects, and what is shown of them (secrets masked).

    `values` is the resolved configuration as plain values; `given` are the keys that the command
    line set; `command` is that command line; `started` is when (seconds since the epoch).
    """

    settings: Settings
    yaml: str
    values: dict[str, Any]
    command: str
    given: tuple[str, ...]
    started: float

    def without(self, keys: Collection[str]) -> Composed[Settings]:
        """The same with these keys not shown, since nothing came from them."""
        import yaml

        values = {key: value for key, value in self.values.items() if key not in keys}
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
        return replace(self, values=values, yaml=text)
