"""Slow oracles of DP-SGD: one example at a time."""

import torch
from torch import nn


def clipped_sum(
    model: nn.Module, records: torch.Tensor, labels: torch.Tensor, clip: float
) -> list[torch.Tensor]:
    """Σ over examples of their gradients clipped to norm `clip`, one tensor a parameter."""
    parameters = list(model.parameters())
    total = [torch.zeros_like(parameter) for parameter in parameters]
    for record, label in zip(records, labels, strict=True):
        loss = nn.functional.cross_entropy(model(record[None]), label[None])
        gradients = torch.autograd.grad(loss, parameters)
        norm = torch.sqrt(sum(gradient.square().sum() for gradient in gradients))
        for entry, gradient in zip(total, gradients, strict=True):
            entry += gradient * min(1.0, clip / (norm.item() + 1e-6))
    return total


def opacus_gradient(
    model: nn.Module, records: torch.Tensor, labels: torch.Tensor, clip: float, expected: float
) -> list[torch.Tensor]:
    """The gradient, without noise, that opacus hands to its optimiser."""
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    wrapped = GradSampleModule(model)
    optimiser = DPOptimizer(
        torch.optim.SGD(wrapped.parameters(), lr=0.0),
        noise_multiplier=0.0,
        max_grad_norm=clip,
        expected_batch_size=expected,
    )
    nn.functional.cross_entropy(wrapped(records), labels).backward()
    optimiser.pre_step()
    return [parameter.grad for parameter in wrapped.parameters()]
