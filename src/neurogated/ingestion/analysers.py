"""The analysis of new texts: vectors, names, causes, and importance, 0–1, with which a new memory starts.

Without a model, importance is how likely a text is evidence for some later question: a logistic regression over what
its statements say: how specific their words are, whether they are about their speaker, whether they tell a time or a
rule. Sentences that say nothing do not count, nor do marks, case and lead-ins. A chat with an assistant has a second
regression over the first: who speaks counts there, and how much the user has told before. `tools/fit_importance.py`
fits the coefficients.
"""

import contextvars
import logging
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, pairwise
from threading import Lock
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.contexts import remembered
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import packaged_json
from neurogated.core.model import MemoryEdge, MemoryNode, Vector, as_vector, checked_unit
from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, LanguageModel
from neurogated.core.rendering import search_text
from neurogated.core.scope import ScopeFilter
from neurogated.core.sentiment import SentimentScale
from neurogated.core.turns import place_of
from neurogated.core.view import GraphView
from neurogated.errors import LLMError
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.drafts import Analysed, Batch
from neurogated.ingestion.edge_builder import sequence_edges
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import split_keywords, words_of
from neurogated.text.names import names_in
from neurogated.text.normalise import plain_sentences, tokens_of
from neurogated.text.strings import SECTION, checked_name, checked_names, give_way, table_of
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


class Focus:
    """The present tasks of agents. Nothing of it is stored."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str | None, str | None], NDArray[np.float32]] = {}
        self._lock = Lock()

    def set(self, task: NDArray[np.float32] | None, user_id: str | None, session_id: str | None) -> None:
        """Set the vector of the task of a user's session, or clear it."""
        with self._lock:
            if task is None:
                self._tasks.pop((user_id, session_id), None)
            else:
                self._tasks[user_id, session_id] = task

    def task_of(self, user_id: str | None, session_id: str | None) -> NDArray[np.float32] | None:
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


ALONE = 2
"""Up to this many texts are embedded when they are taken, since the background thread would cost more than it saves."""


class EmbeddingAhead:
    """Embeds texts in a background thread until `take` returns their vectors. Use it in a `with` block of one thread.

    Texts are embedded in the order of the calls of `begin`. Leaving the block cancels the waiting calls and ends the
    background thread. `take` embeds one or two texts that are begun alone, such as a question and its answer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._thread: ThreadPoolExecutor | None = None
        # For each text, the call that embeds it and its row in the result.
        self._coming: dict[str, tuple[Future[NDArray[np.float32]], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def begin(self, texts: Iterable[str]) -> None:
        """Start to embed the texts that are not yet being embedded, each once. Does not wait."""
        new = [text for text in dict.fromkeys(texts) if text not in self._coming]
        if len(new) > ALONE:
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="embedding")
            call = self._thread.submit(contextvars.copy_context().run, self._embedder.embed_documents, new)
            self._coming.update((text, (call, row)) for row, text in enumerate(new))

    def take(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vector of each text, and forget the vectors. Raises the errors of the embedder."""
        self.begin(texts)
        coming = {text: self._coming.pop(text, None) for text in dict.fromkeys(texts)}
        vectors: dict[str, Vector] = {
            text: place[0].result()[place[1]] for text, place in coming.items() if place is not None
        }
        alone = [text for text in coming if text not in vectors]
        vectors |= zip(alone, self._embedder.embed_documents(alone), strict=True) if alone else ()
        return [vectors[text] for text in texts]

    def means(self, texts: Collection[Sequence[str]]) -> Iterator[NDArray[np.float32]]:
        """Yield a vector for each list of texts: the vector of a single text, or the normalised mean of several."""
        vectors = iter(self.take(list(chain.from_iterable(texts))) if texts else ())
        for several in texts:
            own = [np.asarray(next(vectors)) for _ in several]
            if len(own) > 1:
                mean = np.mean(own, axis=0)
                own = [mean / (np.linalg.norm(mean) or 1.0)]
            yield as_vector(own[0])


