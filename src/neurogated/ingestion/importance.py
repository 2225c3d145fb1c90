"""How likely a text is evidence for some later question: its importance, 0–1, with which a new memory starts.

Without a model, it is a logistic regression over what the statements of a text say: how specific their words are,
whether they are about their speaker, whether they tell a time or a rule. Sentences that say nothing do not count, nor
do marks, case and lead-ins. A chat with an assistant has a second regression over the first: who speaks counts there,
and how much the user has told before. `tools/fit_importance.py` fits the coefficients.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.contexts import remembered
from neurogated.core.extras import packaged_json
from neurogated.core.model import MemoryNode, checked_unit
from neurogated.core.ports import LanguageModel
from neurogated.core.scope import ScopeFilter
from neurogated.core.sentiment import SentimentScale
from neurogated.core.turns import place_of
from neurogated.core.view import GraphView
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import split_keywords, words_of
from neurogated.text.normalise import plain_sentences, tokens_of
from neurogated.text.strings import SECTION, checked_name, give_way, table_of
from neurogated.text.times import find_times

_TABLE = table_of(__package__, "importance_words")
_FIRST_PERSON = words_of(_TABLE["first_person"])
_SECOND_PERSON = words_of(_TABLE["second_person"])
_RULE = re.compile(
    r"\b(?:always|never|prefer|from now on|immer|niemals|nie|bevorzuge|ab jetzt|toujours|jamais|préfère|désormais"
    r"|siempre|nunca|prefiero|(?:your|deine|tes|tus) (?:answers|replies|antworten|réponses|respuestas))\b(?! mind\b)"
    r"|总是|永远|从不|以后都|一直|我更喜欢",
    re.IGNORECASE,
)
"""A lasting instruction or preference."""
_COMMON = frozenset(split_keywords(_TABLE["common"]))
"""Keywords of small talk and of advice; other keywords are specific."""

_COEFFICIENTS = "importance.json"
_USER = "user"
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_END = re.compile(r"(?<=[!?！？])\s+")
"""The end of a sentence, also before a small letter."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w*[.)]\s)")
_ASKED = re.compile(r"[^,，]*\Z")
"""The last clause of a sentence that ends with a question mark: "I have a test on Friday, can you help?"."""
_LEAST_WORDS = 3
"""Words of the clauses before it that state something."""
_MOST_KEYWORDS = 64
_SHORT = 6
"""Words of a text in which one "you" makes no address."""
_FEW = 2
_TOLD_BEFORE, _MOST_TOLD = 512, 1024
_LONG = 300
"""Characters of a message, such as a task, that counts less the more its user has told; a short fact does not."""
_MESSAGES = 8
"""Texts whose features are kept, since the pieces of a long message are judged one after another."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A text to judge: a message, or a passage of a document."""

    text: str
    role: str | None = None
    """`user`, `assistant`, or another."""
    speaker: str | None = None
    """The person who speaks."""
    earlier: int = 0
    """Number of earlier memories of its user; only counted in a chat."""


class OfflineImportanceJudge:
    """Judges the importance of texts by their words."""

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text, 0–1."""
        values, weights = list[float](), _coefficients()
        for remark in remarks:
            features = text_features(remark.text)
            value = _probability(features, weights["text"])
            if remark.role is not None and remark.speaker is None:  # in a chat of a user with an assistant
                value = _probability(chat_features(remark, features, value), weights["chat"])
            values.append(value)
        return values


_Clause = tuple[str, bool, frozenset[str]]
"""A sentence in lower case, whether it asks, and its keywords."""


@remembered(_MESSAGES)
def text_features(text: str) -> dict[str, float]:
    """Return the features of a text by name; of a long one, those of its beginning."""
    clauses = _clauses(text[:SECTION])
    # A greeting or "Guess what?" before a statement changes nothing.
    clauses = [one for one in clauses if not one[2] <= _COMMON] or [one for one in clauses if not one[1]] or clauses
    said = [one for one in clauses if not one[1]]
    stated = frozenset[str]().union(*[keywords for _, _, keywords in said])
    specific, asking = len(stated - _COMMON), len(clauses) - len(said)
    statements = " . ".join([one for one, _, _ in said])
    every = " . ".join([one for one, _, _ in clauses]) if asking else statements
    words = [word for word, _ in tokens_of(every)]
    own = [word for word, _ in tokens_of(statements)] if asking else words
    return {
        "specific": math.log2(1 + min(specific, _MOST_KEYWORDS)),
        "specific_share": specific / (len(stated) + _FEW),
        "questions": 1 - len(said) / max(1, len(clauses)),
        "own": float(not _FIRST_PERSON.isdisjoint(own)),
        "second_person": len([word for word in words if word in _SECOND_PERSON]) / max(_SHORT, len(words)),
        "times": float(bool(find_times(every))),
        "numbers": float(_NUMBER.search(every) is not None),
        "rule": float(_RULE.search(statements) is not None),
    }


def _clauses(text: str) -> list[_Clause]:
    clauses = list[tuple[str, bool]]()
    for sentence, is_question in plain_sentences(_END.sub("\n", _CODE.sub(" ", text))):
        plain = sentence.lower()
        asked = _ASKED.search(plain) if is_question else None
        if asked is not None and len(tokens_of(plain[: asked.start()])) > _LEAST_WORDS:
            clauses += ((plain[: asked.start()], False),)
            plain = asked[0]
        clauses += ((plain, is_question),)
    return [(plain, is_asked, frozenset(split_keywords(plain))) for plain, is_asked in clauses]


def chat_features(remark: Remark, features: Mapping[str, float], text: float) -> dict[str, float]:
    """Return the features of a message of a chat; `features` and the importance `text` are those of its text."""
    is_own = remark.role == _USER
    return {
        "text": text,
        "assistant": float(not is_own),
        "earlier": math.log2(1 + min(remark.earlier, _MOST_TOLD) / _TOLD_BEFORE) * min(1.0, len(remark.text) / _LONG),
        "own": features["own"] * is_own,
        "rule": features["rule"] * is_own,
    }


def _probability(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    logit = weights["intercept"] + sum([weights[name] * value for name, value in features.items()])
    return 1 / (1 + math.exp(-logit))


@lru_cache(maxsize=1)
def _coefficients() -> dict[str, dict[str, float]]:
    return packaged_json(__package__, _COEFFICIENTS)


_NO_IMPORTANCE = "none"
_TOGETHER = 16
"""Texts in a call: answers on more get out of step with the texts."""

_log = logging.getLogger(__name__)


class LLMImportanceJudge(OfflineImportanceJudge):
    """Asks a language model which texts are worth remembering, many texts in a call."""

    def __init__(self, llm: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig) -> None:
        self._llm = llm
        self._prompts = prompts
        self._config = config

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Return the importance of each text; where the model fails, that of the offline judge."""
        groups = (remarks[begin : begin + _TOGETHER] for begin in range(0, len(remarks), _TOGETHER))
        return list(chain.from_iterable(map(self._judged, groups)))

    def _judged(self, remarks: Sequence[Remark]) -> list[float]:
        heads = [remark.speaker or remark.role for remark in remarks]
        said = (f"{head}: {remark.text}" if head else remark.text for head, remark in zip(heads, remarks, strict=True))
        texts = "\n".join(f"{number}. {text}" for number, text in enumerate(said, 1))
        try:
            messages = self._prompts.render("importance", texts=texts)
            labels = self._llm.infer_json(messages, self._prompts.schema("importance"))["labels"]
        except LLMError as error:
            why = str(error)
        else:
            if len(labels) == len(remarks):
                return [0.0 if label == _NO_IMPORTANCE else self._config.llm.strength(label) for label in labels]
            why = f"the model judged {len(labels)} of them"
        _log.warning("the importance of %d texts is judged offline: %s", len(remarks), why)
        return super().judge(remarks)


