"""Pydantic AI: tools to remember and to recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Owner, recall_options
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("pydantic-ai"):
    from pydantic_ai import FunctionToolset, RunContext


def memory_toolset(
    memory: NeuroGraphMemory,
    *,
    user_id: str | Callable[[RunContext[Any]], str | None] | None = None,
    agent_id: str | None = None,
    options: RecallOptions | None = None,
) -> FunctionToolset[Any]:
    """Return the tools `remember` and `recall`.

    Args:
        memory: the memory.
        user_id: the user, or a function of the run, such as `lambda run: run.deps.user_id`.
        agent_id: the agent.
        options: further options of the recall.
    """

    def owner_of(run: RunContext[Any]) -> Owner:
        user = user_id(run) if callable(user_id) else user_id
        return {"user_id": user, "agent_id": agent_id, "session_id": run.conversation_id}

    async def remember(run: RunContext[Any], text: str) -> str:
        """Remember a text for later conversations."""
        owner = owner_of(run)
        await memory.aio.add(text, user_id=owner["user_id"], agent_id=agent_id, timestamp="now")
        return "remembered"

    async def recall(run: RunContext[Any], question: str) -> str:
        """Return memories of earlier conversations that answer a question."""

        def found() -> str:
            chosen = recall_options(memory, text_of(run.prompt) or question, owner_of(run), options)
            return memory.recall(question, **chosen).as_text(CONTEXT_TOKENS)

        return await memory.aio.run(found) or "nothing"

    return FunctionToolset([remember, recall])


def text_of(prompt: Any) -> str:  # noqa: ANN401 - a text, parts of a prompt, or None
    """Return the texts of a prompt, joined by line breaks."""
    return prompt if isinstance(prompt, str) else "\n".join(one for one in prompt or () if isinstance(one, str))
