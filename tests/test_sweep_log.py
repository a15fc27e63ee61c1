"""The log of a sweep: a JSON line for each shard, and for models that failed alike."""

import json

import numpy as np

from mia_audit.shard import Shard
from mia_audit.sweep_log import SweepLog


def shard(models: range) -> Shard:
    table = np.zeros((len(models), 3), np.float32)
    share = np.ones(len(models), np.float32)
    return Shard(models.start, table, table > 0, share, share, seconds=1.23456, device="cpu")


def test_each_shard_is_a_line_with_what_it_took() -> None:
    log = SweepLog()
    assert log.text == ""
    for models in (range(4), range(4, 8), range(4, 8)):  # the second was lost once
        log.submitted(models)
    log.trained("0123456789abcdef", shard(range(4)))
    log.trained("0123456789abcdef", shard(range(4, 8)))
    first, second = (json.loads(line) for line in log.text.splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "event": "trained",
        "key": "0123456789abcdef",
        "models": [0, 1, 2, 3],
        "seconds": 1.235,
        "device": "cpu",
        "retries": 0,
    }
    assert (second["models"], second["retries"]) == ([4, 5, 6, 7], 1)


def test_failures_share_a_line_by_cause_and_hold_no_password() -> None:
    log = SweepLog()
    log.failed("0" * 16, {3: "no s3://me:secret@bucket", 4: "diverged", 7: "diverged"})
    lines = [json.loads(line) for line in log.text.splitlines()]
    assert [(line["models"], line["cause"]) for line in lines] == [
        ([3], "no s3://me:***@bucket"),
        ([4, 7], "diverged"),
    ]
