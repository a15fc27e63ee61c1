"""Entry points, run as python -m jobs.<name>."""
