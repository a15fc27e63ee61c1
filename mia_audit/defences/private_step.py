"""One step of DP-SGD for a whole stack: clipped gradients without per-example gradients.

A linear layer's gradient for one example is its input times its signal, so its norm is known
from theirs: ‖gradient‖² = Σ_layers (‖input‖² + 1) · ‖signal‖² (arXiv 1510.01799). Signals are
linear in the loss, so that the sum of clipped gradients is one product a layer on signals
rescaled by min(1, C / norm): no second backward pass (arXiv 2205.10683).
"""

import torch

from mia_audit.models.stacked import StackedMLP


def sum_clipped_gradients(
    network: StackedMLP,
    records: torch.Tensor,
    labels: torch.Tensor,
    passes: torch.Tensor,
    clip: float,
) -> None:
    """Set the network's gradient to the sum over a batch of gradients clipped to norm `clip`.

    passes: int64 [R, K, W] record numbers, −1 for padding.
    """
    total = None
    for index in passes:
        _one_pass(network, records, labels, index, clip)
        if len(passes) > 1:
            total = network.gradient.clone() if total is None else total.add_(network.gradient)
    if total is not None:
        network.gradient.copy_(total)


def _one_pass(
    network: StackedMLP,
    records: torch.Tensor,
    labels: torch.Tensor,
    index: torch.Tensor,
    clip: float,
) -> None:
    real = (index >= 0).to(records.dtype)
    index = index.clamp(min=0)
    network.forward(records, index.flatten())
    network.set_loss_signal(labels[index].unsqueeze(1), None)
    network.propagate_signals()
    scale = (clip / (example_norms(network) + 1e-6)).clamp_(max=1).mul_(real)
    for signal in network.signals[:-1]:
        signal.mul_(scale.unsqueeze(2))
    network.signals[-1].mul_(scale.unsqueeze(1))
    network.collect_gradient()


def example_norms(network: StackedMLP) -> torch.Tensor:
    """Norm of every example's gradient over all parameters, [K, W], from inputs and signals."""
    squares = torch.zeros_like(network.logits[:, 0])
    for layer, (inputs, signal) in enumerate(zip(network.inputs, network.signals, strict=True)):
        own = torch.linalg.vector_norm(inputs, dim=2).square_().add_(1)
        classes_first = layer == len(network.signals) - 1
        length = torch.linalg.vector_norm(signal, dim=1 if classes_first else 2)
        squares.addcmul_(own, length.square_())
    return squares.sqrt_()


def add_noise(
    network: StackedMLP, noise: torch.Tensor, generators: list[torch.Generator], scale: float
) -> None:
    """Add N(0, scale²) to every model's gradient, drawn by the model's own generator.

    noise: a buffer [K, parameters of one model], overwritten.
    """
    for row, generator in zip(noise, generators, strict=True):
        row.normal_(generator=generator)
    start = 0
    for pair in zip(network.weight_gradients, network.bias_gradients, strict=True):
        for gradient in pair:
            size = gradient[0].numel()
            gradient.add_(noise[:, start : start + size].view_as(gradient), alpha=scale)
            start += size
