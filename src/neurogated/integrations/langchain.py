"""LangChain: a retriever, a chat history, and chat models for a memory; see `langchain_agents` for agents."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from neurogated.core.extras import needs_extra
from neurogated.core.ports import Message
from neurogated.errors import InputError, LLMError
from neurogated.ingestion.messages import ORIGINAL
from neurogated.integrations.conversation import Conversation, ConversationEntry, details_of
from neurogated.llm.base import BaseLLM, Meta
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage, convert_to_messages, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field


class ChatModel(BaseLLM):
    """Asks a chat model of LangChain."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name of the class of the model."""
        return f"langchain:{self._model.get_name()}"

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:  # noqa: ARG002
        """Return the model's answer; the prompt has the schema in words."""
        asked = [(message["role"], message["content"]) for message in messages]
        try:
            answer = self._model.invoke(asked)
        except Exception as error:
            # The errors of the models' providers have no common base.
            raise LLMError(f"the chat model {self.name!r} failed: {error}") from error
        used = answer.usage_metadata
        counts = {"prompt_tokens": used["input_tokens"], "completion_tokens": used["output_tokens"]} if used else {}
        return str(answer.text), {"model": self.name, **counts}


class MemoryRetriever(BaseRetriever):
    """Recalls memories as documents; `session_id` names the conversation whose current question is left out."""

    memory: NeuroGraphMemory
    user_id: str | None = None
    session_id: str | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Further `RecallOptions`."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        options = cast("RecallOptions", self.options)
        found = Conversation(self.memory, self.session_id, user_id=self.user_id, options=options).recall(query)
        return [Document(page_content=one.content, id=one.id, metadata=details_of(one)) for one in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self.memory.aio.run(self._get_relevant_documents, query, run_manager=run_manager.get_sync())


class MemoryChatHistory(Conversation, BaseChatMessageHistory):
    """The messages of a session. They come back as they went in, also in another process."""

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        return messages_from_dict(self.originals())

    def add_messages(self, messages: Sequence[BaseMessage | Mapping[str, Any] | tuple[str, str] | str]) -> None:
        """Store messages, also as LangChain converts mappings, pairs and texts; all or none. Raises InputError."""
        opened = list[BaseMessage]()
        for place, one in enumerate(messages):
            read: Any = messages_from_dict if isinstance(one, Mapping) and "data" in one else convert_to_messages
            try:
                opened += read([one])[:1]
            except (ValueError, TypeError, KeyError, AttributeError, NotImplementedError) as error:
                told = f"message {place}, {one!r:.80}, is none of LangChain: {str(error)[:200]}"
                raise InputError(told) from error
        self.add(ConversationEntry(said_in(one), message_to_dict(one)) for one in opened)


def said_in(message: BaseMessage) -> dict[str, Any]:
    """Return what `memory.add` reads of a message; with its original if it has other parts than text."""
    keys = ("type", "role", "content", "tool_calls", "additional_kwargs", "name")
    said = {key: getattr(message, key) for key in keys if getattr(message, key, None) is not None}
    return said if isinstance(message.content, str) else {**said, ORIGINAL: json.dumps(message_to_dict(message))}
