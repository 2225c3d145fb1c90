"""Pydantic AI: a history that is stored, and memories before the last message; see `pydantic_ai_tools` for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Conversation, Entry, Owner, context_for
from neurogated.integrations.pydantic_ai_tools import text_of
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("pydantic-ai"):
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolReturnPart,
        UserPromptPart,
    )

_MARK = "neurogated"
"""The key in the metadata of a request that has memories; its value is the question."""


class MemoryHistory:
    """The messages of one conversation. They come back as they went in, also in another process.

    `ProcessHistory(history.add_memories)` puts memories of all conversations before the last message of the user.
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
        """Take the scope, the maximum tokens of the memories, and further options of the recall."""
        self._conversation = Conversation(memory, session_id, user_id=user_id, agent_id=agent_id)
        self._owner: Owner = {"user_id": user_id, "agent_id": agent_id, "session_id": session_id}
        self._budget, self._options = token_budget, options

    def load(self) -> list[ModelMessage]:
        """Return all messages, as the `message_history` of a run."""
        return ModelMessagesTypeAdapter.validate_python(self._conversation.originals())

    def save(self, messages: Sequence[ModelMessage]) -> None:
        """Store the `new_messages()` of a run."""
        said = [one for one in messages if _MARK not in (one.metadata or {})]
        originals = ModelMessagesTypeAdapter.dump_python(said, mode="json")
        self._conversation.add(map(Entry, map(_message, said), originals))

    async def add_memories(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """Return the messages with memories, which are recalled once for each message of the user."""
        asked = [place for place, one in enumerate(messages) if _question(one)]
        if not asked:
            return messages
        place, question = asked[-1], _question(messages[asked[-1]])
        if place and (messages[place - 1].metadata or {}).get(_MARK) == question:
            return messages
        memory = self._conversation.memory
        text = await memory.aio.run(context_for, memory, question, self._owner, self._budget, self._options)
        memories = [ModelRequest([SystemPromptPart(text)], metadata={_MARK: question})] if text else []
        before = [one for one in messages[:place] if _MARK not in (one.metadata or {})]
        return [*before, *memories, *messages[place:]]


def _question(message: ModelMessage) -> str:
    prompts = [one.content for one in message.parts if isinstance(one, UserPromptPart)]
    return "\n".join(filter(None, map(text_of, prompts)))


def _message(message: ModelMessage) -> dict[str, Any]:
    if isinstance(message, ModelResponse):
        calls = [{"name": call.tool_name, "args": call.args} for call in message.tool_calls]
        texts = [part.content for part in message.parts if isinstance(part, TextPart)]
        return {"role": "assistant", "content": "\n".join(texts), "tool_calls": calls or None}
    if question := _question(message):
        return {"role": "user", "content": question}
    results = [part.model_response_str() for part in message.parts if isinstance(part, ToolReturnPart)]
    return {"role": "tool" if results else "system", "content": "\n".join(results)}
