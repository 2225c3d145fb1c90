"""A conformance kit for stores of `neurogated`: tests that the author of a store inherits.

`README.md` of this package shows how to test a store.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from graph_store_kit.contract import GraphStoreContract
    from graph_store_kit.machine import GraphStoreMachine, store_machine
    from graph_store_kit.model import GraphModel

__all__ = ["GraphModel", "GraphStoreContract", "GraphStoreMachine", "store_machine"]

_HOMES = {
    "GraphModel": "model",
    "GraphStoreContract": "contract",
    "GraphStoreMachine": "machine",
    "store_machine": "machine",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # A running pytest explains failed assertions in modules that it knows before they are imported.
    modules = {f"{__name__}.contract", f"{__name__}.machine"}
    pytest.register_assert_rewrite(*modules - set(sys.modules))
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
