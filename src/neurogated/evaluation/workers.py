"""Indexes the collections of a data set in several processes: one process writes a namespace at a time."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import ConfigError, StorageError
from neurogated.evaluation.gold import Dataset
from neurogated.evaluation.runner import index
from neurogated.memory import NeuroGraphMemory
from neurogated.progress import show_progress

_RAY_CLUSTER = "RAY_ADDRESS"
"""The environment variable of Ray that names a cluster."""

_DIED = (
    "a process that indexed has died, perhaps for lack of memory; index again, perhaps with fewer workers: "
    "what is stored stays"
)


class _Job(NamedTuple):
    config: MemoryConfig
    part: Dataset
    """A data set of one collection."""


def index_in_processes(
    dataset: Dataset, memory: NeuroGraphMemory, workers: int, *, progress: bool | None = None
) -> list[NeuroGraphMemory]:
    """Add every collection of `dataset` to its namespace as `index` does, several at a time.

    Each process opens the memory and embeds, reads and writes whole collections. What was stored stays stored when a
    process dies, and indexing again adds the rest. The processes run on a Ray cluster if `RAY_ADDRESS` names one and
    Ray is installed; then the memory must be a database that all its machines reach.

    Args:
        dataset: the data set.
        memory: the memory, which other processes can open.
        workers: how many processes run at once.
        progress: show a progress bar over all collections; None shows it if the output is a terminal.

    Raises:
        ConfigError: the memory is in RAM, so no other process can open it.
        DatasetError: a memory holds passages of an earlier version of the data set.
        StorageError: a process died.
    """
    if memory.config.storage == "memory":
        raise ConfigError("a memory in RAM belongs to one process; index it without workers, or choose a storage")
    config = memory.config.replace(force_index_from_scratch=False)
    # The longest first, so that no process works alone at the end.
    parts = sorted(dataset.collections, key=lambda part: -len(part.documents))
    jobs = [_Job(config, replace(dataset, collections=(part,))) for part in parts]
    done = _on_ray(jobs) if os.environ.get(_RAY_CLUSTER) and importlib.util.find_spec("ray") else _here(jobs, workers)
    for _ in show_progress(done, "indexing", "collection", total=len(jobs), progress=progress):
        pass
    return [memory if part.namespace is None else memory.in_namespace(part.namespace) for part in dataset.collections]


def _index(job: _Job) -> None:
    with NeuroGraphMemory(job.config) as memory:
        index(job.part, memory, progress=False)


def _here(jobs: Sequence[_Job], workers: int) -> Iterator[None]:
    """Run the jobs in processes of this machine; yield when one is done."""
    spawn = multiprocessing.get_context("spawn")
    told, parent = spawn.Pipe(duplex=False)
    # The pipe closes before the pool waits for its processes, so an error or Ctrl-C ends them at once.
    # Each process starts with all jobs, and the queue has their numbers only: a job larger than a pipe holds would keep
    # the pool waiting for ever if a process dies before it has read it (Python 3.11).
    with ProcessPoolExecutor(min(workers, len(jobs)), spawn, _begin, (told, jobs)) as pool, closing(parent):
        try:
            started = [pool.submit(_index_job, number) for number in range(len(jobs))]
        # One that dies while the next is started leaves the pool half closed, which Python says in several ways.
        except (BrokenProcessPool, OSError, ValueError) as error:
            raise StorageError(_DIED) from error
        try:
            for one in as_completed(started):
                yield one.result()
        except BrokenProcessPool as error:
            raise StorageError(_DIED) from error


_jobs: list[_Job] = []
"""The jobs of a process of the pool."""


def _index_job(number: int) -> None:
    _index(_jobs[number])


def _begin(parent: Connection, jobs: Sequence[_Job]) -> None:
    """Keep the jobs. End this process when its parent closes the pipe or dies, and at Ctrl-C.

    A memory survives that at any line.
    """
    _jobs[:] = jobs
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Connection) -> None:
    with suppress(EOFError):
        parent.recv()
    os._exit(1)


def _on_ray(jobs: Sequence[_Job]) -> Iterator[None]:
    """Run the jobs as tasks of a Ray cluster, which decides how many at once; yield when one is done."""
    ray: Any = importlib.import_module("ray")
    ray.init()
    try:
        run = ray.remote(_index)
        waiting = [run.remote(job) for job in jobs]
        while waiting:
            (done,), waiting = ray.wait(waiting)
            yield ray.get(done)
    finally:
        ray.shutdown()
