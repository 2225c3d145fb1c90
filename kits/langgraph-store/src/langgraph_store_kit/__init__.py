"""`LangGraphStoreContract`: a conformance kit for stores of LangGraph, as tests that their author inherits.

`python -m langgraph_store_kit module:factory` runs it over a store without a line of test.
"""

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from langgraph_store_kit.contract import LangGraphStoreContract
    from langgraph_store_kit.words import embed_words

__all__ = ["LangGraphStoreContract", "embed_words"]

_HOMES = {"LangGraphStoreContract": "contract", "embed_words": "words"}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # A running pytest explains failed assertions in modules that it knows before they are imported.
    modules = {module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.")}
    pytest.register_assert_rewrite(*modules - set(sys.modules))
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
