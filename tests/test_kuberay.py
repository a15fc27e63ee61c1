"""The manifest for Kubernetes has a RayJob's fields and asks for an audit that composes."""

import copy
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from mia_audit import config
from mia_audit.nodes import shards_at_once

ROOT = Path(__file__).resolve().parents[1]
MANIFEST: dict[str, Any] = yaml.safe_load((ROOT / "jobs/kuberay.yaml").read_text("utf-8"))
FIELDS = yaml.safe_load((ROOT / "tests/rayjob_fields.yaml").read_text("utf-8"))
CLUSTER = MANIFEST["spec"]["rayClusterSpec"]


def test_every_field_is_one_of_a_rayjob() -> None:
    jsonschema.Draft202012Validator.check_schema(FIELDS)
    jsonschema.validate(MANIFEST, FIELDS)


def with_value(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    """The manifest with `value` at `path`."""
    changed: Any = copy.deepcopy(MANIFEST)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "entryPoint"), "mia-audit"),
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0, "maxReplica"), 3),
        (("spec", "rayClusterSpec", "headGroupSpec", "rayStartParams", "num-cpus"), 0),
        (("spec", "ttlSecondsAfterFinished"), "300"),
        (("spec", "shutdownAfterJobFinishes"), False),  # and yet a time to live
        (("spec", "submissionMode"), "InteractiveMode"),  # and yet retries
        (("spec", "activeDeadlineSeconds"), 0),
        (("spec", "rayClusterSpec", "rayVersion"), "2.51.0"),  # knows no token
        (("spec", "rayClusterSpec", "authOptions", "mode"), "Token"),
        (("spec", "rayClusterSpec", "headGroupSpec", "resources"), {"CPU": "0"}),  # and num-cpus
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0, "rayStartParams"), {"labels": "a=b"}),
        (("metadata", "name"), "1-audit"),
    ],
)
def test_a_slip_in_the_manifest_is_noticed(path: tuple[Any, ...], value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(with_value(path, value), FIELDS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "rayClusterSpec", "rayVersion"), "2.52.0"),
        (("spec", "rayClusterSpec", "rayVersion"), "2.100.1"),
        (("spec", "rayClusterSpec", "rayVersion"), "3.0.0"),
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0, "resources"), {"CPU": "2"}),
        (("spec", "rayClusterSpec", "headGroupSpec", "labels"), {"tier": "driver"}),
        (("spec", "submissionMode"), "SidecarMode"),
    ],
)
def test_what_the_operator_takes_passes(path: tuple[Any, ...], value: object) -> None:
    jsonschema.validate(with_value(path, value), FIELDS)


def test_the_entrypoint_composes_and_keeps_everything_elsewhere() -> None:
    command, *arguments = shlex.split(MANIFEST["spec"]["entrypoint"])
    assert command in (ROOT / "pyproject.toml").read_text("utf-8")
    settings = config.compose("audit", arguments).settings
    settings.cluster._check_numbers()
    assert settings.cluster.device == "cuda"
    assert settings.store.startswith("s3://")
    assert settings.tracking.uri.startswith("http://")


def test_a_worker_fits_a_shard_and_the_head_none() -> None:
    arguments = shlex.split(MANIFEST["spec"]["entrypoint"])[1:]
    cluster = config.compose("audit", arguments).settings.cluster
    (group,) = CLUSTER["workerGroupSpecs"]
    limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
    worker = {"CPU": float(limits["cpu"]), "GPU": float(limits["nvidia.com/gpu"])}
    head = {"CPU": float(CLUSTER["headGroupSpec"]["rayStartParams"]["num-cpus"])}
    assert shards_at_once([worker], cluster) == 1
    assert shards_at_once([head], cluster) == 0
    assert group["minReplicas"] <= group["replicas"] < group["maxReplicas"]


def test_the_token_is_on_and_versions_are_those_tested() -> None:
    (pinned,) = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    assert CLUSTER["rayVersion"] == pinned
    assert f"rayproject/ray:{pinned}-" in (ROOT / "jobs/kuberay.yaml").read_text("utf-8")
    assert CLUSTER["authOptions"] == {"mode": "token"}
    assert CLUSTER["enableInTreeAutoscaling"] is True
