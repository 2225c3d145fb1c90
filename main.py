"""The command line, as `neurogated`; `from main import NeuroGraphMemory` imports the names of the package too."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurogated import NeuroGraphMemory

# A checkout runs without installation.
sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

__all__ = ["NeuroGraphMemory"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    import neurogated  # noqa: PLC0415 - only now can it be found

    return getattr(neurogated, name)


if __name__ == "__main__":
    from neurogated.cli import main

    sys.exit(main())
