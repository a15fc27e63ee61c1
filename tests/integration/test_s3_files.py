"""Shards on a real S3 client and server, without a sweep: what its loss does to a store."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
import s3fs

from mia_audit import store_files
from mia_audit.faults import StoreError
from mia_audit.store import Store
from tests.integration.s3_server import Relay, make_bucket, s3_server
from tests.test_store import make_plan, train

pytest.importorskip("s3fs")
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    folder = tmp_path_factory.mktemp("s3")
    with s3_server(folder) as (relay, environment), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        make_bucket(environment, "shards")
        s3fs.S3FileSystem.clear_instance_cache()  # of another server that this process used
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


def test_a_write_outlasts_the_server_s_absence(server: Relay) -> None:
    plan, store = make_plan(), Store("s3://shards/short")
    store.write(plan, train(plan, range(4)))
    server.leave()
    timer = threading.Timer(5.0, server.come_back)
    timer.start()
    store.write(plan, train(plan, range(4, 12)))
    timer.join()
    np.testing.assert_array_equal(store.load(plan).scores, train(plan, range(12)).scores)


@pytest.mark.slow  # it waits for a minute
def test_a_server_that_stays_away_is_one_sentence(
    server: Relay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "PATIENCE", (0.1,))
    plan, store = make_plan(), Store("s3://shards/long")
    store.write(plan, train(plan, range(4)))
    server.leave()
    try:
        with pytest.raises(StoreError, match=r"^store=s3://shards/long: \w+/shard-.* could not be"):
            store.write(plan, train(plan, range(4, 12)))
        with pytest.raises(StoreError, match="it could not be listed"):
            store.missing(plan)
        with pytest.raises(ValueError, match="nothing can be written there"):
            store.check_writable()
    finally:
        server.come_back()
    assert store.missing(plan) == list(range(4, 12))
    store.write(plan, train(plan, range(4, 12)))
    np.testing.assert_array_equal(store.load(plan).scores, train(plan, range(12)).scores)
