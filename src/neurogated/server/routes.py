"""The routes of REST: those of the table of operations, each with what it answers."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar, cast, get_type_hints

from neurogated.components.texts import page_of
from neurogated.core.conflicts import Conflict, Status
from neurogated.core.delta import LATEST
from neurogated.core.extras import needs_extra
from neurogated.core.filters import FilterOptions
from neurogated.core.habits import hint
from neurogated.ingestion.contents import COMPLETIONS, HELD_IN
from neurogated.ingestion.formats import SYSTEM
from neurogated.operations import OPERATIONS, REQUIRED, renamings
from neurogated.plasticity.plasticity_engine import Outcome
from neurogated.plasticity.undo import latest_of
from neurogated.server import models
from neurogated.server.callers import Caller, CallerOf

with needs_extra("serve"):
    from fastapi import APIRouter, HTTPException, Query

    from neurogated.integrations.arguments import annotation, body_of

router = APIRouter()
Handler = TypeVar("Handler", bound=Callable[..., Any])
_EMPTY: Any = inspect.Parameter.empty


def _route(**options: Any) -> Callable[[Handler], Handler]:
    """Return a decorator that serves the operation with the name of a function, which runs in a thread.

    The function gets the caller, the ids in the path, and the arguments that are given or have a default.
    """

    def serve(call: Handler) -> Handler:
        operation = OPERATIONS[call.__name__]
        method, path = operation.route.split()
        arguments = operation.doors[operation.route]
        taken: dict[str, tuple[Any, Any]] = {"caller": (CallerOf, _EMPTY)}
        taken |= dict.fromkeys(re.findall(r"{(\w+)}", path), (str, _EMPTY))
        if method in {"POST", "PATCH"}:
            body = body_of(operation)
            optional = method == "POST" and all(one.default is not REQUIRED for one in arguments)
            taken["body"] = (body | None, None) if optional else (body, _EMPTY)
            arguments = ()
        taken |= {one.name: (annotation(one, Query), one.default) for one in arguments}
        old = Query(deprecated=True)
        taken |= {one.was: (Annotated[annotation(one) | None, old], None) for one in arguments if one.was}
        known = dict.fromkeys(("user_id", *(one.name for one in arguments)))

        async def answer(caller: Caller, **given: Any) -> Any:
            body = given.pop("body", None)
            given |= {} if body is None else body.model_dump(exclude_none=True)
            asked = caller.request.query_params.keys()
            olds = renamings(asked, arguments)
            given |= {new: given.pop(old) for old, new in olds.items()}
            for name in asked - known.keys() - olds.keys():
                raise HTTPException(422, f"{name!r} is not known in the address; {hint(name, known)}")
            return await caller.run(call, caller, **{name: one for name, one in given.items() if one is not None})

        answer.__name__, answer.__doc__ = call.__name__, f"{operation.summary[:1].upper()}{operation.summary[1:]}."
        keyword = inspect.Parameter.KEYWORD_ONLY
        shape = [inspect.Parameter(name, keyword, annotation=of, default=one) for name, (of, one) in taken.items()]
        answer.__signature__ = inspect.Signature(shape)  # type: ignore[attr-defined]
        kind = get_type_hints(call)["return"]
        router.add_api_route(path, answer, methods=[method], response_model=kind, tags=[path.split("/")[1]], **options)
        return call

    return serve


@_route(status_code=201, response_model_exclude_defaults=True)
def add(caller: Caller, content: Any, timestamp: Any = "now", **about: Any) -> models.Ids:
    anonymous = _without_ids(content)
    added = caller.memory.add(anonymous, user_id=caller.user_id, timestamp=timestamp, **about)
    notes = [*added.notes, *([] if anonymous == content else ["ids of messages are left out; these are the new ones"])]
    return models.Ids(ids=added, skipped=added.skipped, refused=added.refused, notes=notes)


def _without_ids(content: Any) -> Any:
    """Return messages without ids of their own. A refused id would reveal that another user has it."""
    if isinstance(content, list):
        return list(map(_without_ids, content))
    if not isinstance(content, dict):
        return content
    # The id of an object of LangChain names its class. Envelopes hold messages, but not what a tool returned.
    kept = {key: one for key, one in content.items() if key != "id" or isinstance(one, list)}
    inner = ("values", "data", *HELD_IN, *SYSTEM, *(() if "type" in kept else COMPLETIONS))
    inner = () if kept.get("role") is not None else inner
    return kept | {key: _without_ids(kept[key]) for key in (*inner, *["kwargs"] * ("lc" in kept)) if key in kept}


@_route()
def list_memories(caller: Caller, limit: int, cursor: str | None = None, **about: Any) -> models.MemoryPage:
    after = None if cursor is None else caller.opened(cursor)
    newest, about["user_id"] = about.pop("newest"), caller.user_id
    found = page_of(caller.memory.session, limit, after, cast("FilterOptions", about), newest=newest)
    following = None if found.cursor is None else caller.sealed(found.cursor)
    return models.MemoryPage(memories=[models.Memory.model_validate(node) for node in found], cursor=following)


@_route()
def erase(caller: Caller) -> models.Count:
    if caller.user_id is None:
        raise HTTPException(400, "name the user whose memories are deleted: ?user_id=…")
    return models.Count(count=caller.memory.delete(user_id=caller.user_id))


@_route()
def read(caller: Caller, memory_id: str) -> models.Memory:
    return models.Memory.model_validate(caller.visible(memory_id))


@_route()
def update(caller: Caller, memory_id: str, **changes: Any) -> models.Memory:
    caller.changeable(memory_id)
    return models.Memory.model_validate(caller.memory.update(memory_id, **changes))


@_route()
def delete(caller: Caller, memory_id: str) -> models.Count:
    return models.Count(count=caller.memory.delete(caller.deletable(memory_id)))


@_route()
def recall(caller: Caller, *, explain: bool, **options: Any) -> models.RecalledMemories:
    found = caller.memory.recall(user_id=caller.user_id, **options)
    if explain:
        return models.RecalledMemories.model_validate(found)
    found = replace(found, memories=tuple(replace(one, path=(), flows=()) for one in found))
    return models.RecalledMemories.model_validate(found).model_copy(update={"kernel": None})


@_route()
def context(caller: Caller, **options: Any) -> models.ContextText:
    return models.ContextText.model_validate(caller.memory.get_context(user_id=caller.user_id, **options))


@_route()
def feedback(caller: Caller, ids: list[str], outcome: Outcome) -> models.Count:
    # Shared memories learn only by a key for all users.
    seen = [caller.visible(one).id for one in dict.fromkeys(ids)]
    user_id = None if caller.is_admin else caller.user_id
    return models.Count(count=int(caller.memory.learning.feedback(seen, outcome, user_id=user_id)))


@_route()
def conflicts(caller: Caller, status: Status | Literal["all"], limit: int) -> list[Conflict]:
    wanted = None if status == "all" else status
    return caller.memory.conflicts.list(wanted, user_id=caller.user_id, limit=limit)


@_route()
def resolve(caller: Caller, conflict_id: str, **answer: Any) -> Conflict:
    return caller.memory.conflicts.resolve(conflict_id, user_id=caller.user_id, **answer)


@_route()
def facts(caller: Caller, limit: int, cursor: int, **about: Any) -> models.FactPage:
    found = caller.memory.facts.list(limit=limit + 1, offset=cursor, user_id=caller.user_id, **about)
    return models.FactPage(facts=found[:limit], cursor=cursor + limit if len(found) > limit else None)


@_route(status_code=201)
def state(caller: Caller, **fact: Any) -> models.Ids:
    return models.Ids(ids=[caller.memory.facts.add(user_id=caller.user_id, **fact)])


@_route()
def undo(caller: Caller, to: int | None = None) -> models.Undone:
    made = caller.memory.undo(to, user_id=caller.user_id)
    # The memories of all users stay unseen.
    shown = made.memories if made and to is None else ()
    return models.Undone(undone=made is not None, memories=[models.Version.model_validate(one) for one in shown])


@_route()
def manifest(caller: Caller, token_budget: int) -> models.ManifestWithText:
    of = caller.memory.manifest
    found = of.get(user_id=caller.user_id)
    values = models.attributes(found, (one.name for one in fields(found)))
    return models.ManifestWithText(**values, text=of.text(token_budget=token_budget, user_id=caller.user_id))


@_route()
def execute(caller: Caller, expression: str, *, read_only: bool) -> models.Result:
    found = caller.memory.execute(expression, user_id=caller.user_id, read_only=read_only)
    return models.Result(result=found)


@_route()
def history(caller: Caller, limit: int, cursor: str | None = None) -> models.ChangePage:
    before = LATEST if cursor is None else int(caller.opened(cursor))
    found = list(islice(latest_of(caller.memory.store, caller.user_id, before), limit))
    following = caller.sealed(str(found[-1].sequence)) if len(found) == limit else None
    changes = [models.MemoryChange.model_validate(one) for one in found]
    if caller.user_id is not None:
        # Numbers and reasons of changes would tell how much other users write.
        changes = [one.model_copy(update={"sequence": None, "reason": None}) for one in changes]
    return models.ChangePage(changes=changes, cursor=following)
