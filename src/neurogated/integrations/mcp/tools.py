"""The tools of the server: calls of one memory within one scope. `operations.txt` describes their arguments.

Arguments are read as what the parameters are, and errors are sentences.
"""

import functools
import inspect
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, Self, cast, get_args, get_origin, get_type_hints

from pydantic import PrivateAttr, ValidationError
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from neurogated.core.extras import needs_extra
from neurogated.core.habits import hint
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.errors import InputError, NeurogatedError, StorageError, UnknownIdError
from neurogated.integrations.arguments import advice, annotation
from neurogated.memory import NeuroGraphMemory
from neurogated.operations import OPERATIONS, REQUIRED, Argument, renamings, told
from neurogated.retrieval.ranking import NOTHING_FOUND
from neurogated.text.strings import composed

with needs_extra("mcp"):
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
    from mcp.server.mcpserver.tools.base import Tool
    from mcp.types import CallToolResult, TextContent

_log = logging.getLogger(__name__)
_BY_KEYWORDS = "found by keywords only: the model is still being loaded; ask again for memories that match by meaning"


class Remembered(TypedDict):
    """The ids of what was stored, and what was repaired or left out, a sentence each."""

    ids: list[str]
    notes: NotRequired[list[str]]


class MemoryEntry(TypedDict):
    """A memory."""

    id: str
    content: str
    score: NotRequired[float]
    role: NotRequired[str]
    """Of a message: `user`, `assistant`, `system` or `tool`."""
    speaker: NotRequired[str]
    """The name of the person who said it."""
    time: NotRequired[str]


class MemoryList(TypedDict):
    """Memories, best first."""

    memories: list[MemoryEntry]
    notes: list[str]
    confidence: NotRequired[float]


class OpenConflict(TypedDict):
    """An open conflict between two memories."""

    id: str
    question: str
    first: str
    second: str


class Prepared(TypedDict):
    """Memories as text for a prompt."""

    text: str
    ids: list[str]
    conflicts: list[OpenConflict]
    confidence: float
    notes: list[str]


Value = dict[str, Any] | list[dict[str, Any] | str] | str | int | float | None
"""What expressions return."""


class ServedOwner(NamedTuple):
    """The memories that a server shows; the fields are arguments of calls of the memory."""

    user_id: str | None = None
    path: tuple[str, ...] = ()


class Tools:
    """The calls of one owner. An id outside the owner's scope is an unknown id."""

    def __init__(self, memory: NeuroGraphMemory, owner: ServedOwner, *, read_only: bool = False) -> None:
        """Take the memory and the owner."""
        self._memory, self.read_only = memory, read_only
        self.owner = owner._replace(user_id=owner.user_id and composed(owner.user_id))
        self._loaded = threading.Event()

    def load(self) -> None:
        """Load the model. Until it is there, a recall finds memories by keywords."""
        try:
            self._memory.session.parts.embedder.embed_queries(["a first text"])
        except NeurogatedError as error:
            _log.warning("the model is not loaded: %s", error)
        finally:
            self._loaded.set()

    def remember(self, text: str, tags: list[str], importance: float | None, timestamp: str | None) -> Remembered:
        """Store one statement that should last beyond this conversation. Returns its id when it is on disk."""
        scope = self.owner._asdict()
        added = self._memory.add(text, **scope, tags=tags, importance=importance, timestamp=timestamp or "now")
        stored: Remembered = {"ids": added}
        return {**stored, "notes": list(added.notes)} if added.notes else stored

    def recall(self, query: str, top_n: int, min_confidence: float | None, timezone: str | None) -> MemoryList:
        """Find memories by meaning, names, times, causes and what is connected with them; best first, with ids."""
        # Keywords alone give no confidence.
        owner = self.owner._asdict()
        if min_confidence is None and not self._loaded.is_set():
            view = self._memory.view(**owner)
            rows, scores = self._memory.store.snapshot(view).keyword_search(query, top_n)
            nodes = self._memory.store.get_nodes([view.ids[row] for row in rows])
            pairs = zip(nodes, map(float, scores), strict=True)
            found = [MemoryEntry(**_shown(node), score=round(score, 3)) for node, score in pairs]
            return {"memories": found, "notes": [_BY_KEYWORDS, *([] if found else [NOTHING_FOUND])]}
        recall = self._memory.recall(query, top_n=top_n, min_confidence=min_confidence, timezone=timezone, **owner)
        found = [MemoryEntry(**_shown(memory.node), score=round(memory.score, 3)) for memory in recall]
        return {"memories": found, "notes": list(recall.notes), "confidence": round(recall.confidence, 2)}

    def correct(self, id: str, action: str, text: str | None) -> str:  # noqa: A002 - the name in the protocol
        """Change a memory: `update` replaces its text, `forget` deletes it, `resolve` settles a conflict."""
        if action == "resolve":
            settled: Any = self.memory(f"(resolve {json.dumps(id)} {json.dumps(_given(action, text))})")
            return f"resolved: {settled['status']}"
        gone = self._memory.store.view().scope_of_removed(id) if action == "forget" else None
        if gone is None or not self._owns(gone):
            self.get(id, own=True)
        if action == "forget":
            return "forgotten" if self._memory.delete(id) else "it was forgotten before"
        return f"updated: {self._memory.update(id, _given(action, text)).content}"

    def feedback(self, ids: list[str], outcome: Literal["success", "fail"]) -> str:
        """Say whether recalled memories helped. The memory learns to recall them sooner or later."""
        for one in ids:
            self.get(one)
        learned = self._memory.learning.feedback(ids, outcome, user_id=self.owner.user_id)
        return f"changed {int(learned)} connections"

    def context(self, query: str, token_budget: int, min_confidence: float | None, timezone: str | None) -> Prepared:
        """Prepare a larger task: memories as text within a budget of tokens, and open conflicts with their ids."""
        context = self._memory.get_context(
            query, token_budget, min_confidence=min_confidence, timezone=timezone, **self.owner._asdict()
        )
        return {
            "text": context.text,
            "ids": [memory.id for memory in context],
            "conflicts": [
                {"id": one.id, "question": one.question, "first": one.first, "second": one.second}
                for one in context.conflicts
            ],
            "confidence": round(context.confidence, 2),
            "notes": list(context.notes),
        }

    def memory(self, expression: str) -> Value:
        """Run one expression, for what no other tool does."""
        value: Value = self._memory.execute(expression, **self.owner._asdict(), read_only=self.read_only)
        return value

    def get(self, node_id: str, *, own: bool = False) -> MemoryNode:
        """Return a memory of the owner; `own` excludes memories that belong to no user.

        Raises UnknownIdError if the id is not in the scope.
        """
        found = self._memory.find(only_ids=[node_id], **self.owner._asdict())
        if not found or (own and not self._owns(found[0].scope)):
            raise UnknownIdError(f"there is no memory {node_id!r}")
        return found[0]

    def _owns(self, scope: Scope) -> bool:
        path = self.owner.path
        return scope.user_id == self.owner.user_id and scope.path[: len(path)] == path


def _shown(node: MemoryNode) -> MemoryEntry:
    time = node.timestamp and node.timestamp.isoformat()
    said = {"id": node.id, "content": node.content, "role": node.role, "speaker": node.speaker, "time": time}
    return cast("MemoryEntry", {name: value for name, value in said.items() if value is not None})


def _given(action: str, text: str | None) -> str:
    if text is None:
        raise InputError(f"{action} needs `text`")
    return text


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
