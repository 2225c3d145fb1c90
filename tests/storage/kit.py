"""The conformance kit for stores that can be opened again at their place, such as a folder or a URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import TestCase
from weakref import WeakKeyDictionary

import pytest
from hypothesis import settings

from graph_store_kit import GraphStoreContract, store_machine
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort

_EXAMPLES = 8

Opening = Callable[[Any, Clock], GraphStorePort]


def suite(
    opening: Opening, new_place: Callable[[Path], Any], kill: Callable[[Any, Any], Any]
) -> tuple[type[GraphStoreContract], type[TestCase]]:
    """Return the contract and the state machine of a kind of store.

    `opening` opens a store at a place with a clock. `kill` gets a store and its place, and returns the place of what
    its process leaves behind. The machine has a third of its examples, or all of them at night: in CI the examples are
    the same in each run, so that more of them find a fault only once.
    """
    places: WeakKeyDictionary[GraphStorePort, tuple[Any, Clock]] = WeakKeyDictionary()

    def opened(place: Any, clock: Clock) -> GraphStorePort:  # noqa: ANN401 - as the kind of store says
        store = opening(place, clock)
        places[store] = place, clock
        return store

    def open_store(folder: Path, *, clock: Clock) -> GraphStorePort:
        return opened(new_place(folder), clock)

    def reopen(store: GraphStorePort) -> GraphStorePort:
        store.close()
        return opened(*places[store])

    def killed(store: GraphStorePort) -> GraphStorePort:
        place, clock = places[store]
        left = kill(store, place)
        other = opened(left, clock)
        store.close()
        return other

    hooks = {"open_store": staticmethod(open_store), "reopen": staticmethod(reopen), "kill": staticmethod(killed)}
    machine = store_machine(open_store=open_store, reopen=reopen, kill=killed).TestCase
    if settings.get_current_profile_name() != "nightly":
        machine.settings = settings(machine.settings, max_examples=_EXAMPLES)
    return type("Suite", (GraphStoreContract,), hooks), pytest.mark.slow(machine)
