"""The synthetic data of every measurement: a graph, vectors and texts of a given size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Synthetic", "load"]

COLUMNS = ("edges", "weights", "types", "vectors", "words")
QUESTION_WORDS = 10
NOISE = 0.3


class Asked(NamedTuple):
    """A question with a known answer."""

    node: int
    text: str
    vector: NDArray[np.float32]


class Synthetic(NamedTuple):
    """The arrays that `synth.py` describes, mapped from disk."""

    edges: NDArray[np.int32]
    weights: NDArray[np.float32]
    types: NDArray[np.int8]
    vectors: NDArray[np.float32]
    words: NDArray[np.int32]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.vectors)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the arrays of a folder into memory."""
        return cls(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in COLUMNS))

    def text(self, node: int) -> str:
        """Return the text of a node."""
        return as_text(self.words[node])

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of edges of each node."""
        return np.bincount(np.asarray(self.edges).ravel(), minlength=self.nodes)

    def ask(self, seed: int) -> Iterator[Asked]:
        """Yield endless questions: some words of a node, and a vector close to its vector."""
        rng = np.random.default_rng(seed)
        while True:
            node = int(rng.integers(self.nodes))
            words = rng.choice(self.words[node], min(QUESTION_WORDS, self.words.shape[1]), replace=False)
            yield Asked(node, f"What is {as_text(words)}?", near(self.vectors[node], rng))

    def new_texts(self, seed: int) -> Iterator[tuple[str, NDArray[np.float32], Asked]]:
        """Yield new texts, each with a vector and a question that it answers."""
        rng = np.random.default_rng(seed)
        length = self.words.shape[1]
        while True:
            words = self.words[rng.integers(self.nodes, size=length), rng.integers(length, size=length)]
            vector = near(self.vectors[rng.integers(self.nodes)], rng, noise=1.0)
            asked = as_text(rng.choice(words, min(QUESTION_WORDS, length), replace=False))
            yield as_text(words), vector, Asked(-1, f"What is {asked}?", near(vector, rng))


def as_text(words: NDArray[np.int32]) -> str:
    """Return word numbers as a text."""
    return " ".join(f"w{word}" for word in words)


def near(vector: NDArray[np.float32], rng: np.random.Generator, noise: float = NOISE) -> NDArray[np.float32]:
    """Return a unit vector near a unit vector; `noise` is about the tangent of their angle."""
    drawn = rng.standard_normal(vector.size, np.float32)
    found = vector + noise * drawn / np.linalg.norm(drawn)
    return found / np.linalg.norm(found)


def load(cache: Path, nodes: int, source: Path) -> Synthetic:
    """Return the data of `nodes` nodes; the script `source` makes it once, or the .npz file `source` holds it.

    Raises:
        SystemExit: the script or file does not exist.
    """
    folder = cache / "data" / f"{nodes}"
    if not all((folder / f"{name}.npy").exists() for name in COLUMNS):
        if not source.exists():
            raise SystemExit(f"{source} does not exist; give the script that makes the data, or a .npz, as --synth")
        folder.mkdir(parents=True, exist_ok=True)
        made = source
        if source.suffix == ".py":
            made = folder / "all.npz"
            subprocess.run([sys.executable, source, made, "--nodes", str(nodes)], check=True, stdout=subprocess.DEVNULL)
        with np.load(made) as arrays:
            for name in COLUMNS:
                np.save(folder / f"{name}.npy", arrays[name])
        if made != source:
            made.unlink()
    synthetic = Synthetic.read(folder)
    if synthetic.nodes != nodes:
        raise SystemExit(f"{source} holds {synthetic.nodes} nodes, not {nodes}; give another --nodes")
    return synthetic
