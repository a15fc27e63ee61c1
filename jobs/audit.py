"""python -m jobs.audit [group=choice key=value …]; see --help."""

from mia_audit.cli import audit

if __name__ == "__main__":
    audit()
