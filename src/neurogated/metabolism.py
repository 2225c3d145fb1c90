"""`Metabolism`: the calls by which memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from abc import ABC
from datetime import datetime, timedelta
from typing import Unpack
from uuid import UUID

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.arguments import names_arguments
from neurogated.core.clock import checked_moment
from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.ports import GraphStorePort
from neurogated.core.text import checked_text
from neurogated.errors import InputError
from neurogated.ingestion.writer import Writer
from neurogated.plasticity.energy import EnergyController, EnergyPoint
from neurogated.runtime import Runtime
from neurogated.tiers.manager import TierManager, Tiers

__all__ = ["Metabolism"]


@names_arguments
class Metabolism(ABC):
    """Base of `NeuroGraphMemory` with the calls of its metabolism.

    Attributes:
        store: the graph.
        config: the settings.
    """

    config: MemoryConfig
    store: GraphStorePort
    _writer: Writer
    _parts: Parts
    _runtime: Runtime

    def focus(self, task: str | None, *, session_id: str | None = None, user_id: str | None = None) -> None:
        """Set the present task of the agent: new memories that are about it start with more energy.

        The task is not stored. It applies to the memories of the session, or else of the user, or else to all.

        Args:
            task: what the agent is doing, in words; None clears the task.
            session_id: the session of the task; all sessions of the user when left out.
            user_id: the user of the task; all users when left out.

        Raises:
            InputError: the task is blank or not a text.
        """
        if task is not None and not checked_text("the task", task).strip():
            raise InputError(f"the task is {task!r}, but must be words, or None to clear it")
        vector = None if task is None else self._parts.embedder.embed_queries([task])[0]
        self._writer.focus.set(vector, user_id, session_id)

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
        view = self.store.view(filters=filter_of(filters))
        return TierManager(self.config.metabolism).tiers(self.store, view, self._moment(now))

    def tiers_course(
        self, now: datetime | None = None, *, steps: int, step: timedelta, **filters: Unpack[FilterOptions]
    ) -> list[Tiers]:
        """Return the tiers at `steps` times before `now`, at `now`, and at `steps` times after it.

        The forecast assumes no further use. The past has the memories of that time with their present uses, because
        uses are not journaled.
        """
        manager, wanted, present = TierManager(self.config.metabolism), filter_of(filters), self._moment(now)
        course = []
        for number in range(-steps, steps + 1):
            at = present + number * step
            store = self.store.as_of(at) if number < 0 else self.store
            course.append(manager.tiers(store, store.view(filters=wanted), at))
        return course

    def tick(self, now: datetime | None = None) -> int:
        """Journal the memories that fell dormant since the last tick; return their number.

        A tick is optional: energies and tiers are computed when they are read, so a tick changes none of them. A frozen
        memory journals nothing.
        """
        moment = self._moment(now)
        self._runtime.accesses.flush()
        with self._writer.exclusively():
            if self._runtime.is_frozen():
                return 0
            delta = TierManager(self.config.metabolism).tick(self.store, moment)
            if delta:
                self.store.apply(delta)
        return len(delta.node_changes)

    def _moment(self, now: datetime | None) -> datetime:
        """Return the time that counts as present."""
        return checked_moment("now", now) or self._parts.clock()
