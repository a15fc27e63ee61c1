"""The prior of the small in-context classifier: random two-class tables.

A table has correlated columns, some of them cut into ordered levels, into categories whose codes
mean nothing, or heaped at one value. The log-odds of its class mix an additive part (one function
a column: most of what real tables hold), oblivious trees and a small network; labels are drawn,
so tables differ in noise as in class balance.
After Müller et al., arXiv 2112.10510 and Hollmann et al., arXiv 2207.01848.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

MOST_LEVELS = 16
TREES, DEPTH = 12, 3
HIDDEN = 16


@dataclass(frozen=True, eq=False)
class Tasks:
    """B tables of one size, in the order that TabPFN's network takes.

    X: float32 [rows, B, columns], every column as its quantile in the context, NaN if missing.
    y: float32 [rows, B], classes 0 and 1; both are in every context.
    context: the first rows, whose labels the network sees.
    """

    X: Tensor
    y: Tensor
    context: int


def draw_tasks(
    tasks: int, rows: int, context: int, columns: int, generator: torch.Generator
) -> Tasks:
    """Draw `tasks` tables of `rows` records; the first `context` are the labelled ones."""
    observed, effects = _columns(tasks, rows, columns, generator)
    log_odds = _log_odds(effects, generator)
    y = (_uniform(log_odds.shape, generator) < torch.sigmoid(log_odds)).float()
    for task in y:
        if len(task[:context].unique()) < 2:
            task[0] = 1 - task[0]
    X = _hide_some(context_quantiles(observed, context), generator)
    return Tasks(X.permute(1, 0, 2).contiguous(), y.T.contiguous(), context)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator)


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator)


def _columns(
    tasks: int, rows: int, columns: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """What a record shows and what each column does to the log-odds, both [B, R, F]."""
    latent = _correlated(tasks, rows, columns, generator)
    per_column = (tasks, 1, columns)
    levels = torch.randint(2, MOST_LEVELS + 1, per_column, generator=generator)
    skew = torch.exp(0.7 * _normal(per_column, generator))
    share = torch.special.ndtr(latent) ** skew
    level = (share * levels).long().clamp(max=MOST_LEVELS - 1)
    level = torch.minimum(level, levels - 1)
    codes = _uniform((tasks, columns, MOST_LEVELS), generator).argsort(-1)
    code = _look_up(codes, level).float()
    heaped = torch.maximum(latent, 1.5 * _normal(per_column, generator))
    smooth = _shapes(latent, generator)
    stepped = _shapes((level + 0.5) / levels * 3.4 - 1.7, generator)
    of_code = _look_up(_normal((tasks, columns, MOST_LEVELS), generator), level)
    # Even a category has an order that matters a little, as education has.
    of_code = of_code + _uniform(per_column, generator) * stepped
    kind = _uniform(per_column, generator)
    observed = torch.where(kind < 0.35, latent, torch.where(kind < 0.45, heaped, level.float()))
    effects = torch.where(
        kind < 0.35, smooth, torch.where(kind < 0.45, _shapes(heaped, generator), stepped)
    )
    category = kind > 0.72
    return torch.where(category, code, observed), torch.where(category, of_code, effects)


def _correlated(tasks: int, rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """Standard normal columns that share a few factors, [B, R, F]."""
    factors = _normal((tasks, rows, 4), generator)
    loadings = _normal((tasks, 4, columns), generator)
    loadings = loadings / loadings.norm(dim=1, keepdim=True)
    shared = 0.8 * _uniform((tasks, 1, 1), generator) * _uniform((tasks, 1, columns), generator)
    own = _normal((tasks, rows, columns), generator)
    return shared.sqrt() * (factors @ loadings) + (1 - shared).sqrt() * own


def _look_up(table: Tensor, level: Tensor) -> Tensor:
    """table[b, f, level[b, r, f]]: [B, F, L], [B, R, F] → [B, R, F]."""
    return torch.gather(table, 2, level.transpose(1, 2)).transpose(1, 2)


def _shapes(values: Tensor, generator: torch.Generator) -> Tensor:
    """One random function a column: a line, a bend, a step, a valley or a wave."""
    per_column = (values.shape[0], 1, values.shape[2])
    slope = torch.exp(0.6 * _normal(per_column, generator))
    shift = _normal(per_column, generator)
    at = slope * (values - shift)
    choice = _uniform(per_column, generator)
    curve = torch.where(choice < 0.65, torch.tanh(1.5 * at), torch.sigmoid(12 * at))
    curve = torch.where(choice < 0.75, curve, (values - shift).abs())
    curve = torch.where(choice < 0.9, curve, torch.sin(1.5 * at))
    return torch.where(choice < 0.45, values, curve)


def _log_odds(effects: Tensor, generator: torch.Generator) -> Tensor:
    """Log-odds of class 1, [B, R], from the columns' effects [B, R, F]."""
    tasks, _, columns = effects.shape
    effects = _standardised(effects)
    used = _uniform((tasks, 1, columns), generator) < 0.2 + 0.8 * _uniform((tasks, 1, 1), generator)
    weight = _normal((tasks, 1, columns), generator) * torch.exp(
        0.8 * _normal((tasks, 1, columns), generator)
    )
    parts = [
        (effects * weight * used).sum(-1),
        _trees(effects, generator),
        _network(effects * used, generator),
    ]
    mixture = torch.softmax(
        2 * _normal((tasks, 3), generator) + torch.tensor([2.0, 0.5, 0.0]), dim=1
    )
    shares = torch.stack([_standardised(values) for values in parts], dim=1)
    score = _standardised((mixture[:, :, None] * shares).sum(1))
    sharpness = torch.exp(math.log(0.5) + math.log(12) * _uniform((tasks, 1), generator))
    share = 0.08 + 0.84 * _uniform((tasks, 1), generator)
    cut = torch.stack([row.quantile(q) for row, q in zip(score, share[:, 0], strict=True)])
    return sharpness * (score - cut[:, None])


