"""python -m jobs.store list|remove key=… [store=…]; see --help."""

from mia_audit.cli import store

if __name__ == "__main__":
    store()
