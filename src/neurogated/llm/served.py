"""What models behind HTTP have in common: what is sent, what is left out when refused, which errors mean what."""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Message
from neurogated.errors import LLMError
from neurogated.llm.base import BaseLLM, Meta, counted, model_name
from neurogated.llm.bounds import answer_tokens

__all__ = ["Reply", "ServedLLM"]

_log = logging.getLogger(__name__)

# Errors of both clients, the finer before the coarser.
_REMEDIES = {
    "APITimeoutError": "raise llm_timeout, or give the server less to do at once with llm_concurrency",
    "RateLimitError": "lower llm_concurrency, raise llm_retries, or check the quota of the key",
    "AuthenticationError": "check the key",
    "PermissionDeniedError": "check what the key may use",
    "NotFoundError": "check llm_name and llm_base_url",
}
_REMEDY = "check the server, llm_base_url and llm_name"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said, before it is trusted."""

    text: str
    finish_reason: str
    prompt_tokens: object
    """What the server calls the number of tokens; anything else than a number means that it did not count."""
    completion_tokens: object


class ServedLLM(BaseLLM):
    """Base of the models behind a client package that has the shape of OpenAI's.

    The client retries with growing pauses, keeps to the server's `Retry-After` and gives up after its time-out. An
    option that a server refuses, such as a schema or a temperature, is left out from then on, with a line in the log.
    """

    def __init__(self, config: MemoryConfig, *, package: ModuleType, failure: type[Exception]) -> None:
        """Describe the model.

        Args:
            config: names the model; its `temperature` and `max_new_tokens` count.
            package: the client package.
            failure: the root of the package's errors.
        """
        self._model = model_name(config)
        self._package = package
        self._failure_root = failure
        self._temperature = config.temperature
        self._max_new_tokens = config.max_new_tokens
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Model, temperature and longest answer."""
        return {"model": self._model, "temperature": self._temperature, "max_new_tokens": self._max_new_tokens}

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the model's answer; see `BaseLLM.infer`. The text is empty where the model said nothing."""
        limit = answer_tokens(schema, self._max_new_tokens)
        answer = self._ask([dict(message) for message in messages], schema, limit)
        try:
            reply = self._read(answer)
        except (AttributeError, TypeError, LookupError) as error:
            raise LLMError(f"{self._where} answered with something else than a message ({error}); {_REMEDY}") from error
        return reply.text, {
            "model": self._model,
            "prompt_tokens": counted(reply.prompt_tokens, [message["content"] for message in messages]),
            "completion_tokens": counted(reply.completion_tokens, [reply.text]),
            "finish_reason": reply.finish_reason,
            "cached": False,
        }

    @abstractmethod
    def _send(self, messages: list[dict[str, str]], limit: int, options: dict[str, Any]) -> Any:  # noqa: ANN401 - unchecked
        """Return the client's answer of at most `limit` tokens; `options` go into the request beside the messages."""

    @abstractmethod
    def _read(self, answer: Any) -> Reply:  # noqa: ANN401
        """Return what is of use in an answer that may be anything."""

    @abstractmethod
    def _schema_option(self, schema: Mapping[str, Any]) -> tuple[str, Any]:
        """Return name and value of the option that holds the model to a schema."""

    @property
    @abstractmethod
    def _where(self) -> str:
        """Model and address, for messages."""

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
                option = _refused_option(str(error), options)
                if option is None:
                    raise self._failure(error) from error
                _log.warning("%s refuses %s (%s); asking without it", self._where, option, error)
                left_out.add(_mark(option, options.pop(option)))
            except (self._failure_root, ValueError, RecursionError) as error:
                raise self._failure(error) from error
            else:
                # Only now is it known that the option was what the server minded.
                self._refused |= left_out
                return answer

    def _failure(self, error: Exception) -> LLMError:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        remedy = next((remedy for kind, remedy in _REMEDIES.items() if kind in kinds), _REMEDY)
        # The clients say "Connection error." and keep the reason in the cause.
        said = " ".join(f"{error} {error.__cause__ or ''}".split())
        return LLMError(f"{self._where} failed ({said}); {remedy}")


def _mark(option: str, value: object) -> str:
    """Return what tells an option from others; one schema may be refused and another taken."""
    return json.dumps([option, value], sort_keys=True)


def _refused_option(complaint: str, options: Mapping[str, Any]) -> str | None:
    """Return the option that a server minds: the one it names, else the schema, which not every server can take."""
    named = [option for option in options if option in complaint]
    unnamed = [option for option in options if option != "temperature"]
    return next(iter(named + unnamed), None)
