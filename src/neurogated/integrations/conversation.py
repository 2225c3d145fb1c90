"""What the doors share: conversations whose messages come back as they went in, and the turn that is being answered."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any, NamedTuple, TypedDict

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.model import MemoryNode
from neurogated.core.trace import RecalledMemory
from neurogated.errors import InputError
from neurogated.ingestion.document import ROLES
from neurogated.ingestion.messages import KEPT_ASIDE, ORIGINAL, read_message
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.text.strings import composed, repaired
from neurogated.utils.hash_utils import arrival_id, compute_mdhash_id

_log = logging.getLogger(__name__)
# Memories of a session that are searched for the present turn: most turns are short.
_TURN_SIZES = (16, 256)
_USER, _ASSISTANT = "user", "assistant"


class ConversationOwner(TypedDict, total=False):
    """The scope of a conversation's memories."""

    user_id: str | None
    agent_id: str | None
    session_id: str | None


class ConversationEntry(NamedTuple):
    """A message of a conversation."""

    message: Mapping[str, Any]
    """The message in the format of OpenAI or Anthropic, for `memory.add`."""
    original: Any
    """The same message as JSON values in the format of a framework."""


class Conversation:
    """The messages of one session of one user, in the order in which they were added.

    Memories of the session that were not added here are not among them.
    """

    def __init__(
        self,
        memory: NeuroGraphMemory,
        session_id: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        token_budget: int = CONTEXT_TOKENS,
        options: RecallOptions | None = None,
    ) -> None:
        """Take the scope, and how `context` recalls; other agents of the session see the messages, too."""
        self.memory, self._budget, self._options = memory, token_budget, options
        self._session: ConversationOwner = {"user_id": user_id, "session_id": session_id}
        self._owner: ConversationOwner = {**self._session, "agent_id": agent_id}

    async def context(self, question: str) -> str:
        """Return the memories of all sessions for a question as text; see `context_for`."""
        given = (self.memory, question, self._owner, self._budget, self._options)
        return await self.memory.aio.run(context_for, *given)

    def add(self, entries: Iterable[ConversationEntry]) -> None:
        """Store messages with the present time, in one change if they are few."""
        said = [{**one.message, "id": arrival_id("message-"), ORIGINAL: json.dumps(one.original)} for one in entries]
        add_said(self.memory, said, self._owner)

    def originals(self, limit: int | None = None) -> list[Any]:
        """Return the newest messages, oldest first; all if `limit` is None."""
        if limit is None:
            return _originals(newest(self.memory, self._session))
        size, total = limit, self.memory.count(**self._session)
        found = _originals(newest(self.memory, self._session, size))
        # A long message has several memories.
        while len(found) < limit and size < total:
            size *= 2
            found = _originals(newest(self.memory, self._session, size))
        return found[max(0, len(found) - limit) :]

    def pop(self) -> Any | None:  # noqa: ANN401 - a JSON value
        """Delete the newest message and return it; None if there is none."""
        sizes = [*_TURN_SIZES, None]
        while sizes:
            nodes = newest(self.memory, self._session, sizes[0])
            named = [node.id.partition("#")[0] for node in nodes if ORIGINAL in node.metadata]
            # A long message has several memories; the first one has the original.
            last = [node for node in nodes if node.id.partition("#")[0] == named[-1]] if named else []
            if not last:
                del sizes[0]
            # Another process that deletes the same message first gets it.
            elif self.memory.delete([node.id for node in last]):
                return _originals(last)[0]
        return None

    def clear(self) -> None:
        """Delete all memories of the session."""
        self.memory.delete(**self._session)


def message_ids(ids: Iterable[object], owner: ConversationOwner) -> list[str]:
    """Return the ids of the memories of messages by those of a framework; users and sessions never share one."""
    place = composed(f"{owner.get('user_id')}\0{owner.get('session_id')}")
    return [compute_mdhash_id(f"{place}\0{one}", prefix="message-") for one in ids]


def add_new(
    memory: NeuroGraphMemory, ids: Iterable[object], messages: Iterable[Mapping[str, Any]], owner: ConversationOwner
) -> None:
    """Store those messages, as `add_said` does, whose ids of a framework are not in the memory yet."""
    named = ({**one, "id": name} for name, one in zip(message_ids(ids, owner), messages, strict=True))
    add_said(memory, named, owner, replace=False)


