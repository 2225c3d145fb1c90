"""Tools for tests of a memory: a manual clock, and a conformance kit for authors of stores.

`README.md` beside this file shows how to test a store. The kit imports pytest and Hypothesis only when it is used.
"""

from typing import TYPE_CHECKING, Any

from neurogated.testing.model import ManualClock

if TYPE_CHECKING:
    from neurogated.testing.contract import GraphStoreContract
    from neurogated.testing.machine import GraphStoreMachine, store_machine
    from neurogated.testing.model import GraphModel

__all__ = ["GraphModel", "GraphStoreContract", "GraphStoreMachine", "ManualClock", "store_machine"]

_HOMES = {
    "GraphModel": "model",
    "GraphStoreContract": "contract",
    "GraphStoreMachine": "machine",
    "store_machine": "machine",
}
# Modules whose failed assertions pytest is to explain.
_ASSERTING = ("neurogated.testing.contract", "neurogated.testing.machine")


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module 'neurogated.testing' has no attribute {name!r}")
    import importlib

    home = f"neurogated.testing.{_HOMES[name]}"
    if home in _ASSERTING:
        _prepare()
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _prepare() -> None:
    """Let pytest explain the kit's assertions.

    Raises:
        MissingExtraError: pytest or Hypothesis is not installed.
    """
    import importlib
    import sys

    from neurogated.errors import MissingExtraError

    for package in ("pytest", "hypothesis"):
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(
                f"package {package!r} is not installed; pip install 'neurogated[testing]'"
            ) from error
    import pytest

    pytest.register_assert_rewrite(*(home for home in _ASSERTING if home not in sys.modules))
