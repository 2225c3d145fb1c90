"""Background work: its thread, and its end."""

import gc
import threading

from neurogated.storage.background import BackgroundWorker, Job

PATIENCE = 30


class _Workshop:
    """Has no more jobs when it is asked again, and is garbage-collected meanwhile."""

    def __init__(self) -> None:
        self.worker = BackgroundWorker(self)
        self.jobs: list[Job] = [lambda stop: None, lambda stop: None]  # noqa: ARG005 - jobs that do nothing
        self.asked, self.forgotten = threading.Event(), threading.Event()

    def next_job(self) -> Job | None:
        if self.jobs:
            return self.jobs.pop()
        self.asked.set()
        self.forgotten.wait()
        return None

    def finish_job(self, result: object) -> None:
        pass

    def fail_job(self, error: BaseException) -> None:
        raise AssertionError from error


def test_a_workplace_may_go_away_while_it_says_that_nothing_is_left_to_do() -> None:
    workshop = _Workshop()
    worker, asked, forgotten = workshop.worker, workshop.asked, workshop.forgotten
    worker.wake()
    asked.wait()
    thread = worker._thread
    assert thread is not None
    del workshop
    gc.collect()
    forgotten.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    worker.stop()
