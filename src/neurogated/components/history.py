"""`History`: the changes of a memory, and how to take them back."""

import builtins
from itertools import islice
from typing import NoReturn
from uuid import UUID

from neurogated.core.delta import HistoryEntry, NodeVersion
from neurogated.core.model import checked_count
from neurogated.core.scope import ANY_USER, UserChoice
from neurogated.errors import InputError, UnknownIdError
from neurogated.plasticity.undo import latest_of, undo
from neurogated.session.session import Component, Notice
from neurogated.text.strings import checked_name, checked_text


class History(Component):
    """The calls about the past, as `memory.history`."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse a call as in other libraries, in words."""
        raise TypeError("history has calls of its own: history.of(id) for one memory, history.list() for all changes")

    def list(self, *, user_id: UserChoice = None, last: int | None = None) -> builtins.list[HistoryEntry]:
        """Return the changes with their times, reasons and memories, oldest first; accesses are left out.

        Raises InputError if the setting `require_user` asks for a user, the user is no name, or `last` is negative.

        Args:
            user_id: only the changes of this user's memories and of their edges; of all users when left out.
            last: at most so many, the newest ones. Without it, this reads all texts that the memory ever had.
        """
        checked_count("last", last or 0)
        user_id = self._session.of_user(user_id)
        found = latest_of(self._session.store, ANY_USER if user_id is None else user_id)
        return [*islice(found, last)][::-1]

    def of(self, node_id: str | UUID) -> builtins.list[NodeVersion]:
        """Return the versions of a memory, oldest first.

        Raises:
            UnknownIdError: no memory ever had this id.
            InputError: the id cannot be an id.
        """
        versions, wanted = builtins.list[NodeVersion](), checked_text("the id of a memory", str(node_id))
        for sequence, delta in ((one.sequence, one.delta) for one in self._session.store.journal(about=wanted)):
            put = (node for node in delta.nodes if node.id == wanted)
            versions += [NodeVersion(sequence, delta.at, delta.reason, node, node.id) for node in put]
            if wanted in delta.removed_nodes:
                versions.append(NodeVersion(sequence, delta.at, delta.reason, None, wanted))
        if not versions:
            raise UnknownIdError(f"no node {wanted!r} in the memory, now or in its past")
        return versions

    def of_user(self, user_id: str) -> builtins.list[NodeVersion]:
        """Return the versions of all memories of a user with their texts, in the order they were written."""
        versions, own, user_id = builtins.list[NodeVersion](), set[str](), checked_name("user_id", user_id)
        for sequence, delta in ((entry.sequence, entry.delta) for entry in self._session.store.journal()):
            put = [node for node in delta.nodes if node.scope.user_id == user_id]
            own.update(node.id for node in put)
            versions += [NodeVersion(sequence, delta.at, delta.reason, node, node.id) for node in put]
            gone = (one for one in delta.removed_nodes if one in own)
            versions += [NodeVersion(sequence, delta.at, delta.reason, None, one) for one in gone]
        return versions

    def undo(self, to: int | None = None, *, user_id: UserChoice = None) -> HistoryEntry | None:
        """Take back changes; see `NeuroGraphMemory.undo`."""
        if to is not None and user_id is not None:
            raise InputError(
                "undo(to=…) takes back the changes of all users, and undo(user_id=…) the last thing of one user; "
                "give one of them, and call undo(user_id=…) once for each thing to take back"
            )
        if to is not None and (type(to) is not int or to < 0):
            raise InputError(f"the change to go back to is {to!r}, but must be a sequence of history.list()")
        with self._session.exclusively():
            user_id = self._session.of_user(user_id) if to is None else ANY_USER
            made = undo(self._session.store, to, self._session.clock, user_id=user_id)
        self._session.notify(Notice("undone"))
        return made
