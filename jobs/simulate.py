"""python -m jobs.simulate [simulation=NAME key=value …]; see --help."""

from mia_audit.cli import simulate

if __name__ == "__main__":
    simulate()
