"""Optimisers over one flat parameter buffer: a step of every model is one fused kernel."""

from typing import Any

import torch


class Adam:
    """torch.optim.Adam (weight decay is added to the gradient) on a flat buffer, in place."""

    def __init__(
        self, parameters: torch.Tensor, gradient: torch.Tensor, *, lr: float, weight_decay: float
    ) -> None:
        self._parameters, self._gradient = [parameters], [gradient]
        self._first, self._second = [torch.zeros_like(parameters)], [torch.zeros_like(parameters)]
        self._steps = [torch.zeros((), dtype=torch.float32, device=parameters.device)]
        self._options: dict[str, Any] = {
            "lr": lr,
            "beta1": 0.9,
            "beta2": 0.999,
            "weight_decay": weight_decay,
            "eps": 1e-8,
            "amsgrad": False,
            "maximize": False,
        }

    def reset(self) -> None:
        """Forget every step taken."""
        for state in (*self._first, *self._second, *self._steps):
            state.zero_()

    def step(self) -> None:
        """One update of the parameters from the gradient."""
        self._steps[0].add_(1)
        torch._fused_adam_(
            self._parameters,
            self._gradient,
            self._first,
            self._second,
            [],
            self._steps,
            **self._options,
        )


class SGD:
    """torch.optim.SGD with momentum on a flat buffer, in place."""

    def __init__(
        self,
        parameters: torch.Tensor,
        gradient: torch.Tensor,
        *,
        lr: float,
        momentum: float,
        weight_decay: float,
    ) -> None:
        self._parameters, self._gradient = [parameters], [gradient]
        self._velocity = [torch.zeros_like(parameters)] if momentum else []
        self._options: dict[str, Any] = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "dampening": 0.0,
            "nesterov": False,
            "maximize": False,
            # From a velocity of zero the ordinary step is the first step, and one captured
            # program serves all of them.
            "is_first_step": False,
        }

    def reset(self) -> None:
        """Forget every step taken."""
        for velocity in self._velocity:
            velocity.zero_()

    def step(self) -> None:
        """One update of the parameters from the gradient."""
        torch._fused_sgd_(self._parameters, self._gradient, self._velocity, **self._options)
