"""`LangGraphStoreContract`: a conformance kit for stores of LangGraph, as tests that their author inherits.

`README.md` beside this file shows how to test a store. The kit needs pytest and `langgraph-checkpoint`.
"""

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from neurogated.errors import MissingExtraError

if TYPE_CHECKING:
    from neurogated.testing.langgraph.contract import LangGraphStoreContract
    from neurogated.testing.langgraph.words import embed_words

__all__ = ["LangGraphStoreContract", "embed_words"]

_HOMES = {"LangGraphStoreContract": "contract", "embed_words": "words"}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_HOMES[name]}"
    if home not in sys.modules:
        _prepare()
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _prepare() -> None:
    """Let pytest explain the kit's assertions.

    Raises:
        MissingExtraError: pytest or LangGraph's base of stores is not installed.
    """
    for package, install in (("pytest", "neurogated[testing]"), ("langgraph.store.base", "langgraph-checkpoint")):
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingExtraError(f"package {package!r} is not installed; pip install '{install}'") from error
    modules = {module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.")}
    importlib.import_module("pytest").register_assert_rewrite(*modules - set(sys.modules))
