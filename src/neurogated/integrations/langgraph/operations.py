"""Operations of a batch: their checks before any of them runs, and their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, Self

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp, validate_op_namespace

from neurogated.core.model import checked_count
from neurogated.errors import InputError
from neurogated.integrations.langgraph.filters import compiled
from neurogated.integrations.langgraph.items import (
    checked_conditions,
    checked_fields,
    checked_key,
    checked_ttl,
    checked_value,
)
from neurogated.text.strings import repaired_text

Read = GetOp | SearchOp | ListNamespacesOp


class Batch(NamedTuple):
    """The operations of a batch in the order to run them."""

    reads: Sequence[Mapping[int, Read]]
    """Groups that may run side by side, by the places of their results. Each search with a query is a group."""
    puts: Sequence[PutOp]
    """They follow the reads."""
    size: int

    @classmethod
    def of(cls, ops: Iterable[Op]) -> Self:
        """Return checked operations in groups; raises as `checked_op`."""
        given = [checked_op(op) for op in ops]
        reads = {place: op for place, op in enumerate(given) if not isinstance(op, PutOp)}
        slow = {place: op for place, op in reads.items() if isinstance(op, SearchOp) and op.query}
        quick = {place: op for place, op in reads.items() if place not in slow}
        alone: list[dict[int, Read]] = [{place: op} for place, op in slow.items()]
        groups = [quick, *alone] if quick else alone
        return cls(groups, [op for op in given if isinstance(op, PutOp)], len(given))

    def results(self, found: Iterable[Sequence[Result]]) -> list[Result]:
        """Return the result of each operation, given those of each group."""
        by_place = dict(zip(chain.from_iterable(self.reads), chain.from_iterable(found), strict=True))
        return [by_place.get(place) for place in range(self.size)]


def _refuse_texts(op: Op) -> None:
    """Refuse a text as a namespace, because its letters would be the labels; LangGraph's tests list by such texts."""
    if isinstance(op, ListNamespacesOp):
        return
    given: object = op.namespace_prefix if isinstance(op, SearchOp) else op.namespace
    if isinstance(given, str):
        raise InputError(f"the namespace {given!r} is a text, but must be a tuple of labels, such as ({given!r},)")


def checked_op(op: Op) -> Op:
    """Return an operation with a detached value.

    Raises:
        InvalidNamespaceError: a label is not valid.
        InputError: anything else is not valid.
    """
    if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
        raise InputError(f"{op!r} is no operation of a store")
    _refuse_texts(op)
    validate_op_namespace(op)
    if isinstance(op, SearchOp | ListNamespacesOp):
        checked_count("limit", op.limit)
        checked_count("offset", op.offset)
    if isinstance(op, ListNamespacesOp):
        checked_conditions(op)
    elif isinstance(op, SearchOp):
        compiled(op.filter)
        if op.query is not None:
            op = op._replace(query=repaired_text("the query", op.query))
    else:
        checked_key(op.key)
    if isinstance(op, PutOp):
        checked_fields(op.index)
        value = None if op.value is None else checked_value(op.value)
        return op._replace(namespace=tuple(op.namespace), value=value, ttl=checked_ttl(op.ttl))
    return op
