"""LlamaIndex: a retriever, and a block of its agents' memory."""

from typing import Any, cast

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Conversation, details_of, last_question
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("llama-index"):
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class MemoryNodeRetriever(BaseRetriever):
    """Recalls memories as nodes."""

    def __init__(
        self,
        memory: NeuroGraphMemory,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        options: RecallOptions | None = None,
    ) -> None:
        """Take the user, the conversation whose present turn is left out, and further options of the recall."""
        super().__init__()
        self._conversation = Conversation(memory, session_id, user_id=user_id, options=options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._conversation.recall(query_bundle.query_str)
        nodes = (TextNode(id_=one.id, text=one.content, metadata=details_of(one)) for one in found)
        # LlamaIndex's cutoffs and fusions expect scores between 0 and 1.
        scores = (min(max(one.score, 0.0), 1.0) for one in found)
        return [NodeWithScore(node=node, score=score) for node, score in zip(nodes, scores, strict=True)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._conversation.memory.aio.run(self._retrieve, query_bundle)


class MemoryBlock(BaseMemoryBlock[str]):
    """Stores the messages that leave the short-term memory, and recalls memories for the last message of the user."""

    name: str = "memories"
    memory: NeuroGraphMemory = Field(exclude=True)
    user_id: str | None = None
    agent_id: str | None = None
    token_budget: int = CONTEXT_TOKENS
    options: dict[str, Any] = Field(default_factory=dict, description="further options of the recall")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ANN401 - as theirs
        question = last_question([_message(one) for one in messages or ()])
        return await self._of(block_kwargs.get("session_id")).context(question) if question else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            conversation = self._of(message.additional_kwargs.get("session_id"))
            await self.memory.aio.run(conversation.add_said, [_message(message)])

    def _of(self, session_id: str | None) -> Conversation:
        given: dict[str, Any] = {"user_id": self.user_id, "agent_id": self.agent_id, "token_budget": self.token_budget}
        return Conversation(self.memory, session_id, options=cast("RecallOptions", self.options), **given)


def _message(message: ChatMessage) -> dict[str, Any]:
    return {**message.model_dump(), "role": message.role.value}
