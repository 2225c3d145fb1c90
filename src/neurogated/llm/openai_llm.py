"""Language models of OpenAI, or of any server that speaks its protocol (vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError, LLMError
from neurogated.llm.bounds import without_bounds
from neurogated.llm.served import Reply, ServedLLM

__all__ = ["OpenAILLM"]

# Servers on one's own machine want no key, but the client insists on a text.
_NO_KEY = "none"


class OpenAILLM(ServedLLM):
    """A model behind an OpenAI-compatible `/chat/completions` address."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None,
        temperature: float,
        max_new_tokens: int,
        timeout: float,
        retries: int,
    ) -> None:
        """Describe the server; nothing is sent yet.

        Args:
            model: the name that the server knows the model by.
            api_key: key of the server; one's own mostly wants none.
            base_url: address of the server, such as http://localhost:8000/v1; None for OpenAI's.
            temperature: 0 for the likeliest answer.
            max_new_tokens: longest answer.
            timeout: seconds until one attempt is given up.
            retries: how often a failed attempt is repeated.

        Raises:
            ConfigError: neither a key nor a server's address is given.
            MissingExtraError: the `openai` package is not installed.
        """
        if not api_key and not base_url:
            raise ConfigError(f"language model {model!r} needs OPENAI_API_KEY, or llm_base_url of a server")
        package = import_extra("openai", "openai")
        super().__init__(
            model,
            package=package,
            failure=package.OpenAIError,
            temperature=temperature,
            max_new_tokens=max_new_tokens,
        )
        self._client = package.OpenAI(
            api_key=api_key or _NO_KEY, base_url=base_url, timeout=timeout, max_retries=retries
        )
        # OpenAI's newest models know the new name only, many servers the old one only.
        self._limit = "max_tokens" if base_url else "max_completion_tokens"
        # Nor does OpenAI's strict mode take the longest lengths.
        self._takes_bounds = base_url is not None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401
        return self._client.chat.completions.create(
            model=self._model, messages=messages, extra_body={self._limit: limit, **options}
        )

    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        choice = answer.choices[0]
        if getattr(choice.message, "refusal", None):
            raise LLMError(f"{self._where} refuses to answer ({choice.message.refusal}); change the text or the model")
        text = choice.message.content
        if text is not None and not isinstance(text, str):
            raise TypeError(f"its content is a {type(text).__name__}")
        usage = getattr(answer, "usage", None)
        return Reply(
            text or "",
            str(choice.finish_reason),
            getattr(usage, "prompt_tokens", None),
            getattr(usage, "completion_tokens", None),
        )

    def _schema_option(self, schema: Mapping[str, Any]) -> tuple[str, Any]:
        return "response_format", {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "schema": schema if self._takes_bounds else without_bounds(schema),
                "strict": True,
            },
        }

    @property
    def _where(self) -> str:
        return f"language model {self._model!r} at {self._client.base_url}"
