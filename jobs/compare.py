"""python -m jobs.compare defences=[none,…] [group=choice key=value …]; see --help."""

from mia_audit.cli import compare

if __name__ == "__main__":
    compare()
