"""Memory for AI agents that works like memory: a graph of typed edges, recalled by spreading activation."""

import logging
import re
from pathlib import Path
from typing import Any

from neurogated.core.defaults import Models, set_default_models
from neurogated.version import __version__ as __version__

# Loaded on first use, so that `import neurogated` is fast and imports no model.
_NAMES = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: home for home, name in re.findall(r"from (\S+) import (\w+)", _NAMES)}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - the names of the stub

# Logs nothing until the application sets up logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        from neurogated.core.habits import ELSEWHERE

        if name in ELSEWHERE:
            # Python would replace the message of an AttributeError of `from neurogated import …`.
            raise ImportError(f"neurogated has no {name!r}; call {ELSEWHERE[name]}", name=name)
        raise AttributeError(f"module 'neurogated' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__


def _default_models(config: Any) -> Models:  # noqa: ANN401 - a MemoryConfig or None
    from neurogated.session import compose

    return compose.default_models(config)


set_default_models(_default_models)