def add_said(
    memory: NeuroGraphMemory, messages: Iterable[Mapping[str, Any]], owner: ConversationOwner, *, replace: bool = True
) -> None:
    """Store messages in the format of OpenAI or Anthropic, with the present time if they have none.

    Frameworks let agents choose roles of their own, such as `critic`. Such a role is the name of an assistant, and the
    log has a warning. The model has answered already, so no part is refused: a message with one that is not known is
    stored with its original.
    """
    said = list[Mapping[str, Any]]()
    for message in messages:
        role = message.get("role")
        if isinstance(role, str) and role.strip() and role.strip().casefold() not in ROLES:
            name = message.get("name") or role
            _log.warning("the role %r is not known; the message is stored as that of the assistant %r", role, name)
            message = {**message, "role": _ASSISTANT, "name": name}  # noqa: PLW2901 - the same message
        try:
            read_message(message)
        except InputError:
            message = {**message, ORIGINAL: json.dumps(message, default=str)}  # noqa: PLW2901
        said.append(message)
    memory.add(said, replace=replace, **owner)


def newest(memory: NeuroGraphMemory, session: ConversationOwner, limit: int | None = None) -> list[MemoryNode]:
    """Return the newest memories of a session of one user, in the order in which they were added."""
    offset = 0 if limit is None else max(0, memory.count(**session) - limit)
    # A user also finds memories without a user.
    own = memory.session.of_user(session.get("user_id"))
    return [node for node in memory.find(offset=offset, **session) if node.scope.user_id == own]


def last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last message of the user, in the format of OpenAI or Anthropic; "" without one."""
    asked = (read_message({ORIGINAL: one, **one}).text for one in reversed(messages) if one.get("role") == _USER)
    return next(asked, "").strip()


def recall_options(
    memory: NeuroGraphMemory,
    question: str,
    owner: ConversationOwner,
    options: RecallOptions | None = None,
    left_out: Iterable[str] = (),
) -> RecallOptions:
    """Return the options of a recall by which a session asks a question.

    It finds memories of all sessions of the user, and those of the agent or of none. It leaves out the memories with
    the ids `left_out` and the present turn, so that a question which is stored before it is asked does not answer
    itself.
    """
    return {
        "user_id": owner.get("user_id"),
        "agent_id": owner.get("agent_id"),
        "except_ids": [*left_out, *current_turn(memory, question, owner)],
        **(options or {}),
    }


def context_for(
    memory: NeuroGraphMemory,
    question: str,
    owner: ConversationOwner,
    token_budget: int,
    options: RecallOptions | None = None,
    *,
    left_out: Iterable[str] = (),
) -> str:
    """Return the memories for a question of a session as text, "" for a blank one; see `recall_options`."""
    question = repaired(question).strip()
    if not question:
        return ""
    chosen = recall_options(memory, question, owner, options, left_out)
    return memory.get_context(question, token_budget, **chosen).text


def current_turn(memory: NeuroGraphMemory, question: str, owner: ConversationOwner) -> list[str]:
    """Return the ids of the last message of the user if it asks `question` and has no answer yet.

    In a session, the calls of tools after it and their results belong to the turn, too.
    """
    session: ConversationOwner = {"user_id": owner.get("user_id")}
    if in_session := owner.get("session_id") is not None:
        session["session_id"] = owner["session_id"]
    for size in _TURN_SIZES:
        last = newest(memory, session, size)[::-1]
        if any(node.role == _USER for node in last):
            break
    if in_session and last and (last[0].role, last[0].kind) == (_ASSISTANT, "turn"):
        return []
    after = list(takewhile(lambda node: node.role != _USER, last))
    asked = takewhile(lambda one: one.role == _USER and one.content.strip() in question, islice(last, len(after), None))
    ids = [node.id for node in asked]
    return [*ids, *(node.id for node in after if in_session)] if ids else []


def details_of(memory: RecalledMemory) -> dict[str, Any]:
    """Return the metadata of a memory for documents of frameworks, with its score, kind and further fields."""
    node = memory.node
    own = {name: value for name, value in node.metadata.items() if name not in {ORIGINAL, KEPT_ASIDE}}
    fields = {
        "title": node.title,
        "role": node.role,
        "speaker": node.speaker,
        "session_id": node.scope.session_id,
        "timestamp": node.timestamp and node.timestamp.isoformat(),
    }
    known = {name: value for name, value in fields.items() if value is not None}
    return {**own, "score": memory.score, "kind": node.kind, **known}


def _originals(nodes: Sequence[MemoryNode]) -> list[Any]:
    return [json.loads(node.metadata[ORIGINAL]) for node in nodes if ORIGINAL in node.metadata]
