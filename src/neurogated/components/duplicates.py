"""`Duplicates`: memories that say the same."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from neurogated.context.echo import separated
from neurogated.core.delta import GraphDelta
from neurogated.core.same_as import others_of
from neurogated.session import Component


class Duplicates(Component):
    """The calls about duplicates, as `memory.duplicates`; see `metabolism.find_duplicates`."""

    def of(self, node_id: str | UUID) -> list[str]:
        """Return the ids of the memories that say the same as a memory.

        Raises:
            UnknownIdError: the id is not in the memory.
        """
        view = self._session.store.view()
        (others,) = others_of(view, view.rows([str(node_id)]))
        return list(others)

    def separate(self, node_id: str | UUID) -> bool:
        """Separate a memory from those that say the same, for good; another memory comes in front of these.

        An echo becomes a memory like others. `undo` takes it back.

        Returns:
            Whether it was linked to others.

        Raises:
            UnknownIdError: the id is not in the memory.
        """
        return bool(self._session.commit(lambda: self._separation(str(node_id))))

    def link(self) -> int:
        """Link the memories that say the same, if they are not linked yet; return the number of new links.

        Writes do so for new memories, and `learning.consolidate` for older ones. A frozen memory links nothing.
        """
        with self._session.runtime.work("deduplicating"):
            return 0 if self._session.runtime.is_frozen() else self._session.writer.deduplicate()

    def _separation(self, node_id: str) -> GraphDelta:
        at = self._session.clock()
        delta = self._session.writer.duplicates.separation(node_id, at)
        return replace(delta, edges=(*delta.edges, *separated(self._session.store.view(), node_id, at)))
