"""What `--help` prints, read off the conf folder: it answers before anything is imported."""

from __future__ import annotations

from pathlib import Path

HELP = {
    "audit": "Train what the store lacks, judge every model, log one MLflow run, write a report.",
    "train": "Train what the store lacks, and nothing else.",
    "simulate": "Repeat the papers' simulations: what was expected beside what came out.",
    "identify": "Select the records a model was trained on, from score files of any model.",
    "compare": "Audit several defences on one design: what each buys in privacy and costs.",
}
WITH_AUDIT_KEYS = ("audit", "train", "compare")
GROUPS = ("dataset", "model", "defence", "attack", "cluster", "experiment")


def conf_folder() -> Path:
    """The folder of configurations: inside the installed package, or beside it in a checkout."""
    here = Path(__file__).resolve().parent
    inside = here / "conf"
    return inside if inside.is_dir() else here.parent / "conf"


def choices(group: str) -> list[str]:
    """The names that `group=` takes."""
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))


def help_text(name: str) -> str:
    """What `--help` prints; reads the conf folder only, so that it answers at once."""
    words = "[group=choice …] [key=value …]" if name in WITH_AUDIT_KEYS else "[key=value …]"
    lines = [f"{HELP[name]}\n", f"usage: python -m jobs.{name} {words}\n"]
    text = "" if name in ("audit", "train") else _keys_text(name)
    if name in WITH_AUDIT_KEYS:
        text += _keys_text("audit")
        lines.append("groups:")
        lines += [f"  {group}={'|'.join(choices(group))}" for group in GROUPS]
        lines.append("")
    lines.append("keys, with their defaults (all of them, a group's own included: --cfg job):")
    lines += [f"  {line}" for line in text.splitlines()]
    lines.append("\n-m sweeps over comma-separated values: seed=0,1,2")
    return "\n".join(lines)


def _keys_text(name: str) -> str:
    """The keys of a configuration file with their comments."""
    text = (conf_folder() / f"{name}.yaml").read_text(encoding="utf-8")
    return text.partition("# keys\n")[2]
