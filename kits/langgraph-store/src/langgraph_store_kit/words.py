"""An embedder for tests that needs no model: texts with the same words have similar vectors."""

import re
from zlib import crc32

DIMENSION = 256


def embed_words(texts: list[str]) -> list[list[float]]:
    """Return a vector of `DIMENSION` counts of words for each text. Texts without words have a vector, too."""
    return [_embed(text) for text in texts]


def _embed(text: str) -> list[float]:
    # The first number is not zero, since the cosine of a zero vector is undefined.
    vector = [0.1] + [0.0] * (DIMENSION - 1)
    for word in re.findall(r"\w+", text.lower()):
        vector[1 + crc32(word.encode()) % (DIMENSION - 1)] += 1.0
    return vector
