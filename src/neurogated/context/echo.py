"""Finds echoes: words that came out of the memory and come back in a message of the assistant or in a quotation.

Only memories that a recall handed out lately can be echoed. What the user says herself is never an echo.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from html import unescape
from itertools import takewhile

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.judgements import RelationKind, StatementJudge
from neurogated.core.keywords import fold, split_keywords
from neurogated.core.model import MemoryNode
from neurogated.core.ports import Embedder
from neurogated.core.quoting import CLOSING, OPENING
from neurogated.core.sentences import split_sentences
from neurogated.core.words import split_words
from neurogated.errors import InputError

__all__ = ["ASSISTANT", "EchoFinder", "HandedOut"]

ASSISTANT = "assistant"
"""The role whose messages can be echoes."""
_CLOSEST = 3
_LEAST_WORDS = 2
_FEW = 3
_BLOCK = re.compile(f"{re.escape(OPENING)}\n(.*?){re.escape(CLOSING)}", re.DOTALL)
_QUOTED = re.compile(r"<memory\b[^>]*>(.*?)</memory>|^- (.*(?:\n {2}.*)*)$", re.DOTALL | re.MULTILINE)
_LEAD = re.compile("[^:]{1,80}: ")
# Words by which a speaker refers to what was said, up to the end of the clause.
_FRAME = re.compile(
    r"^.{0,40}?(?:\b(?:said|told|mentioned|remember|recall|noted|shared|gesagt|erzählt|erwähnt|erinnere|dit|rappelle"
    r"|mentionné|dijiste|dicho|mencionaste|recuerdo)\b|(?:说过|提到过|说|记得|提到))"
    r"(?:\s+(?:me|us|earlier|before|mich|mir))*[\s,:，：]*(?:\b(?:that|dass|que)\b)?[\s\"“”„«»]*",
    re.IGNORECASE,
)
# The second person as the first person of the same language.
_PERSONS = {
    "you are": "I am",
    "you're": "I'm",
    "you were": "I was",
    "you": "I",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "du bist": "ich bin",
    "du hast": "ich habe",
    "du": "ich",
    "dich": "mich",
    "dir": "mir",
    "dein": "mein",
    "deine": "meine",
    "deinen": "meinen",
    "deinem": "meinem",
    "deiner": "meiner",
    "tu es": "je suis",
    "tu as": "j'ai",
    "tu": "je",
    "ton": "mon",
    "ta": "ma",
    "tes": "mes",
    "tú": "yo",
}
_SECOND = re.compile(rf"\b(?:{'|'.join(sorted(_PERSONS, key=len, reverse=True))})\b", re.IGNORECASE)
_SECOND_HAN = re.compile("[你您]")
_FIRST = re.compile(r"\bI(?: am|'m)?\b|\b[Mm]y\b")


class HandedOut:
    """The memories that recalls have handed out lately, by owner. Several threads may use it. It holds ids only."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._most, self._owners = settings.echo_memories, settings.canvas_count
        self._lasts = timedelta(minutes=settings.echo_minutes)
        self._lock = threading.Lock()
        self._ids: OrderedDict[tuple[str, str | None], OrderedDict[str, datetime]] = OrderedDict()

    def add(self, namespace: str, user_id: str | None, ids: Sequence[str], now: datetime) -> None:
        """Note the memories of a recall, best first."""
        if not self._lasts or not self._most:
            return
        with self._lock:
            held = self._ids.setdefault((namespace, user_id), OrderedDict())
            self._ids.move_to_end((namespace, user_id))
            for name in reversed(ids[: self._most]):
                held[name] = now
                held.move_to_end(name)
            while len(held) > self._most:
                held.popitem(last=False)
            while len(self._ids) > self._owners:
                self._ids.popitem(last=False)

    def ids(self, namespace: str, user_id: str | None, now: datetime) -> list[str]:
        """Return the memories that were handed out lately, the latest first."""
        with self._lock:
            held = self._ids.get((namespace, user_id), OrderedDict[str, datetime]())
            return [name for name, at in reversed(held.items()) if abs(now - at) <= self._lasts]


