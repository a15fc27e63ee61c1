"""What `--help` prints, read off the conf folder: it answers before anything is imported."""

from __future__ import annotations

import textwrap
from pathlib import Path

HELP = {
    "audit": "Train what the store lacks, judge every model, log one MLflow run, write a report.",
    "train": "Train what the store lacks, and nothing else.",
    "simulate": "Repeat the papers' simulations: what was expected beside what came out.",
    "identify": "Select the records a model was trained on, from score files of any model.",
    "compare": "Audit several defences on one design: what each buys in privacy and costs.",
}
WIDTH = 80  # columns
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
    lines = [f"{textwrap.fill(HELP[name], WIDTH)}\n", f"usage: python -m jobs.{name} {words}\n"]
    text = "" if name in ("audit", "train") else _keys_text(name)
    if name in WITH_AUDIT_KEYS:
        text += _keys_text("audit")
        lines.append("groups:")
        lines += [_group(group) for group in GROUPS]
        lines.append("")
    lines.append("keys, with their defaults (all of them, a group's own included: --cfg job):")
    lines += [_folded(f"  {line}") for line in text.splitlines()]
    lines.append("\n-m sweeps over comma-separated values: seed=0,1,2")
    return "\n".join(lines)


def _group(group: str) -> str:
    """`group=one|two|…`, broken after a bar."""
    head = f"  {group}="
    words = " ".join(f"{choice}|" for choice in choices(group)).rstrip("|")
    lines = textwrap.wrap(
        words, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )
    return "\n".join(line.replace("| ", "|") for line in lines)


def _folded(line: str) -> str:
    """A key's line, its comment going on below itself."""
    setting, mark, comment = line.partition("# ")
    if len(line) <= WIDTH or not mark:
        return line
    under = " " * len(setting) + mark
    return "\n".join(
        textwrap.wrap(comment, WIDTH, initial_indent=setting + mark, subsequent_indent=under)
    )


def _keys_text(name: str) -> str:
    """The keys of a configuration file with their comments."""
    text = (conf_folder() / f"{name}.yaml").read_text(encoding="utf-8")
    return text.partition("# keys\n")[2]
