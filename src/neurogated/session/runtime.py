"""The parts of a memory, and what all its namespaces share: threads, the access log, callbacks and telemetry."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args
from weakref import WeakKeyDictionary, WeakValueDictionary

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from neurogated.config.groups import MetabolismSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.context.echo import HandedOut
from neurogated.core.abilities import SupportsClear, SupportsNamespaces
from neurogated.core.clock import Clock, utc_now
from neurogated.core.communities import CommunityFinder, GraphMeasures, WeightedGraph
from neurogated.core.contexts import SupportsReading, outside_work, reading, work
from neurogated.core.forking import bind_to_process
from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, GraphStorePort, KernelSource, LanguageModel
from neurogated.errors import InputError, MemoryLockedError, MissingExtraError, NeurogatedError
from neurogated.ingestion.analysers import Encoder, OfflineEntityFinder
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.knowledge.judging import TextJudge
from neurogated.plasticity.access_log import AccessLog
from neurogated.plasticity.energy import EnergyController
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.ranking import Reranker
from neurogated.storage.files import ProcessLock
from neurogated.tiers.canvas import WorkingCanvas
from neurogated.tiers.facts import FactFollower


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a memory; you can supply your own for any of them."""

    store: GraphStorePort
    embedder: Embedder
    kernel_source: KernelSource
    causal_judge: CausalJudge = field(default_factory=OfflineCausalJudge)
    entity_finder: EntityFinder = field(default_factory=OfflineEntityFinder)
    language_model: LanguageModel | None = None
    """Answers questions from recalled memories; None means offline judges only."""
    clock: Clock = utc_now
    caches: tuple[SupportsClear, ...] = ()
    """Caches on disk of values derived from texts; erasing a text empties them."""
    encoder: Encoder = field(default_factory=Encoder)
    """Sets the importance and the energy of new memories."""
    facts: FactFollower | None = None
    """Shows the facts as rows of an SQL table."""
    canvas: WorkingCanvas = field(default_factory=lambda: WorkingCanvas(MetabolismSettings()))
    """Holds the memories that matter to a session now."""
    community_finder: CommunityFinder | None = None
    """Finds clusters of memories; None for the Leiden algorithm."""
    graph_algorithms: Callable[[WeightedGraph], GraphMeasures] | None = None
    """Find the communities of the manifest; None for those that need no extra."""
    text_judge: TextJudge | None = None
    """Judges pairs of memories that no slot connects; None without a model."""
    reranker: Reranker | None = None
    """Puts the first memories of a recall into order; None: the score alone does."""
    formula: Formula = FORMULA
    """The numbers of the score of a memory."""


_SCOPE = "neurogated"

Spans = Callable[[str], AbstractContextManager[object]]
"""Opens a span of this name for a block."""


def spans(*, enabled: bool) -> Spans:
    """Return a function that opens spans and records the duration and outcome of each block.

    Spans and metrics go to the providers that the application has set up. Raises MissingExtraError if they are enabled
    and OpenTelemetry is not installed.
    """
    if not enabled:
        return nullcontext
    try:
        from opentelemetry import metrics, trace  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("telemetry needs OpenTelemetry; pip install 'neurogated[otel]'") from error
    tracer = trace.get_tracer(_SCOPE)
    seconds = metrics.get_meter(_SCOPE).create_histogram(
        "neurogated.duration", unit="s", description="how long a call took"
    )

    @contextmanager
    def span(name: str) -> Iterator[None]:
        begin, outcome = time.perf_counter(), "error"
        # An error message may quote a memory, so the span records only the class of the error.
        with tracer.start_as_current_span(
            f"{_SCOPE}.{name}", record_exception=False, set_status_on_exception=False
        ) as current:
            try:
                yield
                outcome = "success"
            except BaseException as error:
                current.set_status(trace.StatusCode.ERROR, type(error).__name__)
                raise
            finally:
                seconds.record(time.perf_counter() - begin, {"call": name, "outcome": outcome})

    return span


# Concurrent questions of `arecall` and `aretrieve`.
_RECALL_CONCURRENCY = 64
_CLOSING_SECONDS = 0.5
ACCESS_FLUSH_SECONDS = 30.0
"""Seconds after which the accesses of recalls are written together."""
GATHER_SECONDS = 20.0
"""New memories are read together: when there are eight, or when the oldest has waited for so long."""

