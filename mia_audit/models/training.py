"""The training loop of a stack: the same code on a CPU and, captured once, on a GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from mia_audit.models.batches import Schedule
from mia_audit.models.optimisers import SGD, Adam
from mia_audit.models.stacked import StackedMLP

Step = Callable[[torch.Tensor, torch.Tensor], None]


@contextmanager
def one_thread(device: str) -> Iterator[None]:
    """Keep torch to one thread on a CPU: products this small only wait for each other.

    A second OpenMP thread on a busy machine was measured 26 times slower than one.
    """
    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train_stack(
    network: StackedMLP,
    schedule: Schedule,
    generators: list[torch.Generator],
    optimiser: Adam | SGD,
    records: torch.Tensor,
    labels: torch.Tensor,
    *,
    epochs: int,
) -> None:
    """Train an initialised network in place.

    generators: one a slot, as the initialisation left them; records [N, F]; labels int64 [N].
    """

    def step(index: torch.Tensor, weights: torch.Tensor) -> None:
        network.forward(records, index)
        targets = labels.index_select(0, index.reshape(-1)).view_as(weights)
        network.set_loss_signal(targets, weights)
        network.propagate_signals()
        network.collect_gradient()
        optimiser.step()

    weights = schedule.weights.to(records)
    with torch.no_grad():
        run = _program(step, network, optimiser, weights)
        for _ in range(epochs):
            index = schedule.draw_epoch(generators).to(records.device)
            for batch_index, batch_weights in zip(index, weights, strict=True):
                run(batch_index, batch_weights)


def _program(step: Step, network: StackedMLP, optimiser: Adam | SGD, weights: torch.Tensor) -> Step:
    """The step itself on a CPU; on a GPU its capture as one CUDA graph."""
    if weights.device.type == "cpu":
        return step
    initial = network.parameters.clone()
    index = torch.zeros(weights[0, :, 0].shape, dtype=torch.int64, device=weights.device)
    run = capture(step, index, torch.zeros_like(weights[0]))
    network.parameters.copy_(initial)
    optimiser.reset()
    return run


def capture(step: Step, index: torch.Tensor, weights: torch.Tensor) -> Step:
    """Capture `step` as a CUDA graph that reads `index` and `weights`.

    The warm-up that a capture needs takes real steps: the caller restores the state after it.
    """
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(index, weights)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(index, weights)

    def replay(batch_index: torch.Tensor, batch_weights: torch.Tensor) -> None:
        index.copy_(batch_index)
        weights.copy_(batch_weights)
        graph.replay()

    return replay
