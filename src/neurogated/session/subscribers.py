"""The subscribers of a memory: the projections, logs and callbacks that follow each change and each recall."""

import logging
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from neurogated.core.contexts import outside_work
from neurogated.core.projections import remove_manifests
from neurogated.core.read_only import Deferred
from neurogated.core.view import GraphView
from neurogated.errors import MemoryClosedError, StorageError
from neurogated.knowledge.backlog import REST_SECONDS
from neurogated.knowledge.reading import TOGETHER
from neurogated.session.session import Notice, Session
from neurogated.tiers.canvas import CanvasOwner

_log = logging.getLogger(__name__)

_READS = {"recalled", "learned", "echoed"}


def update_canvas(session: Session, notice: Notice) -> None:
    """Put added and recalled memories on the canvases of their sessions, and remove deleted ones."""
    canvas, namespace = session.parts.canvas, session.config.namespace
    if notice.event == "added" and canvas.is_read:
        view, (ids,) = session.store.view(), notice.about
        added = defaultdict[CanvasOwner, dict[str, float]](dict)
        for row in view.known_rows(ids[-session.config.metabolism.canvas_size :]).tolist():
            scope = view.scope_of(row)
            added[CanvasOwner(scope.user_id, scope.session_id)][view.ids[row]] = 1.0
        for owner, relevance in added.items():
            _enter(session, owner, relevance, view)
    elif notice.event == "deleted":
        canvas.remove(namespace, notice.about[0])
    elif notice.event == "undone":
        # Memories that return belong on the canvases again, so these are rebuilt.
        canvas.clear()
    elif notice.event == "recalled" and notice.owner is not None and notice.about[0]:
        (recall,) = notice.about
        # The neighbours that the recall activated are relevant too.
        entered = Deferred(partial(_relevance, [(one.id, one.score) for one in recall], recall.activated))
        _enter(session, notice.owner, entered, recall.view or session.store.view())


def _relevance(own: Sequence[tuple[str, float]], activated: Mapping[str, float]) -> dict[str, float]:
    scores, best = {**activated, **dict(own)}, max(score for _, score in own)
    return {name: min(1.0, score / best) for name, score in scores.items() if best > 0.0 < score}


def _enter(session: Session, owner: CanvasOwner, relevance: Mapping[str, float], view: GraphView) -> None:
    canvas, namespace = session.parts.canvas, session.config.namespace
    canvas.enter(view, namespace, owner, relevance, session.now())
    if canvas.place is not None:
        # Another process may have erased memories and emptied the server since the view was taken.
        with outside_work():
            present = session.store.view()
        if gone := relevance.keys() - {*present.names(present.known_rows(relevance))}:
            canvas.remove(namespace, gone)


def follow_facts(session: Session, notice: Notice) -> None:
    """Write the changed facts as rows of the SQL table; `work_off` does so for those that a model reads."""
    facts, place = session.parts.facts, (session.store, session.config.namespace)
    if facts is None or session.config.read_only or notice.event in _READS or not notice.has_facts:
        return
    facts.follow(*place, erasing=notice.event == "deleted")


def tell(session: Session, notice: Notice) -> None:
    """Note the memories that a recall hands out, to which echoes are compared, and call the callbacks of the event."""
    if notice.event == "recalled" and notice.owner is not None and notice.about[0]:
        ids = notice.about[0].ids
        session.runtime.handed_out.add(session.config.namespace, notice.owner.user_id, ids, session.clock())
    session.runtime.call_back(notice.event, *notice.about)


def log_access(session: Session, notice: Notice) -> None:
    """Count the uses of memories, unless the memory is frozen or read-only."""
    if notice.access is not None and not (session.config.read_only or session.runtime.is_frozen()):
        session.runtime.accesses.add(session.store, notice.access(), notice.user_id)


def find_conflicts(session: Session, notice: Notice) -> None:
    """Announce new conflicts, and ask the models about some memories that wait for them."""
    if notice.event not in {"added", "updated", "deleted"}:
        return
    announce_conflicts(session)
    if notice.event == "deleted" or not session.backlogs:
        return
    if not session.config.llm.wait:
        read_later(session, len(notice.about[0]) if notice.event == "added" else 1)
        return
    try:
        work_off(session, patient=False)
    except (StorageError, MemoryClosedError) as error:
        # The write is complete, so it raises nothing; its memories stay in the queue.
        _log.warning("new memories wait for a model: %s", error)


def read_later(session: Session, number: int) -> None:
    """Let a thread ask the models about memories, once enough of them wait; see `Runtime.gather`."""
    session.runtime.gather(session, number, TOGETHER, _read_waiting)


def _read_waiting(session: Session) -> float | None:
    work_off(session, patient=False, patience=0)
    return REST_SECONDS if any(backlog.waiting for backlog in session.backlogs) else None


def work_off(
    session: Session, calls: int | None = None, *, patient: bool = True, patience: float = threading.TIMEOUT_MAX
) -> int:
    """Ask the models about the memories that wait; return how many settled.

    Args:
        session: the graph.
        calls: the most calls for each queue; no limit when None.
        patient: whether to ask a model that failed lately, and about memories that are parked.
        patience: seconds to wait for another thread or process that asks about memories of this memory.
    """
    settled = 0
    # Whoever had the turn before has changed the graph since this work began.
    with session.runtime.turn_to_ask(patience) as is_ours, session.runtime.reading(), outside_work():
        for backlog in session.backlogs if is_ours else ():
            done, made = backlog.work(session.clock, lambda: session.runtime.closing, calls, patient=patient)
            settled += done
            session.writer.found_conflicts.extend(made)
    announce_conflicts(session)
    if settled and session.parts.facts is not None:
        session.parts.facts.follow_soon(session.store, session.config.namespace)
    return settled


def follow_manifests(session: Session, notice: Notice) -> None:
    """Forget manifests that may have changed words, and rebuild others after enough changes."""
    if notice.event in {"updated", "deleted", "undone"}:
        remove_manifests(session.config.save_dir)
    if notice.event == "updated":
        session.manifests.forget([notice.about[0].id])
    elif notice.event == "deleted":
        session.manifests.forget(notice.about[0])
    elif notice.event == "undone":
        session.manifests.clear()
    else:
        # A reader also finds what other processes have written.
        session.manifests.refresh(session.runtime.threads)


def announce_conflicts(session: Session) -> None:
    """Notify the subscribers of the conflicts that were found since the last time, as they are by now.

    A conflict of claims that a model found to be none is told to nobody.
    """
    if not (waiting := session.writer.found_conflicts):
        return
    found = (waiting.popleft() for _ in range(len(waiting)))
    new = [one for one in {one.id: one for one in found}.values() if one.status == "open" or one.loser is not None]
    for conflict in session.explained(new) if new else ():
        session.notify(Notice("conflict", (conflict,)))
