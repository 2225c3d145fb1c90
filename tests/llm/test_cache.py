from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated.core.abilities import SupportsClear, SupportsStatistics
from neurogated.errors import LLMError, MemoryClosedError
from neurogated.llm.base import BaseLLM
from neurogated.llm.cache import CachedLLM
from neurogated.llm.limits import LimitedLLM
from neurogated.llm.structured import StructuredLLM

if TYPE_CHECKING:
    from tests.llm.conftest import Server

ASKED = [{"role": "user", "content": "你好 {world}"}]
SCHEMA = {"type": "object"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.db"


def test_a_repeated_question_makes_no_call(server: Server, path: Path) -> None:
    server.says("Hello.", usage=(5, 2))
    llm = CachedLLM(server.llm(), path)

    fresh, kept = llm.infer(ASKED), llm.infer(ASKED)
    llm.close()

    assert len(server.requests) == 1
    assert fresh[0] == kept[0] == "Hello."
    assert not fresh[1]["cached"]
    assert kept[1] == {**fresh[1], "cached": True}


def test_answers_survive_reopening(server: Server, path: Path) -> None:
    server.says("Hello.")
    for _ in range(2):
        llm = CachedLLM(server.llm(), path)
        assert llm.infer(ASKED)[0] == "Hello."
        llm.close()

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "changes",
    [{"model": "another"}, {"temperature": 0.7}, {"max_new_tokens": 65}],
    ids=lambda change: next(iter(change)),
)
def test_other_settings_are_another_question(server: Server, path: Path, changes: dict[str, Any]) -> None:
    server.says("one")
    server.says("two")
    for settings, expected in (({}, "one"), (changes, "two"), ({}, "one"), (changes, "two")):
        llm = CachedLLM(server.llm(**settings), path)
        assert llm.infer(ASKED)[0] == expected
        llm.close()

    assert len(server.requests) == 2


def test_another_schema_or_text_or_role_is_another_question(server: Server, path: Path) -> None:
    for text in "abcd":
        server.says(text)
    llm = CachedLLM(server.llm(), path)

    asked = [{"role": "system", "content": "你好 {world}"}]
    for _ in range(2):
        assert llm.infer(ASKED)[0] == "a"
        assert llm.infer(ASKED, schema=SCHEMA)[0] == "b"
        assert llm.infer(ASKED, schema={"type": "array"})[0] == "c"
        assert llm.infer(asked)[0] == "d"
    llm.close()


def test_the_key_is_the_sha256_of_the_request(server: Server, path: Path) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    llm.infer(ASKED)
    llm.close()

    asked = {"messages": ASKED, "schema": None, "model": "test-model", "temperature": 0.0, "max_new_tokens": 64}
    connection = sqlite3.connect(path)
    keys = [key for (key,) in connection.execute("SELECT key FROM entries")]
    connection.close()
    assert keys == [hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()]


def test_failures_and_empty_answers_are_not_kept(server: Server, path: Path) -> None:
    server.refuses(500)
    server.says(" \n")
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)

    with pytest.raises(LLMError):
        llm.infer(ASKED)
    assert [llm.infer(ASKED)[0] for _ in range(3)] == [" \n", "Hello.", "Hello."]
    llm.close()


def test_a_forgotten_answer_is_asked_again(server: Server, path: Path) -> None:
    for text in ("one", "two", "three"):
        server.says(text)
    llm = CachedLLM(server.llm(), path)
    llm.infer(ASKED)
    llm.infer(ASKED, schema=SCHEMA)
    llm.forget(ASKED)

    assert llm.infer(ASKED, schema=SCHEMA)[0] == "two"
    assert llm.infer(ASKED)[0] == "three"
    llm.close()


def test_half_a_character_in_an_answer_is_kept_as_it_is(server: Server, path: Path) -> None:
    server.says("\ud800")
    llm = CachedLLM(server.llm(), path)

    assert [llm.infer(ASKED)[0] for _ in range(2)] == ["\ud800"] * 2
    llm.close()
    assert len(server.requests) == 1


def test_a_damaged_file_is_moved_aside_and_rebuilt(
    server: Server, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)

    assert [llm.infer(ASKED)[0] for _ in range(2)] == ["Hello."] * 2
    llm.close()

    assert len(server.requests) == 1
    assert path.with_suffix(".damaged").read_bytes().startswith(b"not a database")
    assert "is damaged" in caplog.text


