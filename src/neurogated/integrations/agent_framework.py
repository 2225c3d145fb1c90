"""Microsoft's Agent Framework: a context provider."""

from functools import partial
from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.errors import InputError
from neurogated.integrations.conversation import Conversation, last_question
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
        self._memory, self._user_id = memory, user_id
        self._opened = partial(Conversation, memory, agent_id=agent_id, token_budget=token_budget, options=options)

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
        asked, conversation = [one.to_dict() for one in context.input_messages], self._of(session)
        if text := await conversation.context(last_question(asked)):
            context.extend_instructions(self.source_id, text)
        await self._memory.aio.run(conversation.add_said, asked)

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
        await self._memory.aio.run(self._of(session).add_said, said)

    def _of(self, session: AgentSession) -> Conversation:
        user_id = self._user_id or session.state.get("user_id")
        if user_id is None:
            raise InputError('the run names no user; give user_id to the provider, or session.state["user_id"]')
        return self._opened(session.session_id, user_id=user_id)
