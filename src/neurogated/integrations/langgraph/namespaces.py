"""Lists of namespaces."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.store.base import ListNamespacesOp, MatchCondition

from neurogated.errors import InputError
from neurogated.integrations.langgraph.items import Namespace

_ANY = "*"


def listed(namespaces: Sequence[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """Return the page of the namespaces that fulfil all conditions, each cut to the largest depth."""
    conditions = op.match_conditions or ()
    found = [one for one in namespaces if all(_fulfils(one, condition) for condition in conditions)]
    cut = list(dict.fromkeys(one[: op.max_depth] for one in found))
    return cut[op.offset : op.offset + op.limit]


def checked_conditions(op: ListNamespacesOp) -> None:
    """Refuse an unknown type of a condition; raises InputError."""
    for condition in op.match_conditions or ():
        if condition.match_type not in {"prefix", "suffix"}:
            raise InputError(f"a namespace has a prefix or a suffix, and no {condition.match_type!r}")


def _fulfils(namespace: Namespace, condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in (_ANY, label) for wanted, label in zip(path, part, strict=True))
