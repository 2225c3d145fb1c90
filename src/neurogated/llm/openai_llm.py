"""Language models of OpenAI, or of any server with its protocol (vLLM, Ollama, llama.cpp)."""

import os
from collections.abc import Mapping
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError, LLMError
from neurogated.llm.base import model_name, without_bounds
from neurogated.llm.served import ANSWER, Reply, ServedLLM

# Local servers need no key, but the client requires a text.
_NO_KEY = "none"


class OpenAILLM(ServedLLM):
    """A model behind an OpenAI-compatible `/chat/completions` address."""

    def __init__(self, config: MemoryConfig, *, api_key: str | None = None) -> None:
        """Create the client. Nothing is sent yet.

        The default of the key is the environment variable `OPENAI_API_KEY`; most local servers need none.

        Raises:
            ConfigError: there is neither a key nor a server's address.
            MissingExtraError: the `openai` package is not installed.
        """
        key, base_url = api_key or os.environ.get("OPENAI_API_KEY"), config.llm_base_url
        if not key and not base_url:
            raise ConfigError(
                f"language model {model_name(config)!r} needs OPENAI_API_KEY, or llm_base_url of a server"
            )
        package = import_extra("openai", "openai", use="the client of every OpenAI-compatible server, also a local one")
        super().__init__(config, package=package, failure=package.OpenAIError)
        self._client = package.OpenAI(
            api_key=key or _NO_KEY, base_url=base_url, timeout=config.llm.timeout, max_retries=self.retries
        )
        # OpenAI's newest models accept only the new name, and many servers accept only the old name.
        self._limit = "max_tokens" if base_url else "max_completion_tokens"
        # OpenAI's strict mode rejects maxLength and maxItems.
        self._takes_bounds = bool(base_url)

    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401
        return self._client.chat.completions.create(
            model=self._model, messages=messages, extra_body={self._limit: limit, **options}
        )

    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        choice = answer.choices[0]
        if getattr(choice.message, "refusal", None):
            raise LLMError(f"{self._where} refuses to answer ({choice.message.refusal}); change the text or the model")
        called = [one.function.arguments for one in getattr(choice.message, "tool_calls", None) or ()]
        text = "\n".join(called) if called else choice.message.content
        if text is not None and not isinstance(text, str):
            raise TypeError(f"its content is a {type(text).__name__}")
        usage = getattr(answer, "usage", None)
        return Reply(
            text or "",
            str(choice.finish_reason),
            getattr(usage, "prompt_tokens", None),
            getattr(usage, "completion_tokens", None),
        )

    def _forms(self, schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        form = {"name": ANSWER, "schema": schema if self._takes_bounds else without_bounds(schema), "strict": True}
        tool = {"name": ANSWER, "description": "Takes your answer.", "parameters": form["schema"]}
        return {
            "json_schema": {"response_format": {"type": "json_schema", "json_schema": form}},
            "tools": {
                "tools": [{"type": "function", "function": tool}],
                "tool_choice": {"type": "function", "function": {"name": ANSWER}},
            },
            "json_object": {"response_format": {"type": "json_object"}},
        }
