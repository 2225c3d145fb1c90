"""The common part of models behind HTTP: requests, options that a server refuses, and errors with their remedies."""

import logging
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.outage import answer_within
from neurogated.core.ports import Message
from neurogated.errors import LLMError, UnusableAnswerError
from neurogated.llm.base import ConfiguredLLM, Meta, answer_tokens, counted

_log = logging.getLogger(__name__)

# Error classes of both clients; subclasses come before their base classes.
_REMEDIES = {
    "APITimeoutError": "raise llm.timeout, or lower llm.concurrency",
    "RateLimitError": "lower llm.concurrency, or check the quota of the key",
    "AuthenticationError": "check the key",
    "PermissionDeniedError": "check the permissions of the key",
    "NotFoundError": "check llm_name and llm_base_url",
}
_REMEDY = "check the server, llm_base_url and llm_name"
_REFUSALS = frozenset({400, 413, 422})
_REFUSED, _FAILED = frozenset({400, 422}), frozenset({404, 500, 501})
"""Codes with which servers refuse a form of the answer, and with which they fail at one that they do not have."""
_TEMPERATURE = "temperature"
ANSWER = "answer"
"""The name of the schema of an answer, and of the tool that takes it."""
_TOO_LONG = re.compile(
    "context.?(?:length|size|window)|prompt is too long|too many (?:input |prompt )?tokens|request.too.large",
    re.IGNORECASE,
)
"""What servers say of a prompt that is longer than the model can read."""


class Reply(NamedTuple):
    """The unchecked answer of a server."""

    text: str
    finish_reason: str
    prompt_tokens: object
    """The number of tokens as the server reports it; another type than a number means that it did not count."""
    completion_tokens: object


class ServedLLM(ConfiguredLLM):
    """Base of the models behind a client package with the structure of OpenAI's.

    The client retries with growing pauses and follows the server's `Retry-After`. An answer with a schema is asked for
    in the first form that the server takes, which is found once. If it refuses a temperature, none is sent from then
    on. A call ends after `llm.timeout` with all its retries, even if the server sends its answer byte by byte.
    """

    retries: ClassVar[int] = 3
    """How often a failed call is sent again; with the client's pauses, three take a few seconds."""
    _client: Any
    """The client of the package; subclasses create it."""

    def __init__(self, config: MemoryConfig, *, package: ModuleType, failure: type[Exception]) -> None:
        """Describe the model; `failure` is the base class of the errors of the client package."""
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
    def _forms(self, schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the options by which a server may be told the form of an answer, by name, the best one first."""

    @property
    def _where(self) -> str:
        return f"language model {self._model!r} at {self._client.base_url}"

    def _ask(self, messages: list[dict[str, str]], schema: Mapping[str, Any] | None, limit: int) -> Any:  # noqa: ANN401
        forms = {} if schema is None else self._forms(schema)
        refused, complaint = self._refused.copy(), ""
        while True:
            # A server may refuse one schema and take another.
            name, form = next(
                ((key, form) for one, form in forms.items() if (key := f"{one} {schema}") not in refused), ("", {})
            )
            options = {} if _TEMPERATURE in refused else {_TEMPERATURE: self._temperature}
            try:
                answer = self._send(messages, limit, {**options, **form})
            except self._package.APIStatusError as error:
                option = _TEMPERATURE if options and _TEMPERATURE in str(error) else name
                # A server that fails at the first request is out of order.
                codes = _REFUSED | _FAILED if complaint else _REFUSED
                if not option or error.status_code not in codes or _TOO_LONG.search(str(error)):
                    raise self._failure(error) from error
                refused.add(option)
                complaint = str(error)
            except (self._failure_root, ValueError, RuntimeError) as error:
                # A client that is closed before it tries again raises RuntimeError, as deep JSON does.
                raise self._failure(error) from error
            else:
                if refused != self._refused:
                    # Only success proves that the server refused these options and nothing else.
                    told = ", ".join(sorted(one.partition(" ")[0] for one in refused - self._refused))
                    _log.warning("%s refuses %s (%s); it is asked without from now on", self._where, told, complaint)
                    self._refused |= refused
                return answer

    def _failure(self, error: Exception) -> LLMError:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        remedy = next((remedy for kind, remedy in _REMEDIES.items() if kind in kinds), _REMEDY)
        # The clients' message is "Connection error."; the reason is in the cause.
        said = " ".join(f"{error} {error.__cause__ or ''}".split())
        if getattr(error, "status_code", None) in _REFUSALS and _TOO_LONG.search(said):
            # The server is there, so shorter requests are worth a try.
            return UnusableAnswerError(
                f"a prompt is too long for {self._where} ({said}); choose one with more context",
                reason="the prompt is too long for the model",
            )
        return LLMError(f"{self._where} failed ({said}); {remedy}")
