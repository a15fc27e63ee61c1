"""python -m tests.benchmarks.dpsgd — DP-SGD for a stack against opacus, one model at a time.

Both sample Poisson batches and add noise; one thread; only training is timed. opacus runs with
its fastest way for this size, per-example gradients by hooks.
"""

import itertools
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from mia_audit.defences.dpsgd_training import Mechanism, Randomness, train_private_stack
from mia_audit.defences.poisson import pass_width
from mia_audit.models.mlp import MLP
from mia_audit.models.mlp_training import build_network, build_optimiser, draw_generators
from tests.benchmarks.alternate import Variant, alternate, print_table
from tests.models.tables import one_hot_table

NUM_RECORDS, NUM_TRAIN, BATCH, FEATURES, HIDDEN = 10_000, 5_000, 128, 104, [64, 64]
LEAST = 15.0


def train_one(epochs: int) -> None:
    """One model through opacus's PrivacyEngine."""
    from opacus import PrivacyEngine

    data = one_hot_table(NUM_RECORDS, FEATURES)
    layers = [nn.Linear(a, b) for a, b in itertools.pairwise((FEATURES, *HIDDEN, 2))]
    model = nn.Sequential(*[m for layer in layers for m in (layer, nn.ReLU())][:-1])
    table = TensorDataset(torch.from_numpy(data.X), torch.from_numpy(data.y))
    model, optimiser, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.Adam(model.parameters()),
        data_loader=DataLoader(Subset(table, range(NUM_TRAIN)), batch_size=BATCH, shuffle=True),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    loss = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for records, labels in loader:
            optimiser.zero_grad()
            loss(model(records), labels).backward()
            optimiser.step()


def train_many(num_models: int, epochs: int) -> None:
    """A full stack as `DPSGD.train` trains it."""
    data = one_hot_table(NUM_RECORDS, FEATURES)
    members = np.random.default_rng(0).random((num_models, NUM_RECORDS)) < 0.5
    model = MLP(hidden=HIDDEN, batch=BATCH)
    slots = np.arange(num_models)
    network = build_network(model, data, num_models, pass_width(BATCH))
    network.initialise(draw_generators(slots, slots, num_models), slots)
    with torch.no_grad():
        train_private_stack(
            network,
            build_optimiser(model, network),
            Mechanism(rate=BATCH / NUM_TRAIN, expected=BATCH, clip=1.0, noise_multiplier=1.0),
            torch.from_numpy(data.X),
            torch.from_numpy(data.y),
            [np.flatnonzero(row) for row in members],
            Randomness.of(slots, slots, num_models, "cpu"),
            epochs=epochs,
            steps=-(-NUM_TRAIN // BATCH),
        )


def main() -> int:
    """Print the table; exit status 1 if the ratio is missed."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    stack, epochs = MLP().stack("cpu"), 5
    ours = f"stack of {stack}"
    variants = [
        Variant("one model, opacus", lambda: train_one(1), 1 / epochs),
        Variant(ours, lambda: train_many(stack, epochs), stack),
    ]
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    timings = alternate(variants, rounds=rounds)
    shape = "-".join(map(str, (FEATURES, *HIDDEN, 2)))
    title = f"DP-SGD {shape}, Adam, batch {BATCH}, {NUM_TRAIN} records, {epochs} epochs"
    return 0 if print_table(title, timings, {ours: LEAST}) else 1


if __name__ == "__main__":
    sys.exit(main())
