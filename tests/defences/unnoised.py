"""A defence that lies, under the name of one that does not, and the commands that meet it.

python -m tests.defences.unnoised audit defence=dpsgd defence.epsilon=1
"""

import sys
from dataclasses import dataclass

from mia_audit import cli
from mia_audit.defences.dpsgd import DPSGD
from mia_audit.models.mlp import MLP
from mia_audit.schema import GROUPS


@dataclass
class Unnoised(DPSGD):
    """DP-SGD that claims its ε and forgets the noise."""

    def noise(self, model: MLP, num_train: int) -> float:
        return 0.0


if __name__ == "__main__":
    from tests.defences.unnoised import Unnoised as Importable  # workers know no __main__

    GROUPS["defence"]["dpsgd"] = Importable
    job = getattr(cli, sys.argv.pop(1))
    job()
