"""Which shard is next, and what becomes of one that was lost. Knows nothing of Ray.

Shards are cut no finer than stacks: a stack's size is part of a model's numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from mia_audit.sharding import cut_into_stacks


class ShardQueue:
    """Shards to be trained in stacks of `stack` models.

    One that ran out of memory is halved; a single stack is tried once more, with nothing beside
    it, after all others. One whose worker died for another reason is cut into its stacks, so that
    only the stack that is to blame fails.
    """

    def __init__(self, shards: Sequence[range], *, stack: int) -> None:
        self._waiting = deque(shards)
        self._alone: deque[range] = deque()
        self._tried_alone: set[range] = set()
        self._stack = stack

    def __bool__(self) -> bool:
        return bool(self._waiting or self._alone)

    def next(self, *, running: int, most: int) -> range | None:
        """The shard to submit now that `running` are under way and `most` may be; or None."""
        if self._waiting:
            return self._waiting.popleft() if running < most else None
        if self._alone and not running:
            models = self._alone.popleft()
            self._tried_alone.add(models)
            return models
        return None

    def exhausted(self, models: range) -> bool:
        """These ran out of memory. Whether they are tried again."""
        stacks = cut_into_stacks(models, self._stack)
        if len(stacks) > 1:
            middle = stacks[len(stacks) // 2].start
            self._waiting.extend([range(models.start, middle), range(middle, models.stop)])
        elif models not in self._tried_alone:
            self._alone.append(models)
        else:
            return False
        return True

    def crashed(self, models: range) -> bool:
        """The worker of these ended. Whether they are tried again."""
        stacks = cut_into_stacks(models, self._stack)
        if len(stacks) > 1:
            self._waiting.extend(stacks)
        return len(stacks) > 1
