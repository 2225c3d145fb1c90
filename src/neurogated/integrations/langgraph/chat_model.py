"""Chat models of LangChain as language models of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel

from neurogated.core.ports import Message
from neurogated.errors import LLMError
from neurogated.llm.base import BaseLLM, Meta
from neurogated.llm.limits import LimitedLLM
from neurogated.llm.structured import StructuredLLM


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


def structured(model: BaseChatModel, *, concurrency: int, max_calls: int | None) -> StructuredLLM:
    """Return a chat model that answers in JSON, with limits of its calls at once and of all."""
    return StructuredLLM(LimitedLLM(ChatModel(model), concurrency=concurrency, max_calls=max_calls))
