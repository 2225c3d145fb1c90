"""`Metabolism`: the calls by which memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Unpack
from uuid import UUID

from neurogated.context.echo import separated
from neurogated.core.arguments import names_arguments
from neurogated.core.clock import checked_moment, times_around, to_micros
from neurogated.core.delta import GraphDelta
from neurogated.core.facts import Fact
from neurogated.core.filters import FilterOptions, memories_among
from neurogated.core.model import checked_count
from neurogated.core.same_as import others_of
from neurogated.core.text import checked_text
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.facts import Value, fact_document
from neurogated.plasticity.energy import EnergyController, EnergyPoint
from neurogated.tiers.canvas import Canvas, Owner
from neurogated.tiers.facts import read_facts
from neurogated.tiers.manager import TierManager, Tiers
from neurogated.wired import Wired

__all__ = ["Metabolism"]


@names_arguments
class Metabolism(Wired):
    """Base of `NeuroGraphMemory` with the calls of its metabolism."""

    def focus(self, task: str | None, *, session_id: str | None = None, user_id: str | None = None) -> None:
        """Set the present task of the agent: new memories that are about it start with more energy.

        The task is not stored. It applies to the memories of the session, or else of the user, or else to all.

        Args:
            task: the present work of the agent, in words; None clears the task.
            session_id: the session of the task; all sessions of the user when left out.
            user_id: the user of the task; all users when left out.

        Raises:
            InputError: the task is blank or not a text.
        """
        if task is not None and not checked_text("the task", task).strip():
            raise InputError(f"the task is {task!r}, but must be words, or None to clear it")
        vector = None if task is None else self._parts.embedder.embed_queries([task])[0]
        self._writer.focus.set(vector, user_id, session_id)

    # Facts

    def add_fact(
        self,
        subject: str,
        attribute: str,
        value: Value,
        *,
        user_id: str | None = None,
        timestamp: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """State a fact: a memory of kind `fact`, which recalls find and `facts` lists.

        The same fact stated again is the same memory, with the new times and metadata. Another value for the same
        attribute, or another `valid_from`, is another memory.

        Args:
            subject: the person or thing that it is about, such as `Ana`.
            attribute: which property, such as `city`.
            value: the value, such as `Lyon`; numbers and truth values are stored as JSON texts.
            user_id: the user who owns it; without one, every user finds it.
            timestamp: when it was said.
            valid_from: when it began to hold.
            valid_to: when it ceased to hold.
            metadata: your own JSON values.

        Returns:
            The id of the memory.

        Raises:
            InputError: a part is blank, or a time is invalid.
        """
        document = fact_document(
            subject,
            attribute,
            value,
            user_id=user_id,
            timestamp=timestamp,
            valid_from=valid_from,
            valid_to=valid_to,
            metadata=metadata,
        )
        with self._runtime.work("indexing"):
            ((node_id,),) = self._writer.add([document])
        self._told("added", [node_id])
        return node_id

    def facts(
        self,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterOptions],
    ) -> list[Fact]:
        """Return the facts of the graph, stated or derived, in the order they were added.

        Args:
            subject: only facts about it; upper and lower case are the same.
            attribute: only facts about this property.
            valid_at: only facts that held at this time.
            **filters: which memories; see `FilterOptions`. With `user_id`, the facts of this user and those without an
                owner.

        Raises:
            InputError: a filter or a time is invalid.
        """
        return read_facts(self.store, subject, attribute, checked_moment("valid_at", valid_at), filters)

    def catch_up_facts(self) -> int:
        """Write the changed facts of this graph into the SQL table now, and return how many rows changed.

        Every write does so too, but a write skips a database that is away.

        Raises:
            ConfigError: the memory has no SQL table, or is read-only.
            StorageError: the database is away or refuses.
        """
        if self._runtime.facts is None or self.config.read_only:
            raise ConfigError(
                "this memory writes no facts into SQL; pip install 'neurogated[facts]', set metabolism.facts_url to "
                "a database or leave it out, and open a memory in a folder for writing"
            )
        return self._runtime.facts.catch_up(self.store, self.config.namespace)

    # Duplicates

    def same_as(self, node_id: str | UUID) -> list[str]:
        """Return the ids of the memories that say the same as a memory; see `metabolism.find_duplicates`.

        Raises:
            UnknownIdError: the id is not in the memory.
        """
        view = self.store.view()
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
        return bool(self._writer.write(partial(self._separation, str(node_id))))

    def _separation(self, node_id: str, at: datetime) -> GraphDelta:
        delta = self._writer.duplicates.separation(node_id, at)
        return replace(delta, edges=(*delta.edges, *separated(self.store.view(), node_id, at)))

    def deduplicate(self) -> int:
        """Link the memories that say the same, if they are not linked yet; return the number of new links.

        Writes do so for new memories, and `consolidate` for older ones. A frozen memory links nothing.
        """
        with self._runtime.work("deduplicating"):
            return 0 if self._runtime.is_frozen() else self._writer.deduplicate()

    # Working canvas

    def canvas(
        self,
        query: str | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        top_k: int | None = None,
    ) -> Canvas:
        """Return the memories that matter to a session now: those with the most energy and relevance.

        Memories enter the canvas when a recall with this user and session returns them, and when they are added to
        the session. Reading it does not search the graph and does not count as an access.

        Args:
            query: rank the memories of the canvas by their similarity to this text, multiplied by their energy.
            user_id: the user; without one, only memories without an owner are on the canvas.
            session_id: the session; without one, all sessions of the user count.
            top_k: at most this many; `metabolism.canvas_size` when left out.

        Returns:
            The memories with the parts `energy` and `relevance` of their scores, best first. `note` says if the server
            of the canvas is away.

        Raises:
            InputError: the query is blank, or `top_k` is less than 1.
        """
        if top_k is not None and not checked_count("top_k", top_k):
            raise InputError(f"top_k is {top_k}, but must be at least 1")
        if query is not None and not query.strip():
            raise InputError("the query is blank; leave it out to see the whole canvas")
        vector = None if query is None else self._parts.embedder.embed_queries([query])[0]
        owner, now = Owner(user_id, session_id), to_micros(self._parts.clock())
        return self._parts.canvas.read(self.store, self.config.namespace, owner, top_k=top_k, now=now, vector=vector)

    def _on_canvas(self, user_id: str | None, session_id: str | None, now: int) -> dict[str, float]:
        """Return the scores of the memories on a canvas, for the first phase of a recall."""
        owner = Owner(user_id, session_id)
        found = self._parts.canvas.read(self.store, self.config.namespace, owner, top_k=None, now=now)
        return {one.id: one.score for one in found}

    def energy(self, node_id: str | UUID, now: datetime | None = None) -> float:
        """Return the energy of a memory, 0–1: it halves with every half-life and grows with every use.

        Args:
            node_id: the memory.
            now: the time; the clock's when left out.

        Raises:
            UnknownIdError: the id is not in the memory.
        """
        return EnergyController(self.config.metabolism).energy(self.store.view(), str(node_id), self._moment(now))

    def energy_course(
        self, node_id: str | UUID, now: datetime | None = None, *, steps: int, step: timedelta
    ) -> list[EnergyPoint]:
        """Return the energy of a memory at `steps` times before `now`, at `now`, and at `steps` times after it.

        The forecast assumes no further use. The past has the changes of the journal. The journal has no uses, so the
        energy that uses have added counts from the time of the last use.

        Raises:
            UnknownIdError: the id is not in the memory.
        """
        controller = EnergyController(self.config.metabolism)
        return controller.course(self.store, str(node_id), self._moment(now), steps=steps, step=step)

    def tiers(self, now: datetime | None = None, **filters: Unpack[FilterOptions]) -> Tiers:
        """Return how many memories are on the canvas, in the web, in the crystal and dormant, and the canvas itself.

        Args:
            now: the time; the clock's when left out.
            **filters: which memories; see `FilterOptions`.
        """
        view = self.store.view(filters=memories_among(filters))
        return TierManager(self.config.metabolism).tiers(self.store, view, self._moment(now))

    def tiers_course(
        self, now: datetime | None = None, *, steps: int, step: timedelta, **filters: Unpack[FilterOptions]
    ) -> list[Tiers]:
        """Return the tiers at `steps` times before `now`, at `now`, and at `steps` times after it.

        The forecast assumes no further use. The past has the memories of that time with their present uses, because
        uses are not journaled.
        """
        manager, wanted, present = TierManager(self.config.metabolism), memories_among(filters), self._moment(now)
        course = []
        for number, at in enumerate(times_around(present, steps, step)):
            store = self.store.as_of(at) if number < steps else self.store
            course.append(manager.tiers(store, store.view(filters=wanted), at))
        return course

    def tick(self, now: datetime | None = None) -> int:
        """Journal the memories that fell dormant since the last tick; return their number.

        A tick is optional: energies and tiers are computed when they are read, so a tick changes none of them. A frozen
        memory journals nothing.
        """
        moment, manager = self._moment(now), TierManager(self.config.metabolism)
        self._runtime.accesses.flush()
        if self._runtime.is_frozen():
            return 0
        return len(self._writer.write(lambda _: manager.tick(self.store, moment)).node_changes)
