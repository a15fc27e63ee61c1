"""Defences that can be audited: each trains a model in its own way."""
