"""Policies: expressions that run after an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from neurogated.core.filters import Condition
from neurogated.errors import ExpressionError
from neurogated.operations import Argument
from neurogated.sexpr.check import Call, call_of, value_of
from neurogated.sexpr.reader import Atom, Expression, Form, Symbol, read

LONGEST: Final = 2_000
"""Most characters of a policy."""
ALLOWED: Final = frozenset({"remember", "associate", "feedback", "decay!"})
"""The operations of policies. Each writes one delta, so a policy is never half done."""
_IT: Final = Atom(Symbol("it"))
_PARTS_OF_WHEN: Final = 3


def policy_call(text: str, it: str | None, metadata: Mapping[str, Any]) -> Call | None:
    """Return the call of a policy, or None if its condition does not hold.

    A policy is a call, or `(when CONDITION CALL)`. The symbol `it` in a call is the id of the memory of the event.

    Args:
        text: the policy.
        it: the id of the memory; None if the event has none.
        metadata: what the condition reads.

    Raises:
        ExpressionError: it is no policy, or needs a memory although the event has none.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"a policy has more than {LONGEST} characters", text, LONGEST)
    condition, given = _parts(read(text), text)
    call = call_of(given if it is None else _with(it, given), text)
    if call.operation.name not in ALLOWED:
        raise ExpressionError(f"a policy runs {', '.join(sorted(ALLOWED))} only", text, given.at)
    if condition is not None and it is None:
        raise ExpressionError("only a policy that runs after remember has a condition", text, 0)
    return call if condition is None or condition.admits(metadata) else None


def _parts(given: Expression, text: str) -> tuple[Condition | None, Expression]:
    if not isinstance(given, Form) or given.is_quoted or given.items[:1] != (Atom(Symbol("when")),):
        return None, given
    if len(given.items) != _PARTS_OF_WHEN:
        raise ExpressionError("when has a condition and a call", text, given.at)
    _, condition, call = given.items
    return cast("Condition", value_of(Argument("the condition", "condition"), condition, text)), call


def _with(it: str, given: Expression, depth: int = 2) -> Expression:
    """Return a call with an id in place of `it`, also within the lists of its arguments."""
    if given == _IT:
        return Atom(it, given.at)
    if not isinstance(given, Form) or depth == 0:
        return given
    return replace(given, items=tuple(_with(it, one, depth - 1) for one in given.items))
