"""python -m jobs.identify calibration=FILE candidates=FILE [key=value …]; see --help."""

from mia_audit.cli import identify

if __name__ == "__main__":
    identify()
