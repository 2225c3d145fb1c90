"""The package logs under its own name and without users' texts. It is silent unless it is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli.opening import logged_to_stderr

SECRETS = ("zebra", "quagga")


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as opened:
        yield opened


def _use(memory: NeuroGraphMemory) -> None:
    ids = memory.add_document(f"The {SECRETS[0]} ran.") + memory.add_document(f"The {SECRETS[0]} slept.")
    memory.recall(f"Where is the {SECRETS[0]} and the {SECRETS[1]}?")
    memory.feedback(ids)
    memory.maintenance(datetime.now(UTC) + timedelta(days=9))


def test_the_work_is_logged_at_info_and_each_recall_with_its_stages_at_debug(
    memory: NeuroGraphMemory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "neurogated"):
        _use(memory)
    logged = {
        (record.name.removeprefix("neurogated."), record.levelname): record.getMessage() for record in caplog.records
    }
    assert logged["ingestion.writer", "INFO"].startswith("stored 1 chunks, 1 of them new, in ")
    assert logged["plasticity.plasticity_engine", "INFO"].startswith("edges idle since ")
    recall = logged["retrieval.neuro_retriever", "DEBUG"]
    assert recall.startswith("recalled 2 memories: ")
    assert all(stage in recall for stage in ("embed ", "kernel ", "search ", "activate ", "rank "))


def test_no_text_of_a_memory_and_no_question_is_logged(
    memory: NeuroGraphMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """A text that was forgotten for good must not survive in a log."""
    with caplog.at_level(logging.DEBUG, "neurogated"):
        _use(memory)
    assert len(caplog.records) > 4
    assert not any(secret in caplog.text for secret in SECRETS)


def test_the_command_line_logs_to_standard_error_from_a_level_on_and_leaves_no_trace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = logging.getLogger("neurogated")
    before = logger.level, logger.handlers[:]
    with logged_to_stderr("info"):
        logging.getLogger("neurogated.room").debug("fine")
        logging.getLogger("neurogated.room").info("coarse")
    logging.getLogger("neurogated.room").warning("after")
    assert capsys.readouterr().err == "INFO neurogated.room: coarse\n"
    assert (logger.level, logger.handlers) == before
