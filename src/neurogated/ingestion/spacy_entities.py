"""Names in a text, from a spaCy model."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

from neurogated.core.ports import EntityFinder
from neurogated.errors import ConfigError

# Labels of names in spaCy's models, which also find numbers, sums and dates.
_NAMES = frozenset(("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW"))
_NOT_NEEDED = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ARTICLE = re.compile(r"\A(?:the|an?)\s+", re.IGNORECASE)


class SpacyEntityFinder:
    """Finds names with a spaCy model, which is loaded on first use. Thread-safe.

    Args:
        model: name of an installed model, such as `en_core_web_sm`, or its folder.
        elsewhere: finder for texts with Chinese or Japanese characters, which an English model cannot read.
    """

    def __init__(self, model: str, elsewhere: EntityFinder) -> None:
        self._model = model
        self._elsewhere = elsewhere
        self._lock = threading.Lock()

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, without a leading article, each once, in order of appearance.

        Raises:
            ConfigError: spaCy or the model is not installed.
        """
        if _HAN.search(text):
            return self._elsewhere.find(text)
        with self._lock:
            entities = self._pipeline(text).ents
        names = (_ARTICLE.sub("", entity.text).strip() for entity in entities if entity.label_ in _NAMES)
        return tuple(dict.fromkeys(filter(None, names)))

    @functools.cached_property
    def _pipeline(self) -> Any:  # noqa: ANN401 - type checks run without spaCy
        try:
            import spacy  # noqa: PLC0415 - a heavy optional package

            return spacy.load(self._model, exclude=_NOT_NEEDED)
        except (ImportError, OSError) as error:
            raise ConfigError(
                f"indexing.entity_finder is spacy, but the model {self._model!r} cannot be loaded ({error}); "
                "install it with pip install 'neurogated[spacy]', or set indexing.spacy_model to an installed model"
            ) from error
