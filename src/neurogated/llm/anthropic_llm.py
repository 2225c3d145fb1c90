"""Language models of Anthropic."""

import json
import os
from collections.abc import Mapping
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError
from neurogated.llm.base import LENGTH, model_name, without_bounds
from neurogated.llm.served import ANSWER, Reply, ServedLLM

_FINISH_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "stop", "max_tokens": LENGTH}


class AnthropicLLM(ServedLLM):
    """A Claude model behind Anthropic's `/v1/messages` address."""

    def __init__(self, config: MemoryConfig, *, api_key: str | None = None) -> None:
        """Create the client of Anthropic, or of a server of its protocol at `llm_base_url`. Nothing is sent yet.

        The default of the key is the environment variable `ANTHROPIC_API_KEY`.

        Raises:
            ConfigError: there is no key.
            MissingExtraError: the `anthropic` package is not installed.
        """
        key = api_key or os.environ.get("ANTHROPIC_API_KEY")
        if not key:
            raise ConfigError(
                f"language model {model_name(config)!r} needs ANTHROPIC_API_KEY, or llm_base_url of a server"
            )
        package = import_extra("anthropic", "anthropic")
        super().__init__(config, package=package, failure=package.AnthropicError)
        self._client = package.Anthropic(
            api_key=key, base_url=config.llm_base_url, timeout=config.llm.timeout, max_retries=self.retries
        )

    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401
        turns = [message for message in messages if message["role"] != "system"]
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        return self._client.messages.create(
            model=self._model,
            max_tokens=limit,
            messages=turns,
            # Some versions of the package lack parameters for these options.
            extra_body={**({"system": system} if system else {}), **options},
        )

    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        # An answer may also have blocks of thinking, and words before the call of a tool.
        called = [json.dumps(block.input, ensure_ascii=False) for block in answer.content if block.type == "tool_use"]
        texts = ["\n".join(called)] if called else [block.text for block in answer.content if block.type == "text"]
        reason = str(answer.stop_reason)
        usage = getattr(answer, "usage", None)
        return Reply(
            "".join(texts),
            _FINISH_REASONS.get(reason, reason),
            getattr(usage, "input_tokens", None),
            getattr(usage, "output_tokens", None),
        )

    def _forms(self, schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        form = without_bounds(schema)
        tool = {"name": ANSWER, "description": "Takes your answer.", "input_schema": form}
        return {
            "output_config": {"output_config": {"format": {"type": "json_schema", "schema": form}}},
            "tools": {"tools": [tool], "tool_choice": {"type": "tool", "name": ANSWER}},
        }
