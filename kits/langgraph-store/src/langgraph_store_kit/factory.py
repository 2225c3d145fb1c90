"""From `module:factory` on a command line to a class of tests of the stores that the factory makes."""

import importlib
import inspect
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import reduce
from typing import Any

import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig

from langgraph_store_kit import LangGraphStoreContract

NEEDED = {"vectors": "index", "ttl": "ttl", "durable": "place", "shared": "place"}
"""The parameter that a factory must have so that its stores can have an ability."""


def suite_of(target: str, without: Iterable[str] = ()) -> type[LangGraphStoreContract]:
    """Return the contract over the stores of a factory.

    A factory without the parameter `index`, `ttl` or `place` makes stores without the abilities that need it.

    Args:
        target: `module:factory`; instead of a factory, a subclass of `LangGraphStoreContract`.
        without: further abilities that the stores lack, by the attributes of the contract.

    Raises:
        UsageError: there is no such factory, or it has other required parameters than `place`, `index` and `ttl`.
    """
    made = _load(target)
    lacks: dict[str, Any] = dict.fromkeys(without, False)
    if isinstance(made, type) and issubclass(made, LangGraphStoreContract):
        return type(made.__name__, (made,), lacks)
    try:
        parameters = inspect.signature(made).parameters
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{target} cannot be called to make a store; it is {made!r:.80}.") from error
    for one in parameters.values():
        required = one.default is one.empty and one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
        if required and one.name not in NEEDED.values():
            raise pytest.UsageError(f"{target} requires {one.name!r}, but is called with place, index and ttl only.")

    class FactoryContract(LangGraphStoreContract):
        @contextmanager
        def open_store(
            self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
        ) -> Iterator[BaseStore]:
            given = {"place": place, "index": index, "ttl": ttl}
            store = made(**{name: value for name, value in given.items() if name in parameters})
            with store if isinstance(store, AbstractContextManager) else nullcontext(store) as opened:
                yield opened

    missing = {ability: False for ability, parameter in NEEDED.items() if parameter not in parameters}
    suite = type("FactoryContract", (FactoryContract,), missing | lacks)
    # Without this, each probe would fail for the same reason.
    with tempfile.TemporaryDirectory() as place, suite().open_store(place) as store:
        if not isinstance(store, BaseStore):
            raise pytest.UsageError(f"{target} returned an object of type {type(store).__name__}, not a BaseStore.")
    return suite


def _load(target: str) -> Any:  # noqa: ANN401 - whatever the user names
    """Return the object that `module:name` names; the name may have dots."""
    module, _, name = target.partition(":")
    if not module or not name:
        raise pytest.UsageError(f"{target!r} is not of the form module:factory.")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A module that the user's own module needs is no mistake of the command line.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise pytest.UsageError(
            f"There is no module {error.name!r} in this folder, on PYTHONPATH or among the installed packages."
        ) from error
    try:
        return reduce(getattr, name.split("."), found)
    except AttributeError as error:
        raise pytest.UsageError(f"The module {module!r} has no {name!r}.") from error
