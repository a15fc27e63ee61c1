"""python -m jobs.train [group=choice key=value …]; see --help."""

from mia_audit.cli import train

if __name__ == "__main__":
    train()
