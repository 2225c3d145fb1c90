"""Echoes: messages that only quote memories, and messages of the assistant that repeat recalled memories.

The words of a user, and those of an assistant who repeats them, are put into one person: "you keep", "I keep".
"""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import numpy as np

from neurogated.config.groups import MetabolismSettings
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.equal_text import depends_on_day, equal_key
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import CLOSING, GAP, LATER_LINE, OPENING, quoted, quoted_memory, sentences_of
from neurogated.core.scope import Scope
from neurogated.core.turns import same_name
from neurogated.core.view import GraphView
from neurogated.text.keywords import classes_of, words_of
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import table_of
from neurogated.text.times import find_times

# Users whose memories a process remembers.
_MOST_USERS = 1000

# Memories that recalls handed out last, and that can be echoed.
_ECHO_MEMORIES = 100

_LASTS = timedelta(hours=1)
"""The time after a recall in which messages can echo its memories."""


class HandedOut:
    """The memories that recalls have handed out lately, by owner. Several threads may use it. It holds ids only."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._is_on = settings.echoes != "off"
        self._lock = threading.Lock()
        self._ids: OrderedDict[tuple[str, str | None], OrderedDict[str, datetime]] = OrderedDict()

    def add(self, namespace: str, user_id: str | None, ids: Sequence[str], now: datetime) -> None:
        """Note the memories of a recall, best first."""
        if not self._is_on:
            return
        with self._lock:
            held = self._ids.setdefault((namespace, user_id), OrderedDict())
            self._ids.move_to_end((namespace, user_id))
            for name in reversed(ids[:_ECHO_MEMORIES]):
                held[name] = now
                held.move_to_end(name)
            while len(held) > _ECHO_MEMORIES:
                held.popitem(last=False)
            while len(self._ids) > _MOST_USERS:
                self._ids.popitem(last=False)

    def ids(self, namespace: str, user_id: str | None, now: datetime) -> list[str]:
        """Return the memories that were handed out lately, the latest first."""
        with self._lock:
            held = self._ids.get((namespace, user_id), OrderedDict[str, datetime]())
            since, until = now - _LASTS, now + _LASTS
            return [name for name, at in reversed(held.items()) if since <= at <= until]


_OMITTED = GAP.strip()
_ZONES = (UTC, timezone(timedelta(hours=-12)), timezone(timedelta(hours=14)))
"""Any zone has the day of one of these."""
_BREAK = re.compile(f"\n(?!{re.escape(LATER_LINE[1:])})")
"""Between two memories."""
_MARKS = re.compile(r"- (?:\([^()]*\) (?=[^:]))*")
"""The marks before the speaker or the day. A memory may have other marks later."""


def without_blocks(text: str, nodes: Sequence[MemoryNode]) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories among `nodes`, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added, except
    marks and whole sentences that were left out.
    """
    before, *parts = text.split(f"{OPENING}\n")
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        names = [_quoted(_bare(line), nodes) for line in _BREAK.split(block)] if closing else [None]
        if None not in names:
            found += [name for name in names if name is not None]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _bare(line: str) -> str:
    return _MARKS.sub("- ", line, count=1)


def _quoted(line: str, nodes: Sequence[MemoryNode]) -> str | None:
    """Return the memory whose line this is, whole or cut to sentences; None if it is none's."""
    for node, zone in product(nodes, _ZONES):
        head = _bare(quoted_memory(node, content="", zone=zone))
        if line == _bare(quoted_memory(node, zone=zone)):
            return node.id
        if _OMITTED in line and line.startswith(head) and _is_cut(_on_one_line(line.removeprefix(head)), node.content):
            return node.id
    return None


def _on_one_line(text: str) -> str:
    return " ".join(text.replace(LATER_LINE, " ").split())


def _is_cut(text: str, content: str) -> bool:
    """Return whether a text has only whole sentences of a memory, in their order, or the beginning of one of them."""
    sentences = [_on_one_line(quoted(one)) for one in sentences_of(content)]
    pieces = [piece.strip() for piece in text.split(_OMITTED) if piece.strip()]
    if len(pieces) == 1 and text.endswith(_OMITTED) and any(one.startswith(pieces[0]) for one in sentences):
        return True
    place = 0
    for piece in pieces:
        starts = (at for at in range(place, len(sentences)) if piece.startswith(sentences[at]))
        place = next((end for at in starts if (end := _end(sentences, at, piece))), 0)
        if not place:
            return False
    return bool(pieces)


def _end(sentences: Sequence[str], begin: int, piece: str) -> int:
    """Return the end of the sentences from `begin` on that are exactly a piece; 0 if there is none."""
    text = ""
    for end in range(begin, len(sentences)):
        text = f"{text} {sentences[end]}".strip()
        if len(text) >= len(piece):
            return end + 1 if text == piece else 0
    return 0