_log = logging.getLogger(__name__)

Event = Literal["added", "updated", "deleted", "recalled", "learned", "conflict", "echoed"]
"""The events that callbacks can subscribe to."""


class Gathering:
    """Calls a function about an object in a daemon thread, once enough was added for it, or the oldest is old enough.

    An error is logged, and the function is called again. It does not keep the objects alive.
    """

    def __init__(
        self, name: str, fault: str, seconds: float, work: Callable[[Any], float | None], *, most: int = 1
    ) -> None:
        """Take the name of the thread, and what the log says of errors; then the limits, and what to call.

        It returns after how many seconds to call it again, None for not.
        """
        self._name, self._fault = f"neurogated-{name}", fault
        self._most, self._seconds, self._work = most, seconds, work
        self._due = WeakKeyDictionary[Any, tuple[int, float]]()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.closing = False

    def add(self, about: object, number: int) -> None:
        """Note that so many more wait."""
        with self._changed:
            known, due = self._due.get(about, (0, time.monotonic() + self._seconds))
            self._note(about, known + number, due)

    def close(self, patience: float | None = None) -> None:
        """End the thread; wait for a call that is running, at most so many seconds."""
        with self._changed:
            self.closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)

    def _note(self, about: object, number: int, due: float) -> None:
        self._due[about] = number, time.monotonic() if number >= self._most else due
        if self._thread is None and not self.closing:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while (about := self._next()) is not None:
            again: float | None = self._seconds
            try:
                again = self._work(about)
            except NeurogatedError as error:
                if not self.closing:
                    _log.warning("%s: %s", self._fault, error)
            if again is not None:
                with self._changed:
                    known, due = self._due.get(about, (0, time.monotonic() + again))
                    self._note(about, known, due)
            del about

    def _next(self) -> Any | None:  # noqa: ANN401 - as it was added
        """Wait for the next object, and return it; None if there is no more."""
        with self._changed:
            # An object may end at any moment, and then it is not due any more.
            while not self.closing and (first := min(self._due.items(), key=lambda item: item[1][1], default=None)):
                about, (_, due) = first
                if (left := due - time.monotonic()) <= 0:
                    self._due.pop(about)
                    return about
                del about, first
                self._changed.wait(left)
            self._thread = None
            return None


