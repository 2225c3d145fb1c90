"""An argument of a wrong type raises an error of ours that names it, and changes nothing."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from neurogated import GraphDelta, MemoryConfig, NeuroGraphMemory
from neurogated.core.arguments import names_arguments
from neurogated.errors import InputError, NeurogatedError
from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
from neurogated.storage.graph_store import GraphStore

WRONG = (
    *(None, 3, -1, 2.5, math.nan, 10**30, 10**5000, True, b"bytes", "text", "\ud800", ["x"], [3], {"x": 1}, {3}),
    *(object(), np.zeros(2), timedelta.max, timedelta.min),
    *(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
)
UNTRIED = {"close", "disown", "in_namespace", "drop_namespace"}
VECTOR = np.ones(256, np.float32)
# Fitting values for arguments without a default.
FITTING: dict[str, Any] = {
    "content": "A stone.", "text": "A stone.", "documents": ["A stone."], "document_id": "doc", "query": "heron",
    "queries": ["heron"], "path": "nowhere", "callback": print, "event": "added", "name": "other", "moment": 0,
    "delta": GraphDelta(), "dimension": 64, "k": 2, "source": "a", "source_id": "a", "target_id": "b",
    "relation": "is", "tags": ["x"], "terms": ["x"], "limits": {"x": 1}, "edge": ("a", "b", "SEQ"),
    "rows": np.zeros(1, np.int64), "nearest query": VECTOR, "vector_search query": VECTOR,
    "similarities query": VECTOR, "nearest_rows queries": [VECTOR],
}  # fmt: skip


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as opened:
        opened.add(["A heron stood by the mill.", "The mill drives the pump."], session_id="s")
        yield opened


def methods() -> list[tuple[type, str]]:
    return [
        (cls, name)
        for cls in (NeuroGraphMemory, GraphStore)
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not (name.startswith("_") or name in UNTRIED or inspect.iscoroutinefunction(method))
    ]


def calls(memory: NeuroGraphMemory, method: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any method
    """Yield the arguments of calls in which one argument does not fit."""
    node = next(memory.store.all_nodes())
    now = memory.session.parts.clock()
    of_memory: dict[str, Any] = {
        "ids": [node.id],
        "node_id": node.id,
        "node_ids": [node.id],
        "relevant_node_ids": [node.id],
    }
    of_memory |= {"view": memory.store.view(), "recall": memory.recall("heron"), "node": node, "now": now}
    fitting = FITTING | of_memory
    needed, names = {}, []
    for one in inspect.signature(method).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            names += typing.get_args(typing.get_type_hints(method)[one.name])[0].__annotations__
            continue
        names.append(one.name)
        if one.default is one.empty:
            needed[one.name] = fitting.get(f"{method.__name__} {one.name}", fitting.get(one.name))
    return ({**needed, name: wrong} for name in names for wrong in WRONG)


@pytest.mark.parametrize(("cls", "name"), methods(), ids=[f"{cls.__name__}.{name}" for cls, name in methods()])
def test_a_wrong_argument_is_refused_and_changes_nothing(memory: NeuroGraphMemory, cls: type, name: str) -> None:
    method = getattr(memory if cls is NeuroGraphMemory else memory.store, name)
    for arguments in calls(memory, method):
        before, nodes = memory.store.view().sequence, list(memory.store.all_nodes())
        try:
            found = method(**arguments)
            if isinstance(found, Iterator):
                list(found)
        except NeurogatedError:
            now = memory.store.view().sequence, list(memory.store.all_nodes())
        else:
            continue
        assert now == (before, nodes), arguments


@pytest.mark.parametrize("cls", [NeuroGraphMemory, NeuroRetriever])
def test_an_unknown_argument_is_named_with_all_known_ones(memory: NeuroGraphMemory, cls: type) -> None:
    here = memory if cls is NeuroGraphMemory else memory.retriever
    options = [*typing.get_type_hints(RecallOptions), "query"]
    for name in ("recall", "retrieve"):
        with pytest.raises(InputError) as caught:
            getattr(here, name)("heron", topn=3)
        assert sorted(str(caught.value).partition("known are ")[2].split(", ")) == sorted(options)


def test_an_error_that_no_argument_explains_is_unchanged() -> None:
    @names_arguments
    class Part:
        def divide(self, number: float) -> float:  # noqa: ARG002 - it fits
            raise TypeError("a fault of the program")

    with pytest.raises(TypeError, match="a fault of the program"):
        Part().divide(1.0)
