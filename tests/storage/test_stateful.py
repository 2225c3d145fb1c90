"""Both stores against an obvious model of dictionaries, over random histories."""

from pathlib import Path

from neurogated import GraphStore
from neurogated.core.clock import Clock
from neurogated.testing import store_machine


def _in_memory(folder: Path, *, clock: Clock) -> GraphStore:  # noqa: ARG001 - it writes nothing
    return GraphStore(overlay_edges=3, clock=clock)


TestGraphStoreMachine = store_machine(open_store=_in_memory).TestCase
