"""The calls about memories that contradict each other or say the same."""

import builtins
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from neurogated.context.echo import separated
from neurogated.core.conflicts import CONFLICT, Conflict, Status, conflicts_in
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import sources_of
from neurogated.core.filters import Filter
from neurogated.core.judgements import Relation
from neurogated.core.model import checked_count
from neurogated.core.same_as import others_of
from neurogated.core.scope import ANY_USER, AnyUser, ScopeFilter, UserChoice
from neurogated.errors import InputError, UnknownIdError
from neurogated.knowledge.comparing import Content, compare_contents
from neurogated.knowledge.effects import Effect, effect_of, resolution
from neurogated.session.session import Component, Notice
from neurogated.text.strings import checked_name, checked_text, repaired_text


class Duplicates(Component):
    """The calls about duplicates, as `memory.duplicates`; see `metabolism.find_duplicates`."""

    def of(self, node_id: str | UUID) -> list[str]:
        """Return the ids of the memories that say the same as a memory.

        Raises UnknownIdError if the id is not in the memory.
        """
        view = self._session.store.view()
        (others,) = others_of(view, view.rows([str(node_id)]))
        return list(others)

    def separate(self, node_id: str | UUID) -> bool:
        """Separate a memory from those that say the same, for good; another memory comes in front of these.

        Return whether it was linked to others. An echo becomes a memory like others. `undo` takes it back. Raises
        UnknownIdError if the id is not in the memory.
        """
        name, session = str(node_id), self._session

        def separation() -> GraphDelta:
            at = session.clock()
            delta = session.writer.duplicates.separation(name, at)
            return replace(delta, edges=(*delta.edges, *separated(session.store.view(), name, at)))

        return bool(session.commit(separation))

    def link(self) -> int:
        """Link the memories that say the same, if they are not linked yet; return the number of new links.

        Writes do so for new memories, and `learning.consolidate` for older ones. A frozen memory links nothing.
        """
        with self._session.runtime.work("deduplicating"):
            return 0 if self._session.runtime.is_frozen() else self._session.writer.deduplicate()


_STATUSES = ("open", "resolved", None)
_ANSWERS = ("both", "supersede")
"""The answers to a conflict besides the ids of its sides."""


class Conflicts(Component):
    """The calls about contradictions, as `memory.conflicts`."""

    def compare(self, first: Content, second: Content) -> Relation:
        """Return how two statements relate, as if they were told one after the other; nothing is stored.

        Args:
            first: a text, or a fact: a mapping with `subject`, `attribute` and `value`. A text with times is a mapping
                with `content`. Either may have `timestamp` (when it was said), `valid_from` and `valid_to`.
            second: another.

        Returns a contradiction, supersession, refinement, duplicate or independent pair, with confidence and reason.
        The first two have an outcome: the earlier statement is superseded, or both are contested. Facts about different
        attributes are independent.

        Raises:
            InputError: a fact lacks a part, or a time cannot be read; or one side is a text, and the memory has neither
                a language model nor a cross-encoder (`metabolism.knowledge`).
            LLMError: the model does not answer.
        """
        parts = self._session.parts
        return compare_contents(parts.text_judge, first, second, self._session.clock())

    def list(
        self, status: Status | None = "open", *, user_id: UserChoice = None, limit: int | None = None
    ) -> builtins.list[Conflict]:
        """Return the conflicts between memories, the latest first.

        Raises InputError if the status is unknown, or the limit is negative.

        Args:
            status: `open` or `resolved`; both when it is None.
            user_id: the user whose conflicts are found, with those of memories without an owner; without one, only the
                latter.
            limit: return at most this many.
        """
        if status not in _STATUSES:
            raise InputError(f"the status is {status!r}, but must be 'open', 'resolved' or None for both")
        checked_count("limit", 0 if limit is None else limit)
        store, scope = self._session.store, ScopeFilter(self._session.of_user(user_id))
        held = store.snapshot(filters=Filter(kinds=(CONFLICT,), scope=scope))
        stored = conflicts_in(held.view, held.find())
        computed = (one for one in held.disputes() if scope.admits(one.scope))
        latest = datetime.max.replace(tzinfo=UTC)
        by_time = sorted((*stored, *computed), key=lambda one: one.created_at or latest)
        found = [one for one in by_time if status in {None, one.status}]
        return self._session.explained(found[::-1][:limit])

    def resolve(
        self, conflict_id: str, keep: str, *, because: str | None = None, user_id: UserChoice = ANY_USER
    ) -> Conflict:
        """Give a conflict an outcome, in one delta that `undo` takes back. A later call gives it another outcome.

        Args:
            conflict_id: the conflict.
            keep: the id of the right side, or of a memory that only this side is read from: the other side is wrong,
                and held at no time. Or `both`: both stand. Or `supersede`: the side that began earlier holds until the
                other begins. The id of a side comes first.
            because: the reason, such as the answer of the user.
            user_id: settle only a conflict of this user's own memories; None: of memories without an owner.

        Raises:
            UnknownIdError: there is no such conflict, or one of its memories is gone.
            InputError: `keep` is none of these.
        """
        if because is not None:
            because = repaired_text("the reason", because)
        resolved: builtins.list[Conflict] = []

        def outcome() -> GraphDelta:
            conflict = self._conflict(conflict_id, user_id)
            store = self._session.store
            delta, after = resolution(store, conflict, self._answer(conflict, keep), because, self._session.clock())
            resolved.append(after)
            return delta

        self._session.commit(outcome, lambda _: Notice("changed"))
        # A side may have been deleted since.
        return next(iter(self._session.explained(resolved)), resolved[0])

    def effects(self, conflict_id: str) -> builtins.list[Effect]:
        """Return the changes that each answer to a conflict would make; nothing is written.

        They are those of keeping the first memory, the second one, `both`, and of `supersede`. Raises UnknownIdError if
        there is no such conflict, or one of its memories is gone.
        """
        conflict, now = self._conflict(conflict_id), self._session.clock()
        answers = dict.fromkeys((*conflict.sides, *_ANSWERS))
        return [effect_of(self._session.store, conflict, keep, now) for keep in answers]

    def _answer(self, conflict: Conflict, keep: str) -> str:
        """Return an answer with the side of a memory in place of the memory."""
        if keep in (*conflict.sides, *_ANSWERS):
            return keep
        sources = sources_of(self._session.store.view(), conflict.sides)
        sides = [side for side in conflict.sides if keep in sources.get(side, ())]
        if len(sides) != 1:
            raise InputError(
                f"keep is {keep!r}, but must be 'both', 'supersede', or one of {' and '.join(conflict.sides)}"
            )
        return sides[0]

    def _conflict(self, conflict_id: str, user_id: UserChoice = ANY_USER) -> Conflict:
        held, wanted = self._session.store.snapshot(), checked_text("the id of a conflict", conflict_id)
        stored = conflicts_in(held.view, held.nodes(held.view.known_rows([wanted])))
        found = stored or [one for one in held.disputes() if one.id == wanted]
        owner = user_id if isinstance(user_id, AnyUser | None) else checked_name("user_id", user_id)
        if not found or owner not in (ANY_USER, found[0].scope.user_id):
            raise UnknownIdError(f"there is no conflict {conflict_id!r}; conflicts.list() lists them")
        return found[0]