@pytest.mark.parametrize("row", ["{", "[]", '["text", 1]'])
def test_a_damaged_row_is_asked_again(server: Server, path: Path, row: str) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    llm.infer(ASKED)
    llm._file.put({llm._key(ASKED, None): row.encode()})

    assert [llm.infer(ASKED)[0] for _ in range(2)] == ["Hello."] * 2
    llm.close()
    assert len(server.requests) == 2


def test_pages_damaged_while_open_are_moved_aside(server: Server, path: Path) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    llm.infer(ASKED)
    assert llm._file._connection is not None
    llm._file._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    llm._file._connection.execute("PRAGMA cache_size = 0")
    content = bytearray(path.read_bytes())
    content[100:] = b"\xee" * (len(content) - 100)
    path.write_bytes(content)

    assert [llm.infer(ASKED)[0] for _ in range(2)] == ["Hello."] * 2
    llm.close()
    assert path.with_suffix(".damaged").exists()


def test_a_file_locked_by_another_stops_nothing_and_loses_nothing(
    server: Server, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    assert llm._file._connection is not None
    llm._file._connection.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    assert llm.infer(ASKED)[0] == "Hello."
    other.execute("ROLLBACK")
    other.close()

    assert [llm.infer(ASKED)[0] for _ in range(2)] == ["Hello."] * 2
    llm.close()
    assert len(server.requests) == 2
    assert "cannot be written" in caplog.text
    assert not path.with_suffix(".damaged").exists()


def test_a_file_without_its_table_is_rebuilt(server: Server, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    assert llm._file._connection is not None
    llm._file._connection.execute("DROP TABLE entries")

    assert [llm.infer(ASKED)[0] for _ in range(3)] == ["Hello."] * 3
    llm.close()
    assert len(server.requests) == 1
    assert "is damaged" in caplog.text


def test_a_cleared_cache_asks_again_and_has_no_answer_on_disk(server: Server, path: Path) -> None:
    server.says("A telling answer.")
    llm = CachedLLM(server.llm(), path)
    assert isinstance(llm, SupportsClear)
    llm.infer(ASKED)
    assert any(b"telling" in file.read_bytes() for file in path.parent.iterdir())

    llm.clear()
    assert not any(b"telling" in file.read_bytes() for file in path.parent.iterdir())
    llm.infer(ASKED)
    llm.close()
    assert len(server.requests) == 2


def test_calls_tokens_hits_and_misses_are_counted_through_all_wrappers(server: Server, path: Path) -> None:
    server.says('{"a": 1}', usage=(5, 2))
    llm = StructuredLLM(CachedLLM(LimitedLLM(server.llm(), concurrency=1), path))
    assert isinstance(llm, SupportsStatistics)
    for text in "aab":
        llm.infer_json([{"role": "user", "content": text}], SCHEMA)

    figures = llm.statistics()
    assert figures.pop("cache bytes") > 0
    assert figures == {
        "calls": 2, "prompt tokens": 10, "completion tokens": 4,
        "cache hits": 1, "cache misses": 2, "cache hit rate": 1 / 3,
    }  # fmt: skip
    llm.close()


def test_a_model_that_counts_nothing_has_no_figures(server: Server) -> None:
    assert StructuredLLM(server.llm()).statistics() == {}


@pytest.mark.parametrize("place", ["file/answers.db", "folder"])
def test_a_place_where_no_file_can_be_caches_nothing(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    llm = CachedLLM(server.llm(), tmp_path / place)
    for _ in range(2):
        server.says("Hello.")
        assert llm.infer(ASKED)[0] == "Hello."
    assert caplog.text.count("so nothing is cached") == 1
    llm.close()


def test_a_closed_cache_says_so_and_leaves_the_file_alone(server: Server, path: Path) -> None:
    server.says("Hello.")
    llm = CachedLLM(server.llm(), path)
    llm.infer(ASKED)
    llm.close()

    for call in (llm.infer, llm.forget):
        with pytest.raises(MemoryClosedError, match="used after close"):
            call(ASKED)
    assert not path.with_suffix(".damaged").exists()


def test_closing_closes_the_model_too(path: Path) -> None:
    class Model(BaseLLM):
        closed = False
        name = "model"

        def infer(self, messages: object, *, schema: object = None) -> tuple[str, dict[str, Any]]:
            raise AssertionError(f"nothing is asked here, but was {messages}, {schema}")

        def close(self) -> None:
            self.closed = True

    model = Model()
    CachedLLM(model, path).close()

    assert model.closed
