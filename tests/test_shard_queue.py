"""What becomes of shards that were lost."""

from mia_audit.shard_queue import ShardQueue


def drained(queue: ShardQueue, *, running: int = 0, most: int = 99) -> list[range]:
    found = []
    while (models := queue.next(running=running, most=most)) is not None:
        found.append(models)
        running += 1
    return found


def test_as_many_as_may_run() -> None:
    queue = ShardQueue([range(8), range(8, 16), range(16, 24)], stack=8)
    assert drained(queue, most=2) == [range(8), range(8, 16)]
    assert queue.next(running=2, most=2) is None
    assert queue.next(running=1, most=2) == range(16, 24)
    assert not queue


def test_a_shard_out_of_memory_is_halved_between_stacks_until_one_is_left() -> None:
    queue = ShardQueue([range(3, 40)], stack=8)
    assert queue.next(running=0, most=9) == range(3, 40)
    assert queue.exhausted(range(3, 40))
    assert drained(queue) == [range(3, 16), range(16, 40)]
    assert queue.exhausted(range(16, 40))
    assert drained(queue) == [range(16, 24), range(24, 40)]


def test_a_stack_out_of_memory_is_tried_once_more_when_nothing_else_runs() -> None:
    queue = ShardQueue([range(8), range(8, 16), range(16, 24)], stack=8)
    assert queue.next(running=0, most=9) == range(8)
    assert queue.exhausted(range(8))
    assert drained(queue, running=1) == [range(8, 16), range(16, 24)]
    assert queue
    assert queue.exhausted(range(8, 16))
    assert queue.next(running=1, most=9) is None
    assert drained(queue) == [range(8)]  # and not the other one beside it
    assert not queue.exhausted(range(8))
    assert drained(queue) == [range(8, 16)]
    assert not queue


def test_a_shard_whose_worker_died_is_cut_into_its_stacks() -> None:
    queue = ShardQueue([range(16)], stack=8)
    assert queue.next(running=0, most=9) == range(16)
    assert queue.crashed(range(16))
    assert drained(queue) == [range(8), range(8, 16)]
    assert not queue.crashed(range(8))
    assert not queue
