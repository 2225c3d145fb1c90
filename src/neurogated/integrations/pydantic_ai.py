"""A memory for agents of Pydantic AI: a capability that recalls and remembers, and tools."""

from collections.abc import Callable, Sequence
from typing import Any

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Conversation, ConversationEntry
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("pydantic-ai"):
    from pydantic_ai import FunctionToolset, RunContext
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        SpeechPart,
        SystemPromptPart,
        TextContent,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )


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

    def user_of(run: RunContext[Any]) -> str | None:
        return user_id(run) if callable(user_id) else user_id

    async def remember(run: RunContext[Any], text: str) -> str:
        """Remember a text for later conversations."""
        await memory.aio.add(text, user_id=user_of(run), agent_id=agent_id, timestamp="now")
        return "remembered"

    async def recall(run: RunContext[Any], question: str) -> str:
        """Return memories of earlier conversations that answer a question."""
        given: dict[str, Any] = {"user_id": user_of(run), "agent_id": agent_id, "options": options}
        recall_of = Conversation(memory, run.conversation_id, **given).recall
        found = await memory.aio.run(recall_of, question, text_of(run.prompt))
        return found.as_text(CONTEXT_TOKENS) or "nothing"

    return FunctionToolset([remember, recall])


def text_of(prompt: Any) -> str:  # noqa: ANN401 - a text, parts of a prompt, or None
    """Return the texts of a prompt, joined by line breaks."""
    items = [prompt] if isinstance(prompt, str) else prompt or ()
    texts = (one.content if isinstance(one, TextContent) else one for one in items)
    return "\n".join(one for one in texts if isinstance(one, str))


_MARK = "neurogated"
"""The key in the metadata of a request that has memories; its value is the question."""


class MemoryHistory(Conversation):
    """The messages of one conversation. They come back as they went in, also in another process.

    `ProcessHistory(history.add_memories)` puts memories of all conversations before the last message of the user.
    """

    def load(self) -> list[ModelMessage]:
        """Return all messages, as the `message_history` of a run."""
        return ModelMessagesTypeAdapter.validate_python(self.originals())

    def save(self, messages: Sequence[ModelMessage]) -> None:
        """Store the `new_messages()` of a run."""
        said = [one for one in messages if _MARK not in (one.metadata or {})]
        originals = ModelMessagesTypeAdapter.dump_python(said, mode="json")
        self.add(map(ConversationEntry, map(_message, said), originals))

    async def add_memories(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """Return the messages with memories, which are recalled once for each message of the user."""
        asked = [place for place, one in enumerate(messages) if _question(one)]
        if not asked:
            return messages
        place, question = asked[-1], _question(messages[asked[-1]])
        if place and (messages[place - 1].metadata or {}).get(_MARK) == question:
            return messages
        text = await self.context(question)
        memories = [ModelRequest([SystemPromptPart(text)], metadata={_MARK: question})] if text else []
        before = [one for one in messages[:place] if _MARK not in (one.metadata or {})]
        return [*before, *memories, *messages[place:]]


def _question(message: ModelMessage) -> str:
    prompts = [one.content for one in message.parts if isinstance(one, UserPromptPart | SpeechPart)]
    return "\n".join(filter(None, map(text_of, prompts)))


def _message(message: ModelMessage) -> dict[str, Any]:
    parts = list[dict[str, Any]]()
    for part in message.parts:
        if isinstance(part, UserPromptPart | SpeechPart | TextPart):
            parts.append({"type": "text", "text": text_of(part.content)})
        elif isinstance(part, ToolCallPart):
            parts.append({"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args})
        elif isinstance(part, ToolReturnPart):
            parts.append({"type": "tool_result", "content": part.model_response_str()})
    asker = "user" if _question(message) else "tool" if parts else "system"
    return {"role": "assistant" if isinstance(message, ModelResponse) else asker, "content": parts}
