"""What users import from `mia_audit.stats`: adding a name is a decision, losing one a fault."""

import subprocess
import sys

import mia_audit.stats

NAMES = [
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

HEAVY = ("torch", "ray", "mlflow", "tabpfn", "matplotlib", "pandas", "sklearn", "hydra")


def test_the_public_names_are_pinned() -> None:
    assert sorted(mia_audit.stats.__all__) == NAMES
    assert all(hasattr(mia_audit.stats, name) for name in NAMES)


def test_statistics_import_nothing_heavy() -> None:
    code = (
        "import sys, mia_audit.stats, mia_audit.attacks;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
