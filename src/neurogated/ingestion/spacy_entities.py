"""What a text names, told by a model of spaCy's."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

from neurogated.core.ports import EntityFinder
from neurogated.errors import ConfigError

__all__ = ["SpacyEntityFinder"]

# What spaCy's models call names; they find numbers, sums and dates besides.
_NAMES = frozenset(("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW"))
_NOT_NEEDED = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ARTICLE = re.compile(r"\A(?:the|an?)\s+", re.IGNORECASE)


class SpacyEntityFinder:
    """Finds names with a model of spaCy's, which is loaded on first use; may be used from several threads.

    Args:
        model: name of an installed model, such as `en_core_web_sm`, or its folder.
        elsewhere: finds names in texts with Chinese or Japanese characters, which an English model cannot read.
    """

    def __init__(self, model: str, elsewhere: EntityFinder) -> None:
        self._model = model
        self._elsewhere = elsewhere
        self._lock = threading.Lock()

    def find(self, text: str) -> tuple[str, ...]:
        """Return names as they are written, without an article before them, each once, in order of appearance.

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
    def _pipeline(self) -> Any:  # noqa: ANN401 - spaCy is not there when types are checked
        try:
            import spacy  # noqa: PLC0415 - an extra, and heavy

            return spacy.load(self._model, exclude=_NOT_NEEDED)
        except (ImportError, OSError) as error:
            raise ConfigError(
                f"entity_finder is spacy, but the model {self._model!r} cannot be loaded ({error}); "
                "install it with pip install 'neurogated[spacy]', or name one that is installed in spacy_model"
            ) from error