class Runtime:
    """Created by the memory that is opened first; `in_namespace` passes it on.

    Attributes:
        accesses: the log of the memories that recalls returned.
        handed_out: the memories that recalls handed out lately.
        threads: run asynchronous calls.
        sessions: the open sessions, by namespace. Handles of one graph share its session, and with it its lock.
        opening: the lock of `sessions`.
        is_inherited: whether this is a forked child; the parts belong to the parent process.
    """

    def __init__(
        self,
        config: MemoryConfig,
        clock: Clock,
        store: GraphStorePort,
        caches: Sequence[SupportsClear] = (),
        turn: ProcessLock | None = None,
    ) -> None:
        """Take the parts; with `turn`, the processes of the memory ask its model by turns."""
        self._config, self._turn = config, turn
        self.is_inherited = False
        self.sessions, self.opening = WeakValueDictionary[str, Any](), threading.Lock()
        # A check of a protocol costs more than a block for a cache.
        self._caches = [one for one in caches if isinstance(one, SupportsReading)]
        self._freezable = store if isinstance(store, SupportsNamespaces) else None
        self.accesses = AccessLog(
            clock,
            EnergyController(config.metabolism),
            ACCESS_FLUSH_SECONDS,
            config.runtime.max_open_namespaces,
        )
        self.handed_out = HandedOut(config.metabolism)
        self._frozen = False
        self._span = spans(enabled=config.runtime.telemetry)
        self._callbacks: dict[str, list[Callable[..., None]]] = defaultdict(list)
        self._repeated: Gathering | None = None
        self._start()
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the parts are told separately
        """Replace the threads in a forked child; the repeated work stays with the parent."""
        self._repeated, self.is_inherited = None, True
        self._start()

    def _start(self) -> None:
        self._gathering: Gathering | None = None
        self._asking = threading.Lock()
        self.threads = ThreadPoolExecutor(_RECALL_CONCURRENCY, thread_name_prefix="recall")

    def is_frozen(self) -> bool:
        """Return whether this memory or another process has stopped learning."""
        return self._frozen or (self._freezable is not None and self._freezable.is_frozen())

    def freeze(self, *, frozen: bool, lasting: bool) -> None:
        """Stop or restart learning; record it in the store if it is `lasting` and the store supports it."""
        self._frozen = frozen
        if lasting and not self._config.read_only and self._freezable is not None:
            self._freezable.record_frozen(frozen=frozen)
            self._frozen = False

    @contextmanager
    def work(self, name: str) -> Iterator[None]:
        """Run a block as one piece of work, and trace it as a span."""
        # A recall computes nothing from stored texts that a cache would store, so it need not ask the caches.
        reads = nullcontext() if name == "recalling" else self.reading()
        with self._span(name), work(), reads:
            yield

    def reading(self, *, stale: bool = False) -> AbstractContextManager[None]:
        """Run a block that reads texts for models; see `SupportsReading`."""
        return reading(self._caches, stale=stale)

    def register(self, event: Event, callback: Callable[..., None]) -> Callable[[], None]:
        """Call `callback` after each event of this name; return a function that unregisters it.

        Raises InputError if the event does not exist.
        """
        if event not in get_args(Event):
            raise InputError(f"unknown event {event!r}; known are {', '.join(get_args(Event))}")
        callbacks = self._callbacks[event]
        callbacks.append(callback)
        return lambda: callbacks.remove(callback) if callback in callbacks else None

    def call_back(self, event: str, *about: Any) -> None:  # noqa: ANN401 - each event has its own arguments
        """Call the callbacks of an event.

        The write is complete by then, so an error of a callback is logged and not raised.
        """
        for callback in tuple(self._callbacks.get(event, ())):
            try:
                with outside_work():
                    callback(*about)
            except Exception:  # noqa: BLE001 - a callback is the caller's code and may raise anything
                _log.exception("a callback of %r failed", event)

    def repeat(self, about: object, name: str, seconds: float, work: Callable[[Any], float]) -> None:
        """Call `work` about an object in a thread after so many seconds, and again after those that it returns."""
        self._repeated = Gathering(name, f"neurogated-{name} failed", seconds, work)
        self._repeated.add(about, 0)

    def gather(self, about: object, number: int, most: int, work: Callable[[Any], float | None]) -> None:
        """Call `work` in a thread once `most` wait, or `GATHER_SECONDS` after the first; see `Gathering`."""
        if self._gathering is None:
            self._gathering = Gathering("reading", "new memories wait for a model", GATHER_SECONDS, work, most=most)
        self._gathering.add(about, number)

    @contextmanager
    def turn_to_ask(self, patience: float) -> Iterator[bool]:
        """Run a block that asks the models, one at a time among threads and processes; yield whether it is its turn."""
        with ExitStack() as held:
            if is_ours := self._asking.acquire(timeout=patience):
                held.callback(self._asking.release)
                try:
                    if self._turn is not None:
                        self._turn.acquire(patience)
                        held.callback(self._turn.release)
                except MemoryLockedError:
                    is_ours = False
            yield is_ours

    @property
    def closing(self) -> bool:
        """Whether work in the background should end early."""
        return any(one is not None and one.closing for one in (self._repeated, self._gathering))

    def stop_repeating(self) -> None:
        """End the work in the background, and wait for it, but not for a server."""
        for one, patience in ((self._repeated, None), (self._gathering, _CLOSING_SECONDS)):
            if one is not None:
                one.close(patience)

    def close(self) -> None:
        """Stop the threads; a running call raises an error when the store closes."""
        if self._turn is not None:
            self._turn.close()
        self.threads.shutdown()


T = TypeVar("T")


def show_progress(
    iterable: Iterable[T], what: str, unit: str, *, total: int | None = None, progress: bool | None = None
) -> Iterable[T]:
    """Return `iterable` with a progress bar on standard error; None shows the bar if that is a terminal."""
    if progress is False:
        return iterable
    screen = Console(stderr=True)
    return _tracked(iterable, what, unit, total, screen) if progress or screen.is_terminal else iterable


def _tracked(iterable: Iterable[T], what: str, unit: str, total: int | None, screen: Console) -> Iterator[T]:
    first, last = (TextColumn("{task.description}"), BarColumn()), (TextColumn(f"{unit}s"), TimeRemainingColumn())
    with Progress(*first, MofNCompleteColumn(), *last, console=screen) as bar:
        yield from bar.track(iterable, total=total, description=what)
