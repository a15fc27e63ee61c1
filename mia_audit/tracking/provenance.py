"""What a run was made with: the commit of the working directory and the versions of packages."""

import platform
import subprocess
from contextlib import suppress
from importlib import metadata

_PACKAGES = ("mia_audit", "numpy", "scipy", "torch", "scikit-learn", "tabpfn", "ray", "mlflow")


def git_sha() -> str:
    """The commit checked out in the working directory, or "" outside a git checkout."""
    return _git("rev-parse", "HEAD")


def git_dirty() -> bool:
    """True when tracked files in the working directory differ from the commit."""
    return bool(_git("status", "--porcelain", "--untracked-files=no"))


def environment() -> dict[str, str]:
    """The tag `versions`: Python and the packages that change numbers, in one readable line."""
    found = [f"python {platform.python_version()}"]
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{package} {metadata.version(package)}")
    return {"versions": ", ".join(found)}


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
