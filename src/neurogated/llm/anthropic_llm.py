"""Language models of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError
from neurogated.llm.base import LENGTH
from neurogated.llm.bounds import without_bounds
from neurogated.llm.served import Reply, ServedLLM

__all__ = ["AnthropicLLM"]

_FINISH_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": LENGTH}


class AnthropicLLM(ServedLLM):
    """A Claude model behind Anthropic's `/v1/messages` address."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        temperature: float,
        max_new_tokens: int,
        timeout: float,
        retries: int,
        base_url: str | None = None,
    ) -> None:
        """Describe the server; nothing is sent yet.

        Args:
            model: the model's name.
            api_key: key of the server.
            temperature: 0 for the likeliest answer; left out for models that take none.
            max_new_tokens: longest answer.
            timeout: seconds until one attempt is given up.
            retries: how often a failed attempt is repeated.
            base_url: address of a server that speaks the protocol; None for Anthropic's.

        Raises:
            ConfigError: no key is given.
            MissingExtraError: the `anthropic` package is not installed.
        """
        if not api_key:
            raise ConfigError(f"language model {model!r} needs ANTHROPIC_API_KEY, or llm_base_url of a server")
        package = import_extra("anthropic", "anthropic")
        super().__init__(
            model,
            package=package,
            failure=package.AnthropicError,
            temperature=temperature,
            max_new_tokens=max_new_tokens,
        )
        self._client = package.Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=retries)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401
        turns = [message for message in messages if message["role"] != "system"]
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        return self._client.messages.create(
            model=self._model,
            max_tokens=limit,
            messages=turns,
            # Not every version of the package has a parameter for each of these.
            extra_body={**({"system": system} if system else {}), **options},
        )

    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        # Beside text there may be blocks of thinking.
        texts = [block.text for block in answer.content if block.type == "text"]
        reason = str(answer.stop_reason)
        usage = getattr(answer, "usage", None)
        return Reply(
            "".join(texts),
            _FINISH_REASONS.get(reason, reason),
            getattr(usage, "input_tokens", None),
            getattr(usage, "output_tokens", None),
        )

    def _schema_option(self, schema: Mapping[str, Any]) -> tuple[str, Any]:
        return "output_config", {"format": {"type": "json_schema", "schema": without_bounds(schema)}}

    @property
    def _where(self) -> str:
        return f"language model {self._model!r} at {self._client.base_url}"
