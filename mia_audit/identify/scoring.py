"""Scores of texts from JSON lines of {id, text, token_logprobs}; higher = more likely a member.

token_logprobs       [T] natural log-probability of each token given those before it; a first
                     entry of null (nothing stands before it) is left out
text                 the text itself, for `zlib`
token_distributions  [T, V] log-probability of every token of the vocabulary, for
                     `modified_entropy` and `renyi_k`
tokens               [T] the text's token numbers, positions in V, for `modified_entropy`
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mia_audit.data.reading import did_you_mean
from mia_audit.identify.settings import Score
from mia_audit.identify.source import SourceFile
from mia_audit.stats import signals

NEEDED = {
    Score.perplexity: ("token_logprobs",),
    Score.zlib: ("token_logprobs", "text"),
    Score.min_k: ("token_logprobs",),
    Score.modified_entropy: ("token_distributions", "tokens"),
    Score.renyi_k: ("token_distributions",),
}


def score_records(
    file: SourceFile, records: list[dict[str, Any]], score: Score
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The score [N] of every record; k is 20 % for `min_k`, 10 % and order ½ for `renyi_k`.

    Raises ValueError naming the record that lacks a field or holds one that cannot be used.
    """
    values = np.empty(len(records))
    for position, record in enumerate(records):
        for name in NEEDED[score]:
            if record.get(name) is None:
                raise ValueError(
                    f"{file}, record {position + 1} has no {name!r}{did_you_mean(name, record)};"
                    f" score={score.value} needs it."
                )
        try:
            values[position] = score_record(record, score)
        except (ValueError, TypeError) as fault:
            raise ValueError(f"{file}, record {position + 1}: {fault}") from fault
    return values


def score_record(record: dict[str, Any], score: Score) -> float:
    """The score of one record that has all fields `score` needs."""
    match score:
        case Score.perplexity:
            return signals.perplexity(_known(record["token_logprobs"]))
        case Score.zlib:
            return signals.zlib_ratio(_known(record["token_logprobs"]), record["text"])
        case Score.min_k:
            return signals.min_k(_known(record["token_logprobs"]))
        case Score.modified_entropy:
            table, tokens = _known(record["token_distributions"]), _known(record["tokens"])
            if len(tokens) == len(table) + 1:  # nothing is predicted about the first token
                tokens = tokens[1:]
            return float(signals.modified_entropy(table, np.asarray(tokens)).mean())
        case Score.renyi_k:
            return signals.renyi_k(_known(record["token_distributions"]))


def _known(values: list[Any]) -> list[Any]:
    """All but a first entry of null."""
    return values[1:] if len(values) > 0 and values[0] is None else values
