"""`Energy`: how memories gain and lose energy, move between tiers, and stand on the working canvas."""

from datetime import datetime, timedelta
from typing import Unpack
from uuid import UUID

from neurogated.components.texts import listed_by
from neurogated.core.clock import times_around
from neurogated.core.filters import FilterOptions
from neurogated.core.model import checked_count
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.plasticity.energy import EnergyController, EnergyPoint
from neurogated.session.session import Component, Notice, Session
from neurogated.text.strings import checked_text, composed, repaired_text
from neurogated.tiers.canvas import Canvas, CanvasOwner
from neurogated.tiers.facts import TierManager, Tiers


class Energy(Component):
    """The calls about energy, as `memory.energy`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._controller = EnergyController(session.config.metabolism)
        self._tiers = TierManager(session.config.metabolism)

    def of(self, node_id: str | UUID, now: datetime | None = None) -> float:
        """Return the energy of a memory, 0–1, at a time; the clock's when left out.

        It halves with every half-life and grows with every use. Raises UnknownIdError if the id is not in the memory.
        """
        self._session.runtime.accesses.flush_if_free()
        return self._controller.energy(self._session.store.view(), str(node_id), self._session.moment(now))

    def course(
        self, node_id: str | UUID, now: datetime | None = None, *, steps: int, step: timedelta
    ) -> list[EnergyPoint]:
        """Return the energy of a memory at `steps` times before `now`, at `now`, and at `steps` times after it.

        The forecast assumes no further use. The past has the changes of the journal. The journal has no uses, so the
        energy that uses have added counts from the time of the last use. Raises UnknownIdError if the id is not in the
        memory.
        """
        now = self._session.moment(now)
        self._session.runtime.accesses.flush_if_free()
        return self._controller.course(self._session.store, str(node_id), now, steps=steps, step=step)

    def tiers(self, now: datetime | None = None, **filters: Unpack[FilterOptions]) -> Tiers:
        """Return how many memories are on the canvas, in the web, in the crystal and dormant, and the canvas itself.

        `now` is the clock's time when left out; for the memories, see `FilterOptions`.
        """
        store = self._session.store
        self._session.runtime.accesses.flush_if_free()
        return self._tiers.tiers(
            store, store.view(filters=listed_by(self._session, filters)), self._session.moment(now)
        )

    def tiers_course(
        self, now: datetime | None = None, *, steps: int, step: timedelta, **filters: Unpack[FilterOptions]
    ) -> list[Tiers]:
        """Return the tiers at `steps` times before `now`, at `now`, and at `steps` times after it.

        The forecast assumes no further use. The past has the memories of that time with their present uses, because
        uses are not journaled.
        """
        wanted, course = listed_by(self._session, filters), []
        for number, at in enumerate(times_around(self._session.moment(now), steps, step)):
            store = self._session.store.as_of(at) if number < steps else self._session.store
            course.append(self._tiers.tiers(store, store.view(filters=wanted), at))
        return course

    def tick(self, now: datetime | None = None) -> int:
        """Journal the memories that fell dormant since the last tick; return their number.

        A tick is optional: energies and tiers are computed when they are read, so a tick changes none of them. A frozen
        memory journals nothing. The policies of ticks run.
        """
        session, moment = self._session, self._session.moment(now)
        session.runtime.accesses.flush()
        fallen = len(session.commit(lambda: self._tiers.tick(session.store, moment), learns=True).node_changes)
        session.notify(Notice("ticked"))
        return fallen

    def canvas(
        self,
        query: str | None = None,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        top_k: int | None = None,
    ) -> Canvas:
        """Return the memories that matter to a session now: those with the most energy and relevance.

        Memories enter the canvas when a recall with this user and session returns them, and when they are added to the
        session. Those of the present task rank higher; see `focus`. Dormant memories are not on it. Reading it does not
        search the graph and does not count as an access. Raises InputError if the query is blank, or `top_k` is less
        than 1.

        Args:
            query: rank the memories of the canvas by their similarity to this text, multiplied by their energy.
            user_id: the user; without one, only memories without an owner are on the canvas.
            session_id: the session; without one, all sessions of the user count.
            top_k: at most this many; `metabolism.canvas_size` when left out.

        Returns the memories with the parts `energy` and `relevance` of their scores, best first. `note` says if the
        server of the canvas is away.
        """
        if top_k is not None and not checked_count("top_k", top_k):
            raise InputError(f"top_k is {top_k}, but must be at least 1")
        query = None if query is None else repaired_text("the query", query)
        if query is not None and not query.strip():
            raise InputError("the query is blank; leave it out to see the whole canvas")
        session, owner = self._session, CanvasOwner(self._session.of_user(user_id), session_id and composed(session_id))
        session.runtime.accesses.flush_if_free()
        vector = None if query is None else session.parts.embedder.embed_queries([query])[0]
        task = session.writer.focus.task_of(owner.user_id, owner.session_id)
        place = session.store, session.config.namespace, owner
        return session.parts.canvas.read(*place, top_k=top_k, now=session.now(), vector=vector, task=task)

    def focus(self, task: str | None, *, session_id: str | None = None, user_id: str | None = None) -> None:
        """Set the present task of the agent.

        Memories about it rank higher on the canvas, and new ones start with more energy. The task is not stored. It
        applies to the memories of the session, or else of the user, or else to all. Raises InputError if the task is
        blank or not a text.

        Args:
            task: the present work of the agent, in words; None clears the task.
            session_id: the session of the task; all sessions of the user when left out.
            user_id: the user of the task; all users when left out.
        """
        if task is not None and not checked_text("the task", task).strip():
            raise InputError(f"the task is {task!r}, but must be words, or None to clear it")
        owner = Scope(user_id, session_id=session_id)
        vector = None if task is None else self._session.parts.embedder.embed_queries([task])[0]
        self._session.writer.focus.set(vector, owner.user_id, owner.session_id)
