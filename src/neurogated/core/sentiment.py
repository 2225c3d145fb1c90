"""The sentiment of a text, by its vector.

The direction from the mean vector of unhappy sentences to that of happy ones is known for some embedders;
`tools/fit_sentiment.py` computes it. A text has the sentiment 1 at the happy mean, -1 at the unhappy mean, and 0 in the
middle.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import packaged_json


@dataclass(frozen=True, eq=False)
class SentimentScale:
    """Reads the sentiment of a text from its vector."""

    direction: NDArray[np.float64]
    offset: float

    @classmethod
    def of_embedder(cls, name: str) -> Self | None:
        """Return the scale of an embedder; None if its direction is not known."""
        found = _directions().get(name)
        return None if found is None else cls(np.array(found["direction"]), found["offset"])

    def sentiment(self, vector: NDArray[np.float32]) -> float:
        """Return the sentiment of the text with this vector, -1 to 1."""
        return round(max(-1.0, min(1.0, float(self.direction @ vector - self.offset))), 2)

    @property
    def happy(self) -> NDArray[np.float32]:
        """The direction from unhappy to happy, of length 1."""
        return (self.direction / np.linalg.norm(self.direction)).astype(np.float32)

    def sentiments(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sentiments (n,) of texts by the cosines of their vectors with `happy`."""
        return np.clip(np.linalg.norm(self.direction) * cosines - self.offset, -1.0, 1.0)


@cache
def _directions() -> dict[str, Any]:
    return packaged_json(__package__, "sentiment.json")
