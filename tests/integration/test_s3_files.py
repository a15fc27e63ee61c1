"""Shards on a real S3 client and server, without a sweep: what its loss does to a store."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from mia_audit import store_files
from mia_audit.faults import StoreError
from mia_audit.plan import Plan
from mia_audit.store import Store
from tests.integration.s3_server import Relay, bucket_on_s3
from tests.test_store import make_plan, train

pytest.importorskip("s3fs")
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with bucket_on_s3(tmp_path_factory.mktemp("s3"), "shards") as relay:
        yield relay


def test_shards_are_written_listed_read_and_removed(server: Relay) -> None:
    plan, store = make_plan(), Store("s3://shards/whole")
    store.check_writable()
    assert store.entries() == []
    store.record(plan)
    for models in (range(4), range(4, 12)):
        store.write(plan, train(plan, models))
    store.clean(plan)
    again = Store("s3://shards/whole")
    assert again.missing(plan) == []
    np.testing.assert_array_equal(again.load(plan).scores, train(plan, range(12)).scores)
    (entry,) = again.entries()
    assert (entry.key, entry.num_models) == (plan.key, 12)
    assert abs(entry.last_use.timestamp() - time.time()) < 600
    again.remove(plan.key)
    assert Store("s3://shards/whole").entries() == []


def test_a_write_and_a_reading_outlast_the_server_s_absence_and_say_so(
    server: Relay, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, store = make_plan(), Store("s3://shards/short")
    store.write(plan, train(plan, range(4)))
    with absence(server, 0.5):
        store.write(plan, train(plan, range(4, 12)))
    with absence(server, 0.5):
        scores = store.load(plan).scores
    np.testing.assert_array_equal(scores, train(plan, range(12)).scores)
    told = capsys.readouterr().err.splitlines()
    assert [line.split("(")[0] for line in told] == 2 * [
        "store=s3://shards/short does not answer ",
        "store=s3://shards/short answers again.",
    ]
    assert told[0].endswith(": trying again for about 61 s. What was finished before is kept.")


@contextmanager
def absence(server: Relay, seconds: float) -> Iterator[None]:
    server.leave()
    timer = threading.Timer(seconds, server.come_back)
    timer.start()
    yield
    timer.join()


def test_a_server_that_is_away_at_the_start_is_told_at_once(server: Relay) -> None:
    store = Store("s3://shards/start")
    store.check_writable()
    with absence(server, 3.0):
        began = time.monotonic()
        with pytest.raises(ValueError, match=r"nothing can be written there .* its server answers"):
            store.check_writable()
        assert time.monotonic() - began < 3


def test_a_server_that_stays_away_is_one_sentence(
    server: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store_files, "PATIENCE", (0.1,))
    plan, store = make_plan(), Store("s3://shards/long")
    for model in range(4, 12):
        store.write(plan, train(plan, range(model, model + 1)))
    server.leave()
    try:
        with pytest.raises(StoreError, match=r"^store=s3://shards/long: \w+/shard-.* could not be"):
            store.write(plan, train(plan, range(4)))
        with pytest.raises(StoreError, match="it could not be listed"):
            store.missing(plan)
        assert len(capsys.readouterr().err.splitlines()) == 1
    finally:
        server.come_back()
    assert store.missing(plan) == list(range(4))
    store.write(plan, train(plan, range(4)))
    np.testing.assert_array_equal(store.load(plan).scores, train(plan, range(12)).scores)


def test_a_server_lost_between_the_list_of_shards_and_their_reading_is_one_sentence(
    server: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "PATIENCE", (1.0,))
    plan, store = make_plan(), Store("s3://shards/reading")
    for model in range(12):  # more than are read at once
        store.write(plan, train(plan, range(model, model + 1)))
    listed = store._cover

    def list_and_lose(plan: Plan) -> list[str]:
        names = listed(plan)
        server.leave()
        return names

    monkeypatch.setattr(store, "_cover", list_and_lose)
    began = time.monotonic()
    try:
        with pytest.raises(StoreError, match=r"shard-\S+ could not be read .* same command again"):
            store.load(plan)
        assert time.monotonic() - began < 3  # the rest of the shards does not wait in its turn
    finally:
        server.come_back()


@pytest.mark.slow  # it waits for 15 s and 30 s
def test_a_server_that_takes_and_never_answers_is_left_in_time(
    server: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "PATIENCE", ())
    plan, store = make_plan(), Store("s3://shards/hanging")
    store.write(plan, train(plan, range(4)))
    server.hanging = True
    server.leave()
    server.come_back()
    began = time.monotonic()
    try:
        with pytest.raises(StoreError, match=r"shard-\S+ could not be written \(FSTimeoutError"):
            store.write(plan, train(plan, range(4, 12)))
        with pytest.raises(StoreError, match=r"it could not be listed \(ReadTimeoutError"):
            store.missing(plan)
        assert time.monotonic() - began < 90  # minutes with the client's own tries nested
    finally:
        server.hanging = False
        server.leave()
        server.come_back()
    store.write(plan, train(plan, range(4, 12)))
    assert store.missing(plan) == []
