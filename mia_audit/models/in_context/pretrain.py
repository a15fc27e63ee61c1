"""Pretrain the small in-context classifier on its prior.

python -m mia_audit.models.in_context.pretrain [STEPS] [FILE]

One thread, one seed; the log goes to the terminal. Hidden matrices learn by Muon (Jordan 2024,
as tabpfn's own architecture names the parameters for it), the rest by AdamW; the rate falls by a
cosine. Tables start narrow and short, where there is most to learn from each, and grow.
"""

import math
import sys
import time
from dataclasses import asdict
from pathlib import Path

import torch

from mia_audit.models.in_context import CHECKPOINT, MOST_COLUMNS
from mia_audit.models.in_context.prior import Tasks, draw_tasks

STEPS = 6500
SEED = 0
CELLS = 8_000  # of a step: tables × rows × (columns / 2 + 1)
LEAST_ROWS, MOST_ROWS = 80, 900
LEAST_COLUMNS = 3
ARCHITECTURE = {
    "max_num_classes": 2,
    "emsize": 64,
    "nlayers": 4,
    "nhead": 2,
    "features_per_group": 2,
}


def pretrain(steps: int, checkpoint: Path) -> None:
    """Train for `steps` steps and write the weights to `checkpoint` (under 2 MB)."""
    from tabpfn.architectures import ARCHITECTURES

    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    architecture = ARCHITECTURES["tabpfn_v2"]
    config, _ = architecture.parse_config(ARCHITECTURE)
    network = architecture.get_architecture(config).train()
    optimisers = _optimisers(network)
    generator = torch.Generator().manual_seed(SEED)
    start, losses = time.monotonic(), []
    for step in range(steps):
        for optimiser, rate in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate * _schedule(step, steps)
        tasks = _draw(step / steps, generator)
        losses.append((_step(network, tasks, optimisers), class_share_loss(tasks)))
        if (step + 1) % 100 == 0:
            loss, of_shares = torch.tensor(losses).mean(0).tolist()
            minutes = (time.monotonic() - start) / 60
            print(
                f"step {step + 1} minutes {minutes:.1f} loss {loss:.4f} "
                f"(class shares alone {of_shares:.4f})",
                flush=True,
            )
            losses.clear()
    _write(network.eval(), asdict(config), checkpoint)
    print(f"wrote {checkpoint.name}, {checkpoint.stat().st_size:,} bytes")


def _optimisers(network: torch.nn.Module) -> list[tuple[torch.optim.Optimizer, float]]:
    """Each optimiser with its highest rate."""
    hidden: set[torch.nn.Parameter] = network.muon_compatible_params()  # type: ignore[operator]
    rest = [p for p in network.parameters() if p not in hidden]
    muon = torch.optim.Muon(
        [p for p in network.parameters() if p in hidden],
        weight_decay=0.0,
        adjust_lr_fn="match_rms_adamw",
    )
    return [(muon, 4e-3), (torch.optim.AdamW(rest, weight_decay=0.0), 2e-3)]


def _schedule(step: int, steps: int) -> float:
    """A warm-up of 100 steps, then half a cosine."""
    return min(1.0, (step + 1) / 100) * 0.5 * (1 + math.cos(math.pi * step / steps))


def _draw(progress: float, generator: torch.Generator) -> Tasks:
    """Tables for one step, all of one size; `progress` in [0, 1] bounds that size."""

    def between(low: float, high: float) -> float:
        """Uniform on a logarithmic scale."""
        return low * (high / low) ** float(torch.rand(1, generator=generator))

    columns = round(between(LEAST_COLUMNS, 8 + (MOST_COLUMNS - 8) * min(1, 2 * progress)))
    rows = round(between(LEAST_ROWS, 300 + (MOST_ROWS - 300) * max(0, 2 * progress - 1)))
    tasks = max(1, round(CELLS / (rows * (columns / 2 + 1))))
    return draw_tasks(tasks, rows, round(rows * between(0.5, 0.8)), columns, generator)


def _step(
    network: torch.nn.Module,
    tasks: Tasks,
    optimisers: list[tuple[torch.optim.Optimizer, float]],
) -> float:
    """One update; the cross-entropy of the records after the context, in nats."""
    logits = network(tasks.X, tasks.y[: tasks.context])
    asked = tasks.y[tasks.context :].long()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), asked.flatten())
    network.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    for optimiser, _ in optimisers:
        optimiser.step()
    return loss.item()


def class_share_loss(tasks: Tasks) -> float:
    """The cross-entropy of answering every query with its context's share of class 1."""
    share = tasks.y[: tasks.context].mean(0)
    asked = tasks.y[tasks.context :]
    return torch.nn.functional.binary_cross_entropy(share.expand_as(asked), asked).item()


def _write(network: torch.nn.Module, config: dict, checkpoint: Path) -> None:
    """The file that TabPFNClassifier(model_path=…) loads, with the preprocessing of the prior."""
    from tabpfn.inference_config import InferenceConfig
    from tabpfn.preprocessing import PreprocessorConfig

    inference = InferenceConfig(
        PREPROCESS_TRANSFORMS=[PreprocessorConfig("quantile_uni_fine", categorical_name="numeric")],
        SOFTMAX_TEMPERATURE=1.0,
        N_ESTIMATORS=2,
        FINGERPRINT_FEATURE=False,
        MAX_NUMBER_OF_CLASSES=2,
        MAX_NUMBER_OF_FEATURES=MOST_COLUMNS,
        MAX_NUMBER_OF_SAMPLES=1000,
    )
    torch.save(
        {
            "state_dict": network.state_dict(),
            "config": config,
            "architecture_name": "tabpfn_v2",
            "inference_config": asdict(inference),
        },
        checkpoint,
    )


if __name__ == "__main__":
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    pretrain(steps, Path(sys.argv[2]) if len(sys.argv) > 2 else CHECKPOINT)
