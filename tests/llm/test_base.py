import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated.core.ports import LanguageModel, Message
from neurogated.llm.base import BaseLLM, Meta, SupportsForgetting
from neurogated.llm.cache import CachedLLM
from neurogated.llm.structured import StructuredLLM


class Echo(BaseLLM):
    """The least that a model of one's own must be."""

    @property
    def name(self) -> str:
        return "echo"

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        text = f"{messages[-1]['content']} {schema} {threading.get_ident() == threading.main_thread().ident}"
        return text, {"prompt_tokens": 1, "completion_tokens": 1, "finish_reason": "stop"}


def test_ainfer_is_infer_in_another_thread() -> None:
    text, _ = asyncio.run(Echo().ainfer([{"role": "user", "content": "hi"}], schema={}))

    assert text == "hi {} False"


def test_a_model_of_ones_own_needs_name_and_infer_only() -> None:
    model = Echo()
    model.close()

    assert model.parameters == {"model": "echo"}


def test_who_can_do_what() -> None:
    language_model: LanguageModel = StructuredLLM(Echo())

    assert language_model.name == "echo"
    assert issubclass(CachedLLM, SupportsForgetting)
    assert not isinstance(Echo(), SupportsForgetting)
