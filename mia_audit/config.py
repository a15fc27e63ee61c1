"""Configuration: the schema of a job, its composition by Hydra, and one sentence for mistakes.

The only file that imports Hydra and OmegaConf. A job is a function of the composed configuration:
`run` composes `conf/<name>.yaml` with the command line and calls it.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import fields, replace
from io import StringIO
from tempfile import TemporaryDirectory
from typing import Any

from mia_audit.config_errors import one_line, sentence, unreadable
from mia_audit.faults import OutsideError
from mia_audit.help import choices, conf_folder, help_text
from mia_audit.interruption import (
    INTERRUPTED,
    TERMINATED,
    Terminated,
    is_interrupt,
    is_termination,
    say_how_to_resume,
    terminable,
)
from mia_audit.masking import masked
from mia_audit.schema import GROUPS, JOBS, AuditConfig, Composed

Job = Callable[[Composed[Any]], int]

FAILED, USER_MISTAKE = 1, 2
FLAGS_WITH_VALUE = ("--cfg", "-c", "--package", "-p", "--info", "-i")


def run(name: str, job: Job, arguments: list[str]) -> int:
    """Compose the configuration of `name` from `arguments`, run `job`, return the exit status.

    A user's mistake (a wrong key, a wrong value, unusable input) becomes one sentence on
    stderr and status 2; faults of ours propagate with their traceback (status 1).
    """
    if any(argument in ("-h", "--help") for argument in arguments):
        print(help_text(name))
        return 0
    for argument in split_flags(arguments)[1]:
        if told := unreadable(argument, _choices()):
            print(told, file=sys.stderr)
            return USER_MISTAKE
    if told := _flag_mistake(split_flags(arguments)[0]):
        print(told, file=sys.stderr)
        return USER_MISTAKE
    _keep_hydra_quiet()
    statuses: list[int] = []
    faults: list[Exception] = []  # raised again outside Hydra, which would add its own lines

    def task(config: object) -> None:
        try:
            statuses.append(_run_one(name, job, config))
        except Exception as fault:
            if is_termination(fault):
                raise Terminated from fault
            if is_interrupt(fault):
                raise KeyboardInterrupt from fault
            faults.append(fault)

    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    with TemporaryDirectory(prefix="mia_audit_") as scratch, terminable():
        try:
            _hydra_main(name, task, arguments, scratch)
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            print(_sentence(name, error), file=sys.stderr)
            return USER_MISTAKE
        except KeyboardInterrupt:
            say_how_to_resume(name, arguments)
            return INTERRUPTED
        except Terminated:
            say_how_to_resume(name, arguments)
            return TERMINATED
    if faults:
        raise faults[0]
    return max(statuses, default=0)


def compose(name: str, arguments: list[str] | None = None) -> Composed[Any]:
    """The composed configuration of a job, without running anything (for tests and notebooks)."""
    import hydra

    register()
    with _hydra_here():
        return _composed(name, hydra.compose(name, [quoted(a) for a in arguments or []]))


def compose_audit(
    composed: Composed[Any], defence: str, settings: dict[str, Any]
) -> Composed[AuditConfig]:
    """The audit of one defence within a comparison: its choice with `settings` as its keys.

    Raises ValueError with one sentence for a choice, a key or a value that does not exist.
    """
    from omegaconf import OmegaConf

    node = _choice_node("defence", defence, settings)
    kept = {field.name: getattr(composed.settings, field.name) for field in fields(AuditConfig)}
    plain = OmegaConf.to_container(node, resolve=True, enum_to_str=True)
    values = {key: value for key, value in composed.values.items() if key in kept}
    values["defence"] = _masked_leaves(plain)
    return replace(
        composed,
        settings=AuditConfig(**kept | {"defence": OmegaConf.to_object(node)}),
        values=values,
        yaml=OmegaConf.to_yaml(OmegaConf.create(values)),
    )


def _choice_node(group: str, choice: str, settings: dict[str, Any]) -> Any:
    """A choice of a group, composed on its own, with some keys set."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

    def wrong(told: str, cause: Exception) -> ValueError:
        error = HydraException(told)
        error.__cause__ = cause
        keys = [] if node is None else [f"{choice}.{key}" for key in node]
        return ValueError(sentence(error, keys=keys, choices={group: choices(group)}))

    node: Any = None
    within = GlobalHydra.instance().is_initialized()  # a job's task, else a test or a notebook
    ready = nullcontext() if within else _hydra_here()
    try:
        with ready:
            node = hydra.compose(f"{group}/{choice}")[group]
    except HydraException as error:
        raise wrong(f"Could not find '{group}/{choice}'", error) from error
    for key, value in settings.items():
        try:
            OmegaConf.update(node, key, value, merge=True)
        except (ConfigKeyError, ConfigAttributeError) as error:
            raise wrong(f"Could not override '{choice}.{key}'", error) from error
        except OmegaConfBaseException as error:
            raise wrong(f"Error merging override {choice}.{key}={value}", error) from error
    return node