class OfflineEntityFinder:
    """Finds names by capital letters and quotation marks; see `text/names.py`."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, each once, in order of appearance."""
        return names_in(text)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Embeds the texts of a batch, and finds names, causes and importance; nothing is written.

    What one of the judges raises ends the write.
    """

    causal_judge: CausalJudge
    entity_finder: EntityFinder
    encoder: Encoder = field(default_factory=Encoder)

    def read(self, node: MemoryNode) -> MemoryNode:
        """Return a node with the names, the sentiment and the place in its text."""
        names = self._names(node)
        return self.encoder.read(node.changed(found=node.found.changed(entities=names)) if names else node)

    def analysed(
        self, batch: Batch, embedding: EmbeddingAhead, chunker: Chunker, focus: Focus, at: datetime
    ) -> Analysed:
        """Run the models on the texts of a batch, without a lock, and return the results."""
        old, nodes = batch.old, batch.nodes(at)
        texts = texts_to_embed(batch, nodes, chunker)
        embedding.begin(chain.from_iterable(texts.values()))
        # Names and causes need no vectors, so they are judged while the texts are embedded.
        new_ids = {node.id for node in nodes if node.id not in old}
        retold = {node.id for node in nodes if node.id in old and node.content != old[node.id].content}
        read = new_ids | retold
        names = {node.id: found for node in nodes if node.id in read and (found := self._names(node))}
        there = {name: node for name, node in old.items() if name not in batch.gone}
        there |= {node.id: node for node in nodes}
        # A batch may contain the same document twice, so a pair of neighbours may repeat.
        pairs = dict.fromkeys(chain.from_iterable(map(pairwise, batch.chains)))
        causes = [
            edge
            for pair in pairs
            if there.keys() >= set(pair) and not read.isdisjoint(pair)
            for edge in self._causes(there[pair[0]], there[pair[1]], at)
        ]
        sequences = {
            edge.key: edge
            for chained in batch.chains
            for edge in sequence_edges(chained, new_ids, at=at)
            if there.keys() >= {edge.source_id, edge.target_id}
        }
        sequences |= {key: MemoryEdge(*key, created_at=at) for key in batch.joined}
        vectors = dict(zip(texts, embedding.means(texts.values()), strict=True))
        ready = []
        for node in nodes:
            told = node.found.changed(entities=names[node.id]) if node.id in names else node.found
            ready.append(node.changed(found=told, embedding=vectors.get(node.id, node.embedding)))
        unjudged = {
            draft.id: draft.message or draft.content for draft in batch.to_write if "importance" not in draft.fields
        }
        new, known = ([node for node in ready if (node.id in new_ids) is is_new] for is_new in (True, False))
        return Analysed(
            new=self.encoder.encode(new, unjudged, batch.view, focus),
            known=[self.encoder.read(node) if node.id in retold else node for node in known],
            moved=vectors.keys() - new_ids,
            retold=retold,
            gone=batch.gone,
            sequences=tuple(sequences.values()),
            parted=batch.parted,
            causes=tuple(causes),
            at=at,
        )

    def _names(self, node: MemoryNode) -> tuple[str, ...]:
        give_way()
        return checked_names("found entities", self.entity_finder.find(node.content) or ())

    def _causes(self, first: MemoryNode, second: MemoryNode, at: datetime) -> list[MemoryEdge]:
        """Return the CAUSE edges of two texts: none, or one in each direction, with equal weights."""
        give_way()
        judgement = self.causal_judge.judge(first.content, second.content)
        if not judgement.is_causal:
            return []
        pairs = (first.id, second.id), (second.id, first.id)
        return [MemoryEdge(*pair, EdgeType.CAUSE, judgement.weight, created_at=at) for pair in pairs]


def texts_to_embed(batch: Batch, nodes: Iterable[MemoryNode], chunker: Chunker) -> dict[str, list[str]]:
    """Return the texts to embed by the ids of the nodes that need a new vector: several for a long text."""
    texts = {}
    for node in nodes:
        stored = batch.old.get(node.id)
        if stored is None:
            texts[node.id] = [search_text(node)]
        elif stored.embedding is None or search_text(stored) != search_text(node):
            chunks = chunker.split(node.content, search_text(replace(node, content="")))
            texts[node.id] = [search_text(replace(node, content=chunk)) for chunk in chunks]
    return texts
