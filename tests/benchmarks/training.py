"""python -m tests.benchmarks.training — many small perceptrons against one at a time.

The reference is the loop other tools run for each shadow model: DataLoader, autograd, Adam. All
variants use one thread. Only training is timed (initialisation and batch drawing included).
"""

import itertools
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from mia_audit.models.batches import make_schedule
from mia_audit.models.mlp import MLP
from mia_audit.models.mlp_training import build_network, build_optimiser, draw_generators
from mia_audit.models.training import train_stack
from tests.benchmarks.alternate import Timing, Variant, alternate, print_table
from tests.models.tables import one_hot_table

NUM_RECORDS, NUM_TRAIN, EPOCHS, BATCH, FEATURES = 10_000, 5_000, 30, 128, 104
LEAST = {(64, 64): 12.0, (256, 128): 2.5}


def train_one(hidden: tuple[int, ...], epochs: int) -> None:
    """One model as a DataLoader loop trains it."""
    data = one_hot_table(NUM_RECORDS, FEATURES)
    sizes = (FEATURES, *hidden, 2)
    layers = [nn.Linear(a, b) for a, b in itertools.pairwise(sizes)]
    model = nn.Sequential(*[m for layer in layers for m in (layer, nn.ReLU())][:-1])
    table = TensorDataset(torch.from_numpy(data.X), torch.from_numpy(data.y))
    loader = DataLoader(Subset(table, range(NUM_TRAIN)), batch_size=BATCH, shuffle=True)
    optimiser = torch.optim.Adam(model.parameters())
    loss = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for records, labels in loader:
            optimiser.zero_grad()
            loss(model(records), labels).backward()
            optimiser.step()


def train_many(hidden: tuple[int, ...], num_models: int, epochs: int) -> None:
    """A full stack as `MLP.train` trains it."""
    data = one_hot_table(NUM_RECORDS, FEATURES)
    members = np.random.default_rng(0).random((num_models, NUM_RECORDS)) < 0.5
    model = MLP(hidden=list(hidden), epochs=epochs, batch=BATCH)
    slots = np.arange(num_models)
    schedule = make_schedule(members, slots, num_slots=num_models, num_train=NUM_TRAIN, batch=BATCH)
    network = build_network(model, data, num_models, schedule.index_shape[2])
    generators = draw_generators(slots, slots, num_models)
    network.initialise(generators, slots)
    train_stack(
        network,
        schedule,
        generators,
        build_optimiser(model, network),
        torch.from_numpy(data.X),
        torch.from_numpy(data.y),
        epochs=epochs,
    )


def operations(hidden: tuple[int, ...]) -> float:
    """Floating-point operations of the products in training one model: outputs and weight
    gradients in every layer, signals in all but the first."""
    sizes = (FEATURES, *hidden, 2)
    products = [a * b for a, b in itertools.pairwise(sizes)]
    return 2.0 * (3 * sum(products) - products[0]) * NUM_TRAIN * EPOCHS


def large_product(size: int = 2048) -> None:
    """One large matrix product: the arithmetic limit of the machine."""
    a = torch.ones(size, size)
    torch.mm(a, a)


def measure(hidden: tuple[int, ...], stack: int, rounds: int) -> list[Timing]:
    """Reference, stacks and the limit for one shape; seconds are those of one whole model."""
    epochs = EPOCHS if hidden == (64, 64) else 6
    work = operations(hidden)
    variants = [
        Variant("one model, DataLoader", lambda: train_one(hidden, 2), 2 / EPOCHS),
        Variant(
            f"stack of {stack}", lambda: train_many(hidden, stack, epochs), stack * epochs / EPOCHS
        ),
        Variant("limit: one large product", large_product, 2 * 2048.0**3 / work),
    ]
    return alternate(variants, rounds=rounds)


def main() -> int:
    """Print the tables; exit status 1 if a ratio is missed."""
    torch.set_num_threads(1)
    stack = MLP().stack("cpu")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    reached = True
    for hidden, least in LEAST.items():
        timings = measure(hidden, stack, rounds)
        shape = "-".join(map(str, (FEATURES, *hidden, 2)))
        title = f"training {shape}, Adam, batch {BATCH}, {NUM_TRAIN} records, {EPOCHS} epochs"
        reached &= print_table(title, timings, {f"stack of {stack}": least})
        for timing in timings:
            print(f"  {timing.name}: {operations(hidden) / timing.seconds / 1e9:.1f} GFLOP/s")
    return 0 if reached else 1


if __name__ == "__main__":
    start = time.perf_counter()
    status = main()
    print(f"\n{time.perf_counter() - start:.0f} s")
    sys.exit(status)
