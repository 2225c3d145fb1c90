"""The common part of models behind HTTP: requests, options that a server refuses, and errors with their remedies."""

from __future__ import annotations

import json
import logging
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.outage import answer_within
from neurogated.core.ports import Message
from neurogated.errors import LLMError, UnusableAnswerError
from neurogated.llm.base import ConfiguredLLM, Meta, answer_tokens, counted

_log = logging.getLogger(__name__)

# Error classes of both clients; subclasses come before their base classes.
_REMEDIES = {
    "APITimeoutError": "raise llm.timeout, or lower llm.concurrency",
    "RateLimitError": "lower llm.concurrency, raise llm.retries, or check the quota of the key",
    "AuthenticationError": "check the key",
    "PermissionDeniedError": "check the permissions of the key",
    "NotFoundError": "check llm_name and llm_base_url",
}
_REMEDY = "check the server, llm_base_url and llm_name"
_REFUSALS = frozenset({400, 413, 422})
_TOO_LONG = re.compile(
    "context.?(?:length|size|window)|prompt is too long|too many (?:input |prompt )?tokens|request.too.large",
    re.IGNORECASE,
)
"""What servers say of a prompt that is longer than the model can read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The unchecked answer of a server."""

    text: str
    finish_reason: str
    prompt_tokens: object
    """The number of tokens as the server reports it; another type than a number means that it did not count."""
    completion_tokens: object


class ServedLLM(ConfiguredLLM):
    """Base of the models behind a client package with the structure of OpenAI's.

    The client retries with growing pauses and follows the server's `Retry-After`. If a server refuses an option, such
    as a schema or a temperature, this class logs a warning and leaves the option out from then on. A call ends after
    `llm.timeout` with all its retries, even if the server sends its answer byte by byte.
    """

    _client: Any
    """The client of the package; subclasses create it."""

    def __init__(self, config: MemoryConfig, *, package: ModuleType, failure: type[Exception]) -> None:
        """Describe the model.

        Args:
            config: the settings.
            package: the client package.
            failure: the base class of the package's errors.
        """
        super().__init__(config)
        self._package = package
        self._failure_root = failure
        self._refused: set[str] = set()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the model's answer; see `BaseLLM.infer`. The text may be empty."""
        limit = answer_tokens(schema, self._max_new_tokens)
        asked = [dict(message) for message in messages]
        try:
            # The client's time-out begins again with each byte and each retry.
            answer = answer_within(self._timeout, lambda: self._ask(asked, schema, limit), "language model")
        except TimeoutError as error:
            raise LLMError(
                f"{self._where} did not answer within {self._timeout:g} s; {_REMEDIES['APITimeoutError']}"
            ) from error
        try:
            reply = self._read(answer)
        except (AttributeError, TypeError, LookupError) as error:
            raise LLMError(f"the answer of {self._where} is not a message ({error}); {_REMEDY}") from error
        return reply.text, {
            "model": self._model,
            "prompt_tokens": counted(reply.prompt_tokens, [message["content"] for message in messages]),
            "completion_tokens": counted(reply.completion_tokens, [reply.text]),
            "finish_reason": reply.finish_reason,
            "cached": False,
        }

    @abstractmethod
    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401 - unchecked
        """Send the messages and `options`, and return the client's answer of at most `limit` tokens."""

    @abstractmethod
    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        """Parse an unchecked answer."""

    @abstractmethod
    def _schema_option(self, schema: Mapping[str, Any]) -> tuple[str, Any]:
        """Return name and value of the option that sets the schema of the answer."""

    @property
    def _where(self) -> str:
        """Model and address, for error messages."""
        return f"language model {self._model!r} at {self._client.base_url}"

    def _ask(self, messages: list[dict[str, str]], schema: Mapping[str, Any] | None, limit: int) -> Any:  # noqa: ANN401
        options: dict[str, Any] = {"temperature": self._temperature}
        if schema is not None:
            options.update([self._schema_option(schema)])
        options = {name: value for name, value in options.items() if _mark(name, value) not in self._refused}
        left_out: set[str] = set()
        while True:
            try:
                answer = self._send(messages, limit, options)
            except (self._package.BadRequestError, self._package.UnprocessableEntityError) as error:
                if _TOO_LONG.search(str(error)):
                    raise self._failure(error) from error
                # The refused option is the one in the message, else the schema, which some servers refuse.
                complaint = str(error)
                named = [option for option in options if option in complaint]
                unnamed = [option for option in options if option != "temperature"]
                option = next(iter(named + unnamed), None)
                if option is None:
                    raise self._failure(error) from error
                _log.warning("%s refuses %s (%s); trying again without it", self._where, option, error)
                left_out.add(_mark(option, options.pop(option)))
            except (self._failure_root, ValueError, RecursionError) as error:
                raise self._failure(error) from error
            else:
                # Only success proves that the server refused these options and nothing else.
                self._refused |= left_out
                return answer

    def _failure(self, error: Exception) -> LLMError:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        remedy = next((remedy for kind, remedy in _REMEDIES.items() if kind in kinds), _REMEDY)
        # The clients' message is "Connection error."; the reason is in the cause.
        said = " ".join(f"{error} {error.__cause__ or ''}".split())
        if getattr(error, "status_code", None) in _REFUSALS and _TOO_LONG.search(said):
            # The server is there, so shorter requests are worth a try.
            return UnusableAnswerError(f"a prompt is too long for {self._where} ({said}); choose one with more context")
        return LLMError(f"{self._where} failed ({said}); {remedy}")


def _mark(option: str, value: object) -> str:
    """Return a key of an option and its value, since a server may refuse one schema and accept another."""
    return json.dumps([option, value], sort_keys=True)