def _hydra_here() -> Any:
    """Hydra on the package's own configurations, for composing outside a command."""
    import hydra

    return hydra.initialize_config_dir(str(conf_folder()), version_base="1.3")


def register() -> None:
    """Put every schema into Hydra's store; idempotent."""
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    for name, schema in JOBS.items():
        store.store(group="schema", name=name, node=schema)
    for group, nodes in GROUPS.items():
        for choice, node in nodes.items():
            store.store(group=f"schema/{group}", name=choice, node=_open_params(node))


def _open_params(node: type) -> Any:
    """A schema whose `params` take any key: they are passed on to a constructor of the user's."""
    from omegaconf import OmegaConf

    if "params" not in {field.name for field in fields(node)}:
        return node
    schema = OmegaConf.structured(node)
    schema.params = OmegaConf.create({}, flags={"struct": False})
    return schema


def quoted(argument: str) -> str:
    """`key=value` with the value quoted where Hydra's grammar could not read it."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    key, equals, value = argument.partition("=")
    if argument.startswith("-") or not equals:
        return argument
    try:
        OverridesParser.create().parse_override(argument)
        return argument
    except HydraException:
        escaped = re.sub(r"(\\*)'", r"\1\1\\'", value)
        return f"{key}='{escaped}'"


def split_flags(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Hydra's own flags, with their values, before the overrides: elsewhere it misreads them."""
    flags: list[str] = []
    overrides: list[str] = []
    for argument in arguments:
        is_value = bool(flags) and flags[-1] in FLAGS_WITH_VALUE
        (flags if argument.startswith("-") or is_value else overrides).append(argument)
    return flags, overrides


def _flag_mistake(flags: list[str]) -> str:
    """What Hydra's parser has against the flags, in one sentence; '' when nothing."""
    from hydra._internal.utils import get_args_parser

    said = StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(StringIO()):
            get_args_parser().parse_args(flags)
    except SystemExit as end:
        if end.code:
            return f"{one_line(said.getvalue().rpartition('error: ')[2])} (see --help)."
    return ""


def _keep_hydra_quiet() -> None:
    os.environ["HYDRA_FULL_ERROR"] = "1"


def _hydra_main(
    name: str, task: Callable[[object], None], arguments: list[str], scratch: str
) -> None:
    import hydra

    register()
    flags, overrides = split_flags(arguments)
    sys.argv = [name, *flags, *map(quoted, overrides), f"hydra.sweep.dir={scratch}"]
    hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name=name)(task)()


def _run_one(name: str, job: Job, config: object) -> int:
    try:
        return job(_composed(name, config))
    except ValueError as error:
        print(one_line(str(error)), file=sys.stderr)
        return USER_MISTAKE
    except OutsideError as error:
        print(one_line(str(error)), file=sys.stderr)
        return FAILED
    except _omegaconf_error() as error:
        print(_sentence(name, error), file=sys.stderr)
        return USER_MISTAKE


def _omegaconf_error() -> type[Exception]:
    from omegaconf.errors import OmegaConfBaseException

    return OmegaConfBaseException


def _composed(name: str, config: object) -> Composed[Any]:
    """The typed objects and the resolved YAML of one composition."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig, OmegaConf

    assert isinstance(config, DictConfig)
    overrides = list(HydraConfig.get().overrides.task) if HydraConfig.initialized() else []
    settings = OmegaConf.to_object(config)
    assert isinstance(settings, JOBS[name])
    return Composed(
        settings,
        yaml=masked(OmegaConf.to_yaml(config, resolve=True)),
        values=_masked_leaves(OmegaConf.to_container(config, resolve=True, enum_to_str=True)),
        command=masked(" ".join(["python -m", f"jobs.{name}", *overrides])),
        given=tuple(override.split("=")[0] for override in overrides),
        started=time.time(),
    )


def _masked_leaves(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _masked_leaves(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_masked_leaves(value) for value in node]
    return masked(node) if isinstance(node, str) else node


def _sentence(name: str, error: Exception) -> str:
    return sentence(error, keys=_valid_keys(name), choices=_choices())


def _choices() -> dict[str, list[str]]:
    return {group: choices(group) for group in (*GROUPS, "experiment")}


def _valid_keys(name: str) -> Iterator[str]:
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import DictConfig

    def walk(node: DictConfig, prefix: str) -> Iterator[str]:
        for key in node:
            yield f"{prefix}{key!s}"
            child = node._get_node(key)
            if isinstance(child, DictConfig) and not child._is_none():
                yield from walk(child, f"{prefix}{key!s}.")

    GlobalHydra.instance().clear()
    with _hydra_here():
        yield from walk(hydra.compose(name), "")
