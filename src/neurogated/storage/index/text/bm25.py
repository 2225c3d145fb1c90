"""BM25: the parts of a text's score, and the statistics that they depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The parameters of Lucene and tantivy; Robertson and Zaragoza (2009) give the formula.
_K1 = 1.2
_B = 0.75
SATURATION = _K1 + 1
"""Upper bound of a word's part of a score, divided by the word's weight."""
# Lengths are rounded as in Lucene and tantivy: exact up to 40, then four significant bits of the excess over 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of all texts that BM25 needs for the words of one query."""

    texts: int
    keywords: int
    """Sum of the lengths of all texts."""
    frequencies: NDArray[np.int64]
    """How many texts hold each word of the query, in the order of the words' numbers."""


def rounded_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the lengths of texts, rounded as in tantivy."""
    excess = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # `frexp` returns the number of bits of an integer as its exponent, and 0 for 0.
    dropped = np.maximum(np.frexp(excess.astype(np.float64))[1] - _LENGTH_BITS, 0)
    return np.where(lengths > _EXACT_LENGTHS, (excess >> dropped << dropped) + _EXACT_LENGTHS, lengths).astype(np.int32)


def length_norm(lengths: NDArray[Any], mean: float) -> NDArray[np.float64]:
    """Return what texts of these lengths add to the count of a word in the divisor of its part of a score."""
    norm: NDArray[np.float64] = _K1 * (1 - _B + _B * lengths / mean)
    return norm
