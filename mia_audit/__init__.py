"""Membership-inference audits with calibrated low false-positive rates."""

__version__ = "0.1.0"
