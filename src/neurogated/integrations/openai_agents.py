"""OpenAI Agents SDK: a session that remembers."""

from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Conversation, ConversationEntry, last_question
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory import Session, SessionSettings
    from agents.run_config import CallModelData, ModelInputData

_LATEST = 64
"""Items of a session that are searched for the last message of the user."""


class MemorySession(Conversation, Session):
    """The items of one conversation. They come back as they went in, also in another process.

    `RunConfig(call_model_input_filter=session.add_memories)` adds memories of all sessions to the instructions.
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
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Open a conversation; see `Conversation`. A run reads `session_settings.limit` items."""
        given: dict[str, Any] = {"user_id": user_id, "agent_id": agent_id, "token_budget": token_budget}
        super().__init__(memory, session_id, options=options, **given)
        self.session_id, self.session_settings = session_id, session_settings
        self._recalled = ("", "")

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, oldest first; all without a limit."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await self.memory.aio.run(self.originals, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items."""
        if last_question(items):
            self._recalled = ("", "")  # the same question may have another answer by now
        await self.memory.aio.run(self.add, [ConversationEntry(item, item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete the newest item and return it; None if there is none."""
        return await self.memory.aio.run(self.pop)

    async def clear_session(self) -> None:
        """Delete all memories of the session."""
        await self.memory.aio.run(self.clear)

    async def add_memories(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input of the model with memories for the last message of the user after the instructions."""
        given = data.model_data
        # A nested handoff gives the next agent a summary, without the message of the user.
        question = last_question(given.input) or last_question(await self.get_items(_LATEST))
        if question and question != self._recalled[0]:
            self._recalled = (question, await self.context(question))
        parts = filter(None, (given.instructions, self._recalled[1] if question else ""))
        return ModelInputData(input=given.input, instructions="\n\n".join(parts) or None)
