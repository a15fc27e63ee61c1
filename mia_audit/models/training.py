"""The training loop of a stack: the same code on a CPU and, captured once, on a GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from mia_audit.models.batches import Schedule
from mia_audit.models.optimisers import SGD, Adam
from mia_audit.models.recipe import Batch, Recipe
from mia_audit.models.stacked import StackedMLP

Step = Callable[..., None]  # of the tensors of one step


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
    recipe: Recipe | None = None,
) -> None:
    """Train an initialised network in place.

    generators: one a slot, as the initialisation left them; records [N, F]; labels int64 [N];
    recipe: plain training if None.
    """
    recipe = Recipe() if recipe is None else recipe

    def step(
        index: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, *drawn: torch.Tensor
    ) -> None:
        batch = Batch(index, targets, weights, drawn)
        recipe.forward(network, records, batch)
        recipe.set_signal(network, batch)
        recipe.propagate(network, batch)
        network.collect_gradient()
        optimiser.step()

    weights = schedule.weights.to(records)
    run = None
    with torch.no_grad():
        for epoch in range(epochs):
            index = schedule.draw_epoch(generators).to(records.device)
            targets = labels[index].unsqueeze(2)
            drawn = recipe.draw_epoch(epoch, len(index))
            for *batch, more in zip(index.flatten(1), targets, weights, drawn, strict=True):
                run = run or _program(step, network, optimiser, recipe, (*batch, *more))
                run(*batch, *more)
            recipe.end_epoch(network, records)
        recipe.finish(network)


def _program(
    step: Step,
    network: StackedMLP,
    optimiser: Adam | SGD,
    recipe: Recipe,
    example: tuple[torch.Tensor, ...],
) -> Step:
    """The step itself on a CPU; on a GPU its capture as one CUDA graph, by an example's shapes."""
    if network.parameters.device.type == "cpu":
        return step
    initial = network.parameters.clone()
    run = capture(step, *[value.clone() for value in example])
    network.parameters.copy_(initial)
    optimiser.reset()
    recipe.reset()
    return run


def capture(step: Step, *inputs: torch.Tensor) -> Step:
    """Capture `step` as a CUDA graph that reads the tensors `inputs`; a call fills them first.

    The warm-up that a capture needs takes real steps: the caller restores the state after it.
    """
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(*inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(*inputs)

    def replay(*batch: torch.Tensor) -> None:
        for held, value in zip(inputs, batch, strict=True):
            held.copy_(value)
        graph.replay()

    return replay