# Share of its missing energy that a new memory gets if it is about the present task.
_FOCUS_GAIN = 0.5

Vector = NDArray[np.float32]


class Focus:
    """The present tasks of agents. Nothing of it is stored."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str | None, str | None], Vector] = {}
        self._lock = Lock()

    def set(self, task: Vector | None, user_id: str | None, session_id: str | None) -> None:
        """Set the vector of the task of a user's session, or clear it."""
        with self._lock:
            if task is None:
                self._tasks.pop((user_id, session_id), None)
            else:
                self._tasks[user_id, session_id] = task

    def task_of(self, user_id: str | None, session_id: str | None) -> Vector | None:
        """Return the vector of the task of a session, else of its user, else of all users."""
        if not self._tasks:
            return None
        with self._lock:
            keys = ((user_id, session_id), (user_id, None), (None, None))
            return next((self._tasks[key] for key in keys if key in self._tasks), None)


@dataclass(frozen=True, slots=True)
class Encoder:
    """Sets importance, energy, sentiment and place of new nodes."""

    judge: OfflineImportanceJudge | None = None
    """Judges the importance of texts for which the caller gives none; None leaves the default."""
    scale: SentimentScale | None = None
    """Reads the sentiment from vectors; None if the embedder has none."""

    def encode(
        self, nodes: Sequence[MemoryNode], texts: Mapping[str, str], view: GraphView, focus: Focus
    ) -> list[MemoryNode]:
        """Return the new nodes with importance and energy.

        Args:
            nodes: new nodes with their vectors.
            texts: the texts to judge by the ids of their nodes: of a piece of a message, the whole message. The others
                have an importance that the caller gave.
            view: the graph.
            focus: the present tasks; a node that is relevant to one starts with more energy than its importance.
        """
        judged = [node for node in nodes if node.id in texts]
        found: dict[str, float] = {}
        if self.judge is not None and judged:
            chatting = {node.scope.user_id for node in judged if node.role is not None and node.speaker is None}
            earlier = Counter[str | None]()
            for user_id in chatting:
                rows = view.rows_of_scopes(ScopeFilter(user_id, alone=True))
                earlier[user_id] = (view.live_nodes() if rows is None else view.alive.take(rows).nonzero()[0]).size
            # A piece of a message is judged by the whole message.
            remarks = []
            for node in judged:
                remarks.append(Remark(texts[node.id], node.role, node.speaker, earlier[node.scope.user_id]))
                earlier[node.scope.user_id] += 1
            found = dict(zip((node.id for node in judged), self.judge.judge(remarks), strict=True))
        encoded = []
        for node in nodes:
            give_way()
            importance = checked_unit("importance of node", node.id, found.get(node.id, node.importance))
            energy, task = importance, focus.task_of(node.scope.user_id, node.scope.session_id)
            if task is not None and node.embedding is not None:
                cosine = min(1.0, max(0.0, float(np.dot(task, np.asarray(node.embedding)))))
                energy += (1.0 - importance) * _FOCUS_GAIN * cosine
            encoded.append(self.read(node, importance=importance, base_energy=energy))
        return encoded

    def read(self, node: MemoryNode, **fields: float) -> MemoryNode:
        """Return the node with the sentiment and the place of its text, and with other values of some fields."""
        sentiment = None
        if self.scale is not None and node.embedding is not None:
            sentiment = self.scale.sentiment(np.asarray(node.embedding))
        place = place_of(node.metadata, node.content, node.found.entities)
        if place is not None:
            checked_name("found place", place)
        return node.changed(found=node.found.changed(sentiment=sentiment, place=place), **fields)
