"""A character n-gram language model, small enough to train in a test and big enough to remember."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

PLAY = Path(__file__).resolve().parents[1] / "data_files" / "hamlet.txt"


class CharacterModel:
    """Interpolated n-gram model.

    p_k(v|context) = (count + strength·p_{k−1}(v)) / (total + strength), from a uniform p_{−1}.
    `order` characters of context at most; characters that are not in `alphabet` are not allowed.
    """

    def __init__(self, alphabet: str, *, order: int = 3, strength: float = 2.0) -> None:
        self.number = {character: i for i, character in enumerate(alphabet)}
        self.order, self.strength = order, strength
        self.counts: dict[tuple[int, ...], np.ndarray] = defaultdict(
            lambda: np.zeros(len(self.number))
        )

    def train(self, texts: Iterable[str]) -> CharacterModel:
        for text in texts:
            tokens = self.tokens(text)
            for t, token in enumerate(tokens):
                for length in range(min(self.order, t) + 1):
                    self.counts[tuple(tokens[t - length : t])][token] += 1
        return self

    def tokens(self, text: str) -> list[int]:
        return [self.number[character] for character in text]

    def distributions(self, text: str) -> np.ndarray:
        """Log-probabilities [T, V] of every next character."""
        tokens = self.tokens(text)
        table = np.empty((len(tokens), len(self.number)))
        for t in range(len(tokens)):
            p = np.full(len(self.number), 1 / len(self.number))
            for length in range(min(self.order, t) + 1):
                seen = self.counts.get(tuple(tokens[t - length : t]))
                if seen is None:
                    break
                p = (seen + self.strength * p) / (seen.sum() + self.strength)
            table[t] = p
        return np.log(table)


def passages(length: int = 130) -> list[str]:
    """Consecutive passages of the bundled play, whole lines of at least `length` characters."""
    found, lines = [], []
    for line in PLAY.read_text(encoding="utf-8").splitlines():
        lines.append(line)
        if sum(map(len, lines)) >= length:
            found.append(" ".join(lines)[:length])
            lines = []
    return found


def write_records(
    path: Path, model: CharacterModel, texts: dict[str, str], *, whole: bool = True
) -> None:
    """JSON lines of what a language model emits; `whole` adds the distributions."""
    with path.open("w", encoding="utf-8") as file:
        for name, text in texts.items():
            file.write(json.dumps(_record(model, name, text, whole)) + "\n")


def _record(model: CharacterModel, name: str, text: str, whole: bool) -> dict[str, object]:
    table, tokens = model.distributions(text), model.tokens(text)
    record: dict[str, object] = {
        "id": name,
        "text": text,
        "token_logprobs": _rounded(table[np.arange(len(tokens)), tokens]),
    }
    if whole:
        record["tokens"] = tokens
        record["token_distributions"] = [_rounded(row) for row in table]
    return record


def _rounded(values: np.ndarray) -> Sequence[float]:
    return np.round(values, 5).tolist()
