import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogated.core.ports import Message
from neurogated.llm.base import BaseLLM, Meta
from neurogated.llm.structured import StructuredLLM
from neurogated.llm.wrappers import CachedLLM, LimitedLLM


class Echo(BaseLLM):
    """The smallest possible model of one's own."""

    @property
    def name(self) -> str:
        return "echo"

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        text = f"{messages[-1]['content']} {schema} {threading.get_ident() == threading.main_thread().ident}"
        return text, {"prompt_tokens": 1, "completion_tokens": 1, "finish_reason": "stop"}


def test_ainfer_is_infer_in_another_thread() -> None:
    text, _ = asyncio.run(Echo().ainfer([{"role": "user", "content": "hi"}], schema={}))

    assert text == "hi {} False"


class Plain(BaseLLM):
    """A model without schemas and without metadata of its answers."""

    def infer(self, messages: Sequence[Message]) -> tuple[str, Meta]:  # type: ignore[override]
        return f'{{"said": "{messages[-1]["content"]}"}}', {}


def test_a_model_without_schemas_works_with_all_wrappers(tmp_path: Path) -> None:
    limited = LimitedLLM(Plain(), concurrency=1)
    model = StructuredLLM(CachedLLM(limited, tmp_path / "answers.db"))

    assert model.infer_json([{"role": "user", "content": "two words"}], {"type": "object"}) == {"said": "two words"}
    assert model.name == "Plain"
    assert limited.statistics()["prompt tokens"] == 2
    model.close()
