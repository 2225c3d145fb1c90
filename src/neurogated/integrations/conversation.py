"""What the doors share: conversations whose messages come back as they went in, and the turn that is being answered."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any, NamedTuple

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.filters import FilterOptions
from neurogated.core.model import MemoryNode
from neurogated.core.trace import Recall, RecalledMemory
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


class ConversationEntry(NamedTuple):
    """A message of a conversation."""

    message: Mapping[str, Any]
    """The message in the format of OpenAI or Anthropic, for `memory.add`."""
    original: Any
    """The same message as JSON values in the format of a framework."""


class Conversation:
    """What one user says in one session, or in none, and what is recalled for it.

    Other agents of the session see the messages, too. Memories of the session that were not added by `add` have no
    original, and are not among the `originals`.
    """

    def __init__(
        self,
        memory: NeuroGraphMemory,
        session_id: str | None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        token_budget: int = CONTEXT_TOKENS,
        options: RecallOptions | None = None,
    ) -> None:
        """Take the scope, the maximum tokens of the memories in a context, and further options of the recall."""
        self.memory, self._budget, self._options = memory, token_budget, options
        self._user_id, self._agent_id, self._session_id = user_id, agent_id, session_id
        self._session: FilterOptions = {"user_id": user_id, "session_id": session_id}

    def recall(self, query: str, question: str = "") -> Recall:
        """Return the memories for a query, by which an agent may look for an answer to a `question`."""
        return self.memory.recall(query, **self._chosen(question or query))

    def context_for(self, question: str, left_out: Iterable[str] = ()) -> str:
        """Return the memories for a question as text, "" for a blank one.

        They are of all sessions of the user, and of the agent or of none. The memories with the ids `left_out` are not
        among them, nor the present turn, so that a question which is stored before it is asked does not answer itself.
        """
        question = repaired(question).strip()
        if not question:
            return ""
        return self.memory.get_context(question, self._budget, **self._chosen(question, left_out)).text

    async def context(self, question: str) -> str:
        """Return the memories for a question as `context_for` does, in a thread of the memory."""
        return await self.memory.aio.run(self.context_for, question)

    def message_ids(self, ids: Iterable[object]) -> list[str]:
        """Return the ids of the memories of messages by those of a framework; users and sessions never share one."""
        place = composed(f"{self._user_id}\0{self._session_id}")
        return [compute_mdhash_id(f"{place}\0{one}", prefix="message-") for one in ids]

    def add_new(self, ids: Iterable[object], messages: Iterable[Mapping[str, Any]]) -> None:
        """Store those messages, as `add_said` does, whose ids of a framework are not in the memory yet."""
        named = ({**one, "id": name} for name, one in zip(self.message_ids(ids), messages, strict=True))
        self.add_said(named, replace=False)

    def add_said(self, messages: Iterable[Mapping[str, Any]], *, replace: bool = True) -> None:
        """Store messages in the format of OpenAI or Anthropic in one change, with the present time if they have none.

        Frameworks let agents choose roles of their own, such as `critic`. Such a role is the name of an assistant, and
        the log has a warning. The model has answered already, so no part is refused: a message with one that is not
        known is stored with its original.
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
        session: Any = self._session
        self.memory.add(said, replace=replace, agent_id=self._agent_id, **session)

    def add(self, entries: Iterable[ConversationEntry]) -> None:
        """Store messages with their originals, as `add_said` does."""
        self.add_said(
            {**one.message, "id": arrival_id("message-"), ORIGINAL: json.dumps(one.original)} for one in entries
        )

    def originals(self, limit: int | None = None) -> list[Any]:
        """Return the newest messages that `add` stored, oldest first; all if `limit` is None."""
        if limit is None:
            return _originals(self._newest())
        size, total = limit, self.memory.count(**self._session)
        found = _originals(self._newest(size))
        # A long message has several memories.
        while len(found) < limit and size < total:
            size *= 2
            found = _originals(self._newest(size))
        return found[max(0, len(found) - limit) :]

    def pop(self) -> Any | None:  # noqa: ANN401 - a JSON value
        """Delete the newest message and return it; None if there is none."""
        sizes = [*_TURN_SIZES, None]
        while sizes:
            nodes = self._newest(sizes[0])
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

    def _chosen(self, question: str, left_out: Iterable[str] = ()) -> RecallOptions:
        return {
            "user_id": self._user_id,
            "agent_id": self._agent_id,
            "except_ids": [*left_out, *self._current_turn(question)],
            **(self._options or {}),
        }

    def _newest(self, limit: int | None = None) -> list[MemoryNode]:
        """Return the newest memories of the session of this user, in the order in which they were added."""
        offset = 0 if limit is None else max(0, self.memory.count(**self._session) - limit)
        # A user also finds memories without a user.
        own = self.memory.session.of_user(self._user_id)
        return [node for node in self.memory.find(offset=offset, **self._session) if node.scope.user_id == own]

    def _current_turn(self, question: str) -> list[str]:
        """Return the ids of the last message of the user if it asks `question` and has no answer yet.

        In a session, the calls of tools after it and their results belong to the turn, too.
        """
        for size in _TURN_SIZES:
            last = self._newest(size)[::-1]
            if any(node.role == _USER for node in last):
                break
        in_session = self._session_id is not None
        if in_session and last and (last[0].role, last[0].kind) == (_ASSISTANT, "turn"):
            return []
        after = list(takewhile(lambda node: node.role != _USER, last))
        asked = takewhile(
            lambda one: one.role == _USER and one.content.strip() in question, islice(last, len(after), None)
        )
        ids = [node.id for node in asked]
        return [*ids, *(node.id for node in after if in_session)] if ids else []


def last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last message of the user, in the format of OpenAI or Anthropic; "" without one."""
    asked = (read_message({ORIGINAL: one, **one}).text for one in reversed(messages) if one.get("role") == _USER)
    return next(asked, "").strip()


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