class EchoFinder:
    """Compares messages with memories that were handed out."""

    def __init__(self, judge: StatementJudge, embedder: Embedder, nodes: Sequence[MemoryNode], least: float) -> None:
        """Take the memories; sentences of less cosine than `least` are not compared."""
        self._judge = judge
        self._embedder = embedder
        self._nodes = nodes
        self._least = least
        self._said: dict[tuple[str, ...], str] = {}
        for node in nodes:
            for one in (node.content, *_sentences(node.content)):
                self._said.setdefault(tuple(split_words(one)), node.id)

    def outside(self, text: str) -> tuple[str, list[str]]:
        """Return a text without the quotation blocks that have handed-out memories only, and the ids of these."""
        found: list[str] = []

        def kept(block: re.Match[str]) -> str:
            quoted = [unescape(whole or line) for whole, line in _QUOTED.findall(block[1])]
            ids = [self._quoted(one) for one in quoted]
            if not ids or None in ids:
                return block[0]
            found.extend(name for name in ids if name is not None)
            return ""

        return _BLOCK.sub(kept, text).strip(), found

    def repeated(self, text: str) -> list[str]:
        """Return the ids of the memories that a text repeats; none if one of its sentences says anything else."""
        sentences = [one for one in _sentences(text) if split_keywords(one)]
        if not sentences or len(split_words(text)) < _LEAST_WORDS:
            return []
        found = [self._source(text)] if len(sentences) <= _FEW else [None]
        if found == [None] and len(sentences) > 1:
            found = list(takewhile(bool, map(self._source, sentences)))
            found += [None] * (len(found) < len(sentences))
        return [] if None in found else list(dict.fromkeys(name for name in found if name))

    def _quoted(self, text: str) -> str | None:
        """Return the memory of a quoted line, which may begin with a speaker."""
        for one in (text, _LEAD.sub("", text, count=1)):
            if (name := self._said.get(tuple(split_words(one)))) is not None:
                return name
        return None

    def _source(self, sentence: str) -> str | None:
        forms = list(dict.fromkeys(form for form in _forms(sentence) if split_keywords(form)))
        for form in forms:
            if (name := self._said.get(tuple(split_words(form)))) is not None:
                return name
        for node, own in self._closest(forms[-1]) if forms else ():
            if any(self._says_same(form, own, node) for form in forms):
                return node.id
        return None

    def _closest(self, sentence: str) -> list[tuple[MemoryNode, str]]:
        """Return the sentences of memories that are most similar to a sentence, each with its memory, best first."""
        vector = self._embedder.embed_documents([sentence])[0]
        near = [
            (float(vector @ node.embedding), place)
            for place, node in enumerate(self._nodes)
            if node.embedding is not None
        ]
        nodes = [self._nodes[place] for _, place in sorted(near, key=lambda one: (-one[0], one[1]))[:_CLOSEST]]
        told = [(node, own) for node in nodes for own in dict.fromkeys((node.content, *_sentences(node.content)))]
        if not told:
            return []
        closeness = self._embedder.embed_documents([own for _, own in told]) @ vector
        best = [place for place in (-closeness).argsort(kind="stable").tolist() if closeness[place] >= self._least]
        return [told[place] for place in best[:_CLOSEST]]

    def _says_same(self, sentence: str, own: str, node: MemoryNode) -> bool:
        """Return whether a sentence says the same as one of a memory."""
        told = [own]
        if node.speaker and fold(node.speaker) in fold(sentence):
            told.append(_FIRST.sub(node.speaker, own))
        for one in told:
            try:
                relation = self._judge.compare(one, sentence)
            except InputError:
                # The judge reads no longer texts.
                return False
            if relation.is_conflict:
                return False
            if relation.kind is RelationKind.DUPLICATE:
                return True
        return False


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in split_sentences(text) if one.strip()]


def _forms(sentence: str) -> Iterator[str]:
    """Yield a sentence as it is, and as its hearer would say it, with and without the words that report it."""
    for one in (sentence, _FRAME.sub("", sentence, count=1)):
        for form in (one, _as_first_person(one)):
            yield form.strip().strip('"“”„«»').strip()


def _as_first_person(sentence: str) -> str:
    shifted = _SECOND.sub(lambda found: _PERSONS[found[0].lower()], sentence)
    return _SECOND_HAN.sub("我", shifted)
