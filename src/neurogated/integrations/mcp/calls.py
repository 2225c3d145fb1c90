"""Calls of tools: their arguments are read as what the parameters are, and their errors are sentences."""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self, get_args, get_origin, get_type_hints

from pydantic import PrivateAttr, ValidationError

from neurogated.core.extras import needs_extra
from neurogated.core.habits import hint
from neurogated.errors import NeurogatedError, StorageError
from neurogated.integrations.arguments import advice, annotation
from neurogated.operations import OPERATIONS, REQUIRED, Argument, renamings, told

with needs_extra("mcp"):
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
    from mcp.server.mcpserver.tools.base import Tool
    from mcp.types import CallToolResult, TextContent

_log = logging.getLogger(__name__)

_LONGEST = 40
"""Characters that an error shows of a name."""
Run = Callable[[str, Callable[[], Any]], Awaitable[Any]]


class OperationTool(Tool):
    """A tool that calls the memory in a thread.

    The SDK would decode each text as JSON that is given for an optional text, so `{"theme": "dark"}` could not be
    stored. Here a text stays a text, null is an argument that is left out, and a text given for a list is read as JSON
    or divided at its commas.
    """

    _run: Run = PrivateAttr()
    _arguments: tuple[Argument, ...] = PrivateAttr()

    @classmethod
    def of(cls, function: Callable[..., Any], run: Run, **described: Any) -> Self:  # noqa: ANN401 - those of the SDK
        """Return the tool of a blocking function.

        Args:
            function: its parameters are those of the tool.
            run: awaits a call; it also gets the name of the tool.
            described: arguments of `Tool.from_function`.
        """
        operation = OPERATIONS.get(function.__name__)
        arguments = () if operation is None else operation.doors["tool"]
        tool = cls.from_function(_described(function, arguments) if arguments else function, **described)
        assert isinstance(tool, cls)  # noqa: S101 - the method returns an object of its class
        tool._run = run  # noqa: SLF001 - an object of this class
        tool._arguments = arguments  # noqa: SLF001
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - as in the base class
        """Return the result of a call; raises ToolError with what the model reads."""
        try:
            with told() as sentences:
                given = self._checked(arguments)
                return await self._run(self.name, lambda: self._answer(given, sentences, converted=convert_result))
        except ToolError:
            raise
        except NeurogatedError as error:
            if isinstance(error, StorageError) and context.request_context.request is not None:
                # Over HTTP, the files of the server are not the client's. As in REST, the log has their names.
                _log.error("%s: %s: %s", self.name, type(error).__name__, error)
                raise ToolError(f"{self.name} cannot be done now; the log of the server has the reason") from error
            raise ToolError(str(error)) from error
        except Exception as error:
            # The server logs it, and the client reads the message.
            raise UnexpectedToolError(f"{self.name} failed; the log of the server has the reason") from error

    def _answer(self, given: Mapping[str, Any], sentences: Sequence[str], *, converted: bool) -> Any:  # noqa: ANN401 - the result of any tool
        result = self.fn(**given)
        has_notes = isinstance(result, dict) and "notes" in result
        if has_notes:
            result["notes"] += sentences
        if not converted:
            return result
        answer = self.fn_metadata.convert_result(result)
        if isinstance(answer, CallToolResult):
            # Many clients show nothing else to the model.
            shown = [] if answer.content else [json.dumps(result)]
            shown += [] if has_notes else sentences
            answer.content += [TextContent(type="text", text=text) for text in shown]
        return answer

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        model = self.fn_metadata.arg_model
        given, olds = dict[str, Any](), renamings(arguments, self._arguments)
        arguments = {olds.get(name, name): value for name, value in arguments.items()}
        for name, field in model.model_fields.items():
            value = arguments.get(name)
            kinds = {get_origin(kind) or kind for kind in (field.annotation, *get_args(field.annotation))}
            if value == "null" and str not in kinds:
                value = None
            if isinstance(value, str) and list in kinds:
                value = _listed(value)
            if name in arguments and (value is not None or field.is_required()):
                given[name] = value
        wrong = list[str]()
        try:
            checked = model.model_validate(given).model_dump_one_level()
        except ValidationError as error:
            wrong.append(advice(error.errors(include_url=False, include_context=False, include_input=False)))
        for name in [one for one in arguments if one not in model.model_fields][:1]:
            wrong.append(f"{name[:_LONGEST]!r} is not known; {hint(name, model.model_fields)}")
        if wrong:
            raise ToolError("; ".join(wrong))
        return checked


def _described(function: Callable[..., Any], arguments: Sequence[Argument]) -> Callable[..., Any]:
    """Return a function whose parameters are the arguments in the table of operations."""

    @functools.wraps(function)
    def call(**given: Any) -> Any:  # noqa: ANN401 - of any tool
        return function(**given)

    empty, kind = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    usual = {one.name: empty if one.default is REQUIRED else one.default for one in arguments}
    shape = [
        inspect.Parameter(one.name, kind, annotation=annotation(one), default=usual[one.name]) for one in arguments
    ]
    result = get_type_hints(function)["return"]
    call.__signature__ = inspect.Signature(shape, return_annotation=result)  # type: ignore[attr-defined]
    return call


def _listed(text: str) -> list[Any]:
    """Return the list that a text is: in JSON, or with commas between its items."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list | str):
        return found if isinstance(found, list) else [found]
    return [part for part in map(str.strip, text.split(",")) if part]
