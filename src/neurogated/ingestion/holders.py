"""Which texts hold what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

__all__ = ["Holders"]


class Holders:
    """The texts that hold each name; what more than `limit` hold is common and tells nothing.

    It remembers how things stood before they were first changed, until it is asked what changed.
    """

    def __init__(self, limit: int, *, complete: bool) -> None:
        """Begin with none.

        Args:
            limit: how many texts may hold a name that is not common.
            complete: keep every holder; otherwise no more of them than show that a name is common.
        """
        self._limit = limit
        self._complete = complete
        self._ids: dict[str, list[str]] = {}
        self._before: dict[str, tuple[str, ...]] = {}

    def of(self, name: str) -> Sequence[str]:
        """Return the holders, none where the name is common."""
        ids = self._ids.get(name, ())
        return ids if len(ids) <= self._limit else ()

    def known(self, name: str) -> Sequence[str]:
        """Return the holders that are kept, also where the name is common."""
        return self._ids.get(name, ())

    def is_common(self, name: str) -> bool:
        """Return whether more than `limit` hold it."""
        return len(self._ids.get(name, ())) > self._limit

    def add(self, name: str, node_id: str) -> None:
        """Note a new holder."""
        self._note(name)
        if self._complete or not self.is_common(name):
            self._ids.setdefault(name, []).append(node_id)

    def remove(self, gone: Mapping[str, Collection[str]]) -> list[str]:
        """Forget holders of several names.

        Returns:
            The names of which more holders may be found, since not all were kept.
        """
        open_names = []
        for name, ids in gone.items():
            self._note(name)
            known = self._ids.get(name, [])
            kept = [node_id for node_id in known if node_id not in ids]
            if not self._complete and len(kept) < len(known) and self.is_common(name):
                open_names.append(name)
            if kept:
                self._ids[name] = kept
            else:
                self._ids.pop(name, None)
        return open_names

    def drop(self, name: str) -> None:
        """Forget a name with all its holders."""
        self._ids.pop(name, None)

    def changed(self) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
        """Return the holders before and now of what was changed since this was last asked, none where common."""
        before, self._before = self._before, {}
        return {name: (ids, self.of(name)) for name, ids in before.items()}

    def _note(self, name: str) -> None:
        if name not in self._before:
            self._before[name] = tuple(self.of(name))
