"""Names of communities: the words that distinguish their memories from those of the others (class-based TF-IDF).

M. Grootendorst: BERTopic: Neural topic modeling with a class-based TF-IDF procedure (2022). A language model may give
better names.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from neurogated.core.model import MemoryNode
from neurogated.core.ports import LanguageModel
from neurogated.core.quoting import plain
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import ENGLISH_STOP_WORDS, fold, split_keywords

# A name says more than a word.
_NAME = 2
_LEAST_LETTERS = 3
_MOST_LETTERS = 40


@dataclass(slots=True)
class Words:
    """The words of some memories of a community."""

    size: int
    """How many memories the community had."""
    memories: int
    """How many of them were read."""
    counts: Counter[str]
    """How many memories have each word, by its stem; those that name it count twice."""
    shown: dict[str, str]
    """A form of each word as it stands in a text."""


def words_in(nodes: Iterable[MemoryNode], size: int) -> Words:
    """Return the words, names and tags of memories of a community of `size`."""
    found = Words(size, 0, Counter(), {})
    for node in nodes:
        found.memories += 1
        names = {_clean(name) for name in (*node.found.entities, *node.found.names, *node.tags, node.title or "")}
        names |= {part for name in names for part in name.split()}
        weights = dict.fromkeys(_stems(names, found.shown), _NAME)
        for stem in _stems(_clean(node.content).split(), found.shown):
            weights.setdefault(stem, 1)
        for stem, weight in weights.items():
            found.counts[stem] += weight
    return found


def keywords_of(communities: Sequence[Words], most: int, chosen: Sequence[Words]) -> list[tuple[str, ...]]:
    """Return at most `most` words of each chosen one of the communities, the most distinctive first."""
    if not chosen:
        return []
    total = Counter[str]()
    spread = Counter[str]()
    for one in communities:
        total.update(one.counts)
        spread.update(one.counts.keys())
    mean = sum(total.values()) / max(1, len(communities))
    keywords = []
    for one in chosen:
        scores = {
            stem: count
            / max(1, one.memories)
            * math.log1p(mean / total[stem])
            * math.log1p(len(communities) / spread[stem])
            for stem, count in one.counts.items()
        }
        best = sorted(scores, key=lambda stem: (-scores[stem], stem))
        keywords.append(tuple(one.shown[stem] for stem in islice(_without_repetition(best), most)))
    return keywords


def _without_repetition(stems: Iterable[str]) -> Iterator[str]:
    """Yield the names and words that have a new word."""
    seen = set[str]()
    for stem in stems:
        words = set(stem.split())
        if not words <= seen:
            seen |= words
            yield stem


def _stems(words: Iterable[str], shown: dict[str, str]) -> set[str]:
    found = set()
    for word in words:
        if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS or fold(word) in ENGLISH_STOP_WORDS:
            continue
        stem = " ".join(split_keywords(word))
        if stem and not stem.isdigit():
            found.add(stem)
            shown.setdefault(stem, word)
    return found


def _clean(text: str) -> str:
    """Return the words of a text on one line."""
    return " ".join("".join(letter if letter.isalnum() or letter in "'-’" else " " for letter in plain(text)).split())


_KEYWORDS = 12
_LONGEST = 60

_log = logging.getLogger(__name__)


class CommunityNamer:
    """Asks a language model for short names."""

    most = 12
    """Communities that one call names."""

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager) -> None:
        """Take the model and the words of the request."""
        self._model, self._prompts = model, prompts

    def names(self, keywords: Sequence[Sequence[str]]) -> list[str]:
        """Return a name for each community by its keywords; empty where the model gave none that fits."""
        groups = "\n".join(", ".join(some[:_KEYWORDS]) for some in keywords)
        messages = self._prompts.render("community_names", groups=groups)
        try:
            answer = self._model.infer_json(messages, self._prompts.schema("community_names"))
        except LLMError as error:
            _log.warning("the language model named no communities: %s", error)
            return [""] * len(keywords)
        names = [" ".join(str(name).split()) for name in answer["names"]]
        if len(names) != len(keywords):
            _log.warning("the language model gave %d names for %d communities", len(names), len(keywords))
            return [""] * len(keywords)
        return [name if len(name) <= _LONGEST and "\0" not in name else "" for name in names]
