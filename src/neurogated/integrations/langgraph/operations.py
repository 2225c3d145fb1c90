"""Checks of operations before any of a batch runs."""

from __future__ import annotations

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp, validate_op_namespace

from neurogated.core.model import checked_count
from neurogated.errors import InputError
from neurogated.integrations.langgraph.filters import compiled
from neurogated.integrations.langgraph.items import checked_fields, checked_key, checked_ttl, checked_value
from neurogated.integrations.langgraph.namespaces import checked_conditions
from neurogated.text.strings import checked_text


def checked_op(op: Op) -> Op:
    """Return an operation with a detached value.

    Raises:
        InvalidNamespaceError: a label is not valid.
        InputError: anything else is not valid.
    """
    if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
        raise InputError(f"{op!r} is no operation of a store")
    validate_op_namespace(op)
    if isinstance(op, SearchOp | ListNamespacesOp):
        checked_count("limit", op.limit)
        checked_count("offset", op.offset)
    if isinstance(op, ListNamespacesOp):
        checked_conditions(op)
    elif isinstance(op, SearchOp):
        compiled(op.filter)
        if op.query is not None:
            checked_text("the query", op.query)
    else:
        checked_key(op.key)
    if isinstance(op, PutOp):
        checked_fields(op.index)
        value = None if op.value is None else checked_value(op.value)
        return op._replace(namespace=tuple(op.namespace), value=value, ttl=checked_ttl(op.ttl))
    return op
