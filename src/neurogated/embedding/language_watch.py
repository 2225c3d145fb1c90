"""Warns if most texts of a memory are in languages that its embedder was not trained on."""

import logging
import re
from collections.abc import Sequence

from neurogated.text.keywords import language_of

_log = logging.getLogger(__name__)

_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHER_LETTERS = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
_FOREIGN_SHARE = 0.2
"""Share of letters of another script. A speaker is named in English before a text, so it need not be most."""
_ENOUGH = 10
"""Texts before a warning; a few quotations in another language make no memory of them."""
_READ = 400
"""Characters of a text that are read."""


class LanguageWatch:
    """Counts the texts of an English model, and warns once."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._texts = self._foreign = 0
        self._warned = False

    def count(self, texts: Sequence[str]) -> None:
        """Count `texts`; warn if most of all texts until now are in other languages than English."""
        if self._warned:
            return
        self._texts += len(texts)
        self._foreign += sum(map(_is_foreign, texts))
        if _are_most(self._foreign, self._texts):
            self._warned = True
            _log.warning(
                "%d of %d texts are not in English, the language of the embedder %s, so recalls find less; pip install "
                "'neurogated[multilingual]', then move the memory: neurogated migrate --embedding_name multilingual, "
                "with the --save_dir or --storage of the memory",
                self._foreign,
                self._texts,
                self._model,
            )


def finding_of(texts: Sequence[str]) -> str | None:
    """Return how many of the texts of a memory are not in English if most are not, else None.

    A command that adds one text counts only this text, so the log of none of them warns.
    """
    foreign = sum(map(_is_foreign, texts))
    if not _are_most(foreign, len(texts)):
        return None
    return f"{foreign} of the last {len(texts)} texts are not in English, so recalls find less"


def _are_most(foreign: int, texts: int) -> bool:
    return texts >= _ENOUGH and 2 * foreign > texts


def _is_foreign(text: str) -> bool:
    begin = text[:_READ]
    if not begin.isascii():
        others = len(_OTHER_LETTERS.findall(begin))
        if others > _FOREIGN_SHARE * (others + len(_LATIN.findall(begin))):
            return True
    return language_of(begin) != "en"
