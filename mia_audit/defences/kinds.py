"""The kinds of defences, and what those of one kind share.

A defence of a kind is a plain dataclass of its settings with a `name`, a `check` of the settings
and the one method in which it differs: a `recipe` or a `release`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mia_audit.data.dataset import Dataset
from mia_audit.models.mlp import MLP
from mia_audit.models.outputs import Logits, Outputs

if TYPE_CHECKING:
    from mia_audit.models.recipe import MakeRecipe, Recipe, Stack


class Unproven:
    """A defence that promises no ε."""

    name: ClassVar[str]

    def claimed_epsilon(self, model: Any = None, *, num_train: int) -> float | None:
        """None: no privacy is promised."""
        return None

    def check(self) -> None:
        """ValueError for settings that make no sense."""

    def supports(self, model: Any, dataset: Dataset) -> None:
        """ValueError for settings that make no sense; every model fits."""
        self.check()


class TrainingDefence(Unproven):
    """A defence that changes how model=mlp is trained."""

    def supports(self, model: Any, dataset: Dataset) -> None:
        """ValueError: another model than mlp, or settings that make no sense."""
        if not isinstance(model, MLP):
            raise ValueError(f"defence={self.name} trains model=mlp only, not {model.name}.")
        self.check()

    def recipe(self, stack: Stack) -> Recipe:
        """How this stack is trained."""
        raise NotImplementedError

    def train(
        self,
        model: MLP,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Logits:
        """Train m networks by the recipe; arguments and result are those of MLP.train."""
        return train_by(
            self.recipe,
            model,
            dataset,
            members,
            seeds,
            num_train=num_train,
            device=device,
            slots=slots,
        )


def train_by(
    make_recipe: MakeRecipe,
    model: MLP,
    dataset: Dataset,
    members: np.ndarray,
    seeds: np.ndarray,
    *,
    num_train: int,
    device: str,
    slots: np.ndarray | None,
) -> Logits:
    """MLP.train by a recipe."""
    from mia_audit.models.mlp_training import train_mlps

    slots = np.arange(len(members)) if slots is None else np.asarray(slots)
    assert len(members) == len(seeds) == len(slots) <= model.stack(device)
    values = train_mlps(
        model,
        dataset,
        members,
        seeds,
        slots,
        num_train=num_train,
        device=device,
        make_recipe=make_recipe,
    )
    return Logits(values)


class OutputDefence(Unproven):
    """A defence that changes what any model releases, target and shadow models alike.

    What is released is made from what the model says and cannot tell more: where an audit finds
    more, the attack makes poor use of the whole (a few extreme scores spoil LiRA's normal fits),
    and an attacker could apply the defence himself to outputs without it.
    """

    @property
    def attacker(self) -> str:
        """Whom an audit assumes, in a sentence."""
        return (
            f"Adaptive: the attacker sees outputs after {self.name} alone, from the target as from "
            "every shadow model."
        )

    def release(self, outputs: Outputs, seeds: np.ndarray) -> Outputs:
        """What is released of m models' outputs; seeds int64 [m] for what is drawn."""
        raise NotImplementedError

    def train(
        self,
        model: Any,
        dataset: Dataset,
        members: np.ndarray,
        seeds: np.ndarray,
        *,
        num_train: int,
        device: str = "cpu",
        slots: np.ndarray | None = None,
    ) -> Outputs:
        """`model.train`, then what is released of it (members bool [m, N])."""
        outputs = model.train(
            dataset, members, seeds, num_train=num_train, device=device, slots=slots
        )
        return self.release(outputs, seeds)