def _trees(effects: Tensor, generator: torch.Generator) -> Tensor:
    """A sum of oblivious trees, each a table over DEPTH thresholds, [B, R]."""
    tasks, rows, columns = effects.shape
    column = torch.randint(columns, (tasks, 1, TREES * DEPTH), generator=generator)
    asked = torch.gather(effects, 2, column.expand(-1, rows, -1))
    above = asked > 0.8 * _normal((tasks, 1, TREES * DEPTH), generator)
    bits = above.view(tasks, rows, TREES, DEPTH).long()
    leaf = (bits * 2 ** torch.arange(DEPTH)).sum(-1)
    return _look_up(_normal((tasks, TREES, 2**DEPTH), generator), leaf).sum(-1)


def _network(effects: Tensor, generator: torch.Generator) -> Tensor:
    """One hidden layer of HIDDEN units, [B, R]."""
    tasks, _, columns = effects.shape
    into = _normal((tasks, columns, HIDDEN), generator) / math.sqrt(columns)
    hidden = 1.5 * effects @ into + _normal((tasks, 1, HIDDEN), generator)
    relu = _uniform((tasks, 1, 1), generator) < 0.5
    hidden = torch.where(relu, torch.relu(hidden), torch.tanh(hidden))
    return (hidden * _normal((tasks, 1, HIDDEN), generator)).sum(-1)


def _standardised(values: Tensor) -> Tensor:
    """Mean 0 and standard deviation 1 over the rows (dimension 1)."""
    centred = values - values.mean(1, keepdim=True)
    return centred / (centred.std(1, keepdim=True) + 1e-6)


def context_quantiles(observed: Tensor, context: int) -> Tensor:
    """Every value as its mid-rank among the context's values of that column, in [0, 1]:
    what tabpfn's uniform quantile transform, stored with the weights, gives the network."""
    values = observed.transpose(1, 2).contiguous()
    known = values[..., :context].sort(-1).values
    below = torch.searchsorted(known, values)
    not_above = torch.searchsorted(known, values, right=True)
    return ((below + not_above) / (2.0 * context)).transpose(1, 2)


def _hide_some(X: Tensor, generator: torch.Generator) -> Tensor:
    """A few tables lose entries of a few columns."""
    tasks, _, columns = X.shape
    holey = (_uniform((tasks, 1, 1), generator) < 0.15) & (
        _uniform((tasks, 1, columns), generator) < 0.3
    )
    rate = 0.5 * _uniform((tasks, 1, columns), generator)
    return X.masked_fill(holey & (_uniform(X.shape, generator) < rate), float("nan"))