_QUOTES = ' \n\t"“”„«»「」『』'
_TABLE = table_of(__package__, "echo")
_FRAME = re.compile(_TABLE["frame"].replace("\n", ""), re.IGNORECASE)
"""Words by which an assistant says that the user said something."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=m\b|re\b|ve\b|ll\b|d\b))?", re.IGNORECASE)


_PERSONS = classes_of(_TABLE["persons"])
"""The words about oneself and those about the person to whom one speaks; both sides have the first of a line."""
_SPEAKER = words_of(_TABLE["speaker"])


def is_about_speaker(text: str) -> bool:
    """Return whether a text without quotation marks around it speaks of its speaker."""
    words = (found[0].lower() for found in _WORD.finditer(text))
    return text.strip()[:1] not in _QUOTES and ("我" in text or not _SPEAKER.isdisjoint(words))


def in_one_person(text: str) -> str:
    """Return a text whose words about its speaker and about the person addressed are the same words."""
    text = re.sub("[你您我](?:们)?", "我", text.strip(_QUOTES))
    text = re.sub(r"(?<=[a-z])['’](m|re|ve)\b", lambda found: _CUT[found[1].lower()], text, flags=re.IGNORECASE)
    return _WORD.sub(lambda found: _PERSONS.get(found[0].lower(), found[0]), text)


_CUT = {"m": " am", "re": " are", "ve": " have"}


def without_frame(said: str) -> str:
    """Return the words of an assistant without words such as "You mentioned that" and without quotation marks."""
    return _FRAME.sub("", said.strip(_QUOTES), count=1).strip(_QUOTES)


# Nearest memories with which a message of the assistant is compared.
_ECHO_CANDIDATES = 8

# Cosine from which a message of the assistant is compared with a memory; 0.4 suits all-MiniLM-L6-v2.
_ECHO_SIMILARITY = 0.4

_ASSISTANT = "assistant"
"""The role whose messages are compared with memories; memories of this role are not."""


def shares_of(message: MemoryNode, memories: Sequence[MemoryNode]) -> dict[str, float]:
    """Return the share of a message that each memory says, by id; empty if the message says anything else.

    Each sentence must equal a sentence of a memory, when both speak of the same person.
    """
    found = Counter[str]()
    for sentence in _sentences(message.content):
        source = next((one.id for one in memories if _says(one, sentence, message)), None)
        if source is None:
            return {}
        found[source] += 1
    return {name: count / found.total() for name, count in found.items()}


def _says(memory: MemoryNode, sentence: str, message: MemoryNode) -> bool:
    plain = without_frame(sentence)
    are_two = bool(memory.speaker and message.speaker and not same_name(memory.speaker, message.speaker))
    wanted = {equal_key(in_one_person(one)) for one in (sentence, plain)}
    for own in _sentences(memory.content):
        if equal_key(in_one_person(own)) not in wanted or (
            are_two and is_about_speaker(plain) and is_about_speaker(own)
        ):
            continue
        if message.said_at.date() == memory.said_at.date() or not depends_on_day(find_times(own)):
            return True
    return False


@dataclass(frozen=True, slots=True)
class EchoLinks:
    """A check of a writer that links echoes to the memories that they repeat. It works under the write lock."""

    store: GraphStorePort
    handed_out: Callable[[str | None], Sequence[str]]
    """Returns the ids of the memories that were handed out to a user."""
    blocks: Sequence[tuple[Scope, str | None, str, Sequence[str]]]
    """The owner, the role and the text of each message that only quotes memories, and the ids of these memories."""
    found: list[tuple[str, list[str]]] = field(default_factory=list)
    """The texts of the echoes, with the ids of the memories."""

    def added_to(self, delta: GraphDelta, fresh: Sequence[MemoryNode], view: GraphView) -> GraphDelta:
        """Return a delta with the ECHO edges of the messages among `fresh`."""
        put: list[MemoryEdge] = []
        for node in fresh:
            shares = self._shares(node, delta.removed_nodes, view)
            put += [MemoryEdge(node.id, name, EdgeType.ECHO, share, delta.at) for name, share in shares.items()]
            if shares:
                self.found.append((node.content, list(shares)))
        if not put:
            return delta
        kept = {edge.key for edge in put}
        removed = tuple(key for key in delta.removed_edges if key not in kept)
        return replace(delta, edges=(*delta.edges, *put), removed_edges=removed)

    def _shares(self, node: MemoryNode, gone: Sequence[str], view: GraphView) -> Mapping[str, float]:
        of_it = ((text, ids) for *about, text, ids in self.blocks if about == [node.scope, node.role])
        quoted = next((ids for text, ids in of_it if _is_message(node, text)), ())
        handed = quoted or (self.handed_out(node.scope.user_id) if node.role == _ASSISTANT else ())
        if not handed:
            return {}
        arcs = view.arcs(view.known_rows([node.id]), EdgeType.ECHO)
        # The user may have separated the message from memories.
        apart = view.names(arcs.target[arcs.weight == 0])
        rows = view.known_rows(set(handed).difference(gone, apart, (node.id,)))
        rows = rows[view.alive.take(rows)]
        if quoted:
            return {view.ids[row]: 1 / rows.size for row in rows.tolist()} if rows.size == len(quoted) else {}
        if node.embedding is None or not rows.size:
            return {}
        likeness = self.store.snapshot(view).similarities(np.asarray(node.embedding), rows)
        order = np.argsort(-likeness, kind="stable")[:_ECHO_CANDIDATES]
        nearest = rows[order[likeness[order] >= _ECHO_SIMILARITY]]
        memories = self.store.get_nodes(view.names(nearest), missing_ok=True)
        # Of one user; sessions without a user may be those of different persons.
        user, _, session = node.scope.owner
        owners = {(user, None), (user, session)}
        said = [
            one for one in memories if one.role != _ASSISTANT and (one.scope.owner[0], one.scope.owner[2]) in owners
        ]
        return shares_of(node, said)


def separated(view: GraphView, node_id: str, at: datetime) -> tuple[MemoryEdge, ...]:
    """Return the edges by which a message is an echo no more, for good; empty if it is none."""
    arcs = view.arcs(view.rows([node_id]), EdgeType.ECHO)
    targets = view.names(arcs.target[arcs.weight > 0])
    return tuple(MemoryEdge(node_id, target, EdgeType.ECHO, 0.0, at) for target in targets)


def _is_message(node: MemoryNode, text: str) -> bool:
    """Return whether a memory is the message with this text, or a piece of it."""
    return node.content.strip() == text.strip() or (node.found.part is not None and node.content in text)


def _sentences(text: str) -> list[str]:
    return [one for one in split_sentences(text) if any(map(str.isalnum, one))] or [text]
