"""Models that read two texts at once: cross-encoders of the sentence-transformers library, and ONNX graphs."""

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.extras import import_extra, no_loading_bar
from neurogated.embedding.exported_model import LOADING, load_graph
from neurogated.errors import ConfigError, EmbeddingError, LLMError, MissingExtraError

_EXTRA = "gpu"
_GRAPH, _TOKENIZER = "model.onnx", "tokenizer.json"
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Inputs of graphs, and the names of their values in the tokenizer."""
_MOST_TOKENS = 512
_PAIRS = 32
"""Pairs that a model reads together."""

Logits = Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]


class CrossEncoder:
    """A model that reads two texts at once, and puts the pair into a class or gives it one score.

    It runs on this machine and downloads nothing. The first pair loads it.
    """

    def __init__(self, model: str, setting: str) -> None:
        """Describe the model. Nothing is loaded yet.

        It is in the cache of Hugging Face by its name, or in a folder. A folder with `model.onnx`, `tokenizer.json` and
        `config.json` needs no torch. Messages name the setting.

        Raises:
            ConfigError: the folder does not exist, or holds no model.
            MissingExtraError: the packages that run it are not installed.
        """
        self._model, self._setting, folder = model, setting, Path(model)
        self._is_graph = (folder / _GRAPH).is_file()
        if folder.is_dir() or model.startswith((".", "/", "~")):
            needed = ("config.json", _TOKENIZER) if self._is_graph else ("config.json",)
            if missing := [name for name in needed if not (folder / name).is_file()]:
                raise ConfigError(f"{setting} is {model!r}, a folder without {' and '.join(missing)}")
        package = "tokenizers" if self._is_graph else "sentence_transformers"
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(f"package {package!r} is not installed; pip install 'neurogated[{_EXTRA}]'")
        self._loaded: tuple[tuple[str, ...], Logits] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes, from the model's configuration; loads the model."""
        return self._load()[0]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (n, classes): how probable each class of `labels` is for each pair. Raises LLMError."""
        scores = self._scores(pairs)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        found: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return found

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return (n,): how well the second text of each pair answers the first, 0–1. Raises LLMError."""
        scores = self._scores(pairs)
        if scores.shape[1] != 1 or len(self.labels) > 1:
            names = ", ".join(self.labels)
            raise LLMError(
                f"{self._setting} is {self._model!r}, whose classes are {names}; a model that ranks answers has one "
                "score, as those that were trained on MS MARCO have"
            )
        found: NDArray[np.float64] = 1 / (1 + np.exp(-scores[:, 0]))
        return found

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        logits = self._load()[1]
        parts = [logits(pairs[begin : begin + _PAIRS]) for begin in range(0, len(pairs), _PAIRS)]
        return np.concatenate(parts).astype(np.float64).reshape(len(pairs), -1)

    def _load(self) -> tuple[tuple[str, ...], Logits]:
        with LOADING:
            if self._loaded is None:
                try:
                    self._loaded = _from_folder(Path(self._model)) if self._is_graph else _from_library(self._model)
                except (OSError, ValueError, RuntimeError, EmbeddingError) as error:
                    raise LLMError(
                        f"cross-encoder {self._model!r} cannot be loaded ({error}); {self._setting} must name a "
                        "folder that has it, or a model that was downloaded before, as nothing is downloaded here"
                    ) from error
            return self._loaded


def _from_library(model: str) -> tuple[tuple[str, ...], Logits]:
    library = import_extra("sentence_transformers", _EXTRA)
    with no_loading_bar():
        loaded = library.CrossEncoder(model, local_files_only=True)

    def logits(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        given = [list(pair) for pair in pairs]
        return np.asarray(
            loaded.predict(given, show_progress_bar=False, activation_fn=lambda one: one), dtype=np.float32
        )

    return _labels_of(loaded.config.id2label), logits


def _from_folder(folder: Path) -> tuple[tuple[str, ...], Logits]:
    labels = _labels_of(json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label") or {})
    library = import_extra("tokenizers", _EXTRA)
    try:
        tokenizer = library.Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # the library raises no other class
        raise EmbeddingError(f"{_TOKENIZER}: {error}") from error
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.enable_padding()
    graph = load_graph(folder / _GRAPH, exact=True)
    names = [name for name in _INPUTS if name in graph.inputs]

    def logits(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        tokens = tokenizer.encode_batch(list(pairs))
        return graph.run(
            {name: np.array([getattr(one, _INPUTS[name]) for one in tokens], dtype=np.int64) for name in names}
        )

    return labels, logits


def _labels_of(labels: dict[Any, str]) -> tuple[str, ...]:
    return tuple(labels[number] for number in sorted(labels, key=int))
