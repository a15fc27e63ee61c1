"""Scores that other programs computed, read for an audit that trains nothing."""

from mia_audit.external.matrices import ExternalScores, read_matrices
from mia_audit.external.target import TargetScale, read_target

__all__ = ["ExternalScores", "TargetScale", "read_matrices", "read_target"]
