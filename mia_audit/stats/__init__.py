"""Statistics of an audit: numpy arrays in, numpy arrays or small frozen dataclasses out."""

from mia_audit.stats.attacks import calibrated_loss, lira, lira_offline, lira_target
from mia_audit.stats.conformal import conformal_p_values
from mia_audit.stats.design import draw_members, model_seeds
from mia_audit.stats.differences import Difference, tpr_differences
from mia_audit.stats.evaluation import Evaluation, evaluate
from mia_audit.stats.false_discovery import false_discovery_bounds
from mia_audit.stats.finite_population import (
    correct_finite_population,
    finite_population_factor,
    noise_share_of_frames,
    noise_share_of_seeds,
    population_tpr,
)
from mia_audit.stats.knockoffs import (
    KnockoffSelection,
    knockoff_statistics,
    select_with_knockoffs,
)
from mia_audit.stats.member_share import JackknifeBeta, Moment, NoScaling, Storey, Subtraction
from mia_audit.stats.moments import Moments, leave_one_out_moments
from mia_audit.stats.normality import Normality
from mia_audit.stats.num_models import num_models_needed
from mia_audit.stats.operating_points import OperatingPoint
from mia_audit.stats.pooled_epsilon import pooled_epsilon_lower_bound
from mia_audit.stats.population import NoiseEstimate, population_points
from mia_audit.stats.privacy_bounds import (
    clopper_pearson,
    epsilon_lower_bound,
    gdp_epsilon,
    mu_lower_bound,
)
from mia_audit.stats.relative_attacks import base, rmia
from mia_audit.stats.roc import Roc, roc_curve
from mia_audit.stats.scores import (
    log_confidence,
    logit_confidence,
    logit_confidence_from_probabilities,
)
from mia_audit.stats.selection import Selection, select_members
from mia_audit.stats.shapes import shape_covariates
from mia_audit.stats.signals import (
    min_k,
    min_k_plus_plus,
    modified_entropy,
    perplexity,
    renyi_k,
    zlib_ratio,
)
from mia_audit.stats.standardisation import standardise
from mia_audit.stats.thresholds import (
    Conditional,
    Empirical,
    ExactStudentT,
    Normal,
    Regression,
    StudentT,
)

__all__ = [
    "Conditional",
    "Difference",
    "Empirical",
    "Evaluation",
    "ExactStudentT",
    "JackknifeBeta",
    "KnockoffSelection",
    "Moment",
    "Moments",
    "NoScaling",
    "NoiseEstimate",
    "Normal",
    "Normality",
    "OperatingPoint",
    "Regression",
    "Roc",
    "Selection",
    "Storey",
    "StudentT",
    "Subtraction",
    "base",
    "calibrated_loss",
    "clopper_pearson",
    "conformal_p_values",
    "correct_finite_population",
    "draw_members",
    "epsilon_lower_bound",
    "evaluate",
    "false_discovery_bounds",
    "finite_population_factor",
    "gdp_epsilon",
    "knockoff_statistics",
    "leave_one_out_moments",
    "lira",
    "lira_offline",
    "lira_target",
    "log_confidence",
    "logit_confidence",
    "logit_confidence_from_probabilities",
    "min_k",
    "min_k_plus_plus",
    "model_seeds",
    "modified_entropy",
    "mu_lower_bound",
    "noise_share_of_frames",
    "noise_share_of_seeds",
    "num_models_needed",
    "perplexity",
    "pooled_epsilon_lower_bound",
    "population_points",
    "population_tpr",
    "renyi_k",
    "rmia",
    "roc_curve",
    "select_members",
    "select_with_knockoffs",
    "shape_covariates",
    "standardise",
    "tpr_differences",
    "zlib_ratio",
]
