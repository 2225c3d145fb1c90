"""Both stores of the project pass the conformance kit."""

from pathlib import Path

from neurogated import GraphStore
from neurogated.core.clock import Clock
from neurogated.testing import GraphStoreContract


class TestGraphStore(GraphStoreContract):
    """Small enough in its overlay to merge often."""

    def open_store(self, folder: Path, *, clock: Clock) -> GraphStore:  # noqa: ARG002 - it writes nothing
        return GraphStore(overlay_edges=4, clock=clock)
