"""Statistics of an audit: numpy arrays in, numpy arrays or small frozen dataclasses out."""

from mia_audit.stats.attacks import lira
from mia_audit.stats.design import draw_members, model_seeds
from mia_audit.stats.moments import Moments, leave_one_out_moments
from mia_audit.stats.scores import logit_confidence, logit_confidence_from_probabilities

__all__ = [
    "Moments",
    "draw_members",
    "leave_one_out_moments",
    "lira",
    "logit_confidence",
    "logit_confidence_from_probabilities",
    "model_seeds",
]
