"""Microsoft's Agent Framework: a context provider."""

from __future__ import annotations

from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.errors import InputError
from neurogated.integrations.conversation import ConversationOwner, add_said, context_for, last_question
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, SessionContext, SupportsAgentRun


class MemoryProvider(ContextProvider):
    """Adds memories to the instructions of a run, and stores what is said.

    The user is the argument `user_id`, or `session.state["user_id"]`.
    """

    def __init__(
        self,
        memory: NeuroGraphMemory,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        token_budget: int = CONTEXT_TOKENS,
        options: RecallOptions | None = None,
        source_id: str = "neurogated",
    ) -> None:
        """Take the scope, the maximum tokens of the memories, further options of the recall, and a name."""
        super().__init__(source_id)
        self._memory, self._user_id, self._agent_id = memory, user_id, agent_id
        self._budget, self._options = token_budget, options

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002
    ) -> None:
        """Recall memories for the last message of the user, and store the messages to answer.

        They are stored before the answer, so that they stay if the run fails or its stream is abandoned.
        """
        asked = [one.to_dict() for one in context.input_messages]
        question = last_question(asked)
        given = (self._memory, question, self._owner(session), self._budget, self._options)
        if question and (text := await self._memory.aio.run(context_for, *given)):
            context.extend_instructions(self.source_id, text)
        await self._memory.aio.run(add_said, self._memory, asked, self._owner(session))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002
    ) -> None:
        """Store the answers of the run."""
        said = [one.to_dict() for one in context.response.messages] if context.response else []
        await self._memory.aio.run(add_said, self._memory, said, self._owner(session))

    def _owner(self, session: AgentSession) -> ConversationOwner:
        user_id = self._user_id or session.state.get("user_id")
        if user_id is None:
            raise InputError('the run names no user; give user_id to the provider, or session.state["user_id"]')
        return {"user_id": user_id, "agent_id": self._agent_id, "session_id": session.session_id}
