"""`profile` shows the time of each stage and changes nothing."""

from __future__ import annotations

import hashlib
import json
import pstats
from pathlib import Path
from typing import Any

import pytest

from neurogated import NeuroGraphMemory
from neurogated.cli import main
from neurogated.config.groups import IndexingSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.evaluation.profiling import OTHER

STAGES = ["embed", "kernel", "search", "activate", "rank"]
INDEXING_STAGES = ["chunk", "embed", "entities", "causes", "similarity", "mentions", "store", "other"]


@pytest.fixture
def flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Flags of a memory of four texts. Three belong to one document."""
    words = ["--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    pump = "The pump failed on Monday. Because the pump failed, the field was flooded."
    config = MemoryConfig(
        save_dir=str(tmp_path / "agent"),
        embedding_name="hash",
        indexing=IndexingSettings(chunk_size=6, chunk_overlap=0),
    )
    with NeuroGraphMemory(config) as memory:
        assert len(memory.add_document(pump, title="Log")) == 3
        memory.add_document("Forty kilos of barley were ordered.")
    capsys.readouterr()
    return words


def _profile(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["bench", "profile", *words, "--json"]) == 0
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown


def _hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.suffix == ".db"
    }


def test_stages_of_recall_have_times_and_shares_that_sum_up(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _profile(capsys, *flags, "--queries", "2")
    assert shown["questions"] == 2
    assert list(shown["recall"]) == [*STAGES, "all except embed"]
    for figures in shown["recall"].values():
        assert 0 < figures["median ms"] <= figures["p95 ms"]
    assert sum(shown["recall"][stage]["share %"] for stage in STAGES) == pytest.approx(100)


def test_stages_of_indexing_make_up_all_of_it(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    indexing = _profile(capsys, *flags)["indexing"]
    assert list(indexing["stages"]) == INDEXING_STAGES
    assert indexing["documents"] == 2
    assert indexing["nodes"] == 4
    # Texts are analysed while they are embedded, so the sum of all stages may exceed the total.
    assert all(seconds > 0 for stage, seconds in indexing["stages"].items() if stage != OTHER)
    assert sum(indexing["stages"].values()) >= indexing["seconds"] - 1e-9


def test_the_memory_is_left_as_it_is(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _hashes(tmp_path / "agent")
    texts = tmp_path / "new.txt"
    texts.write_text("A new valve was fitted.\n\nThe field is dry.", encoding="utf-8")
    _profile(capsys, *flags)
    _profile(capsys, *flags, "--documents", str(texts), "--cprofile", str(tmp_path / "out.prof"))
    assert before
    assert _hashes(tmp_path / "agent") == before


def test_it_runs_beside_a_process_that_writes(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=flags[1], embedding_name="hash")):
        assert _profile(capsys, *flags)["questions"] == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("new.txt", "A new valve was fitted.\n\nThe field is dry.\n"),
        ("new.json", '[{"title": "Repairs", "text": "A new valve was fitted."}, {"text": "The field is dry."}]'),
    ],
)
def test_given_questions_and_documents_take_the_place_of_stored_texts(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    asked = tmp_path / "asked.txt"
    asked.write_text("Why was the field flooded?\n\nWhat was ordered?\n", encoding="utf-8")
    shown = _profile(capsys, *flags, "--documents", str(tmp_path / name), "--questions", str(asked))
    assert shown["questions"] == 2
    assert shown["indexing"]["documents"] == shown["indexing"]["nodes"] == 2


def test_without_texts_only_recall_is_measured(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "indexing" not in _profile(capsys, *flags, "--texts", "0")


def test_a_profile_is_saved_and_its_top_functions_shown(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "recall.prof"
    shown = _profile(capsys, *flags, "--cprofile", str(file), "--functions", "4")
    assert len(shown["functions"]) == 4
    own = [line["own"] for line in shown["functions"]]
    assert own == sorted(own, reverse=True)
    names = {name for _, _, name in pstats.Stats(str(file)).stats}  # type: ignore[attr-defined]
    assert {"recall_batch", "spread", "add_documents"} <= names


def test_people_see_a_table_each(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "profile", *flags, "--cprofile", str(tmp_path / "recall.prof")]) == 0
    tables = [table.splitlines() for table in capsys.readouterr().out.split("\n\n")]
    assert [table[0].split("  ")[0] for table in tables] == ["recall, 4 questions", "indexing, 4 texts", "function"]
    assert tables[0][0].split()[-5:] == ["ms", "p95", "ms", "share", "%"]
    assert [row.split()[0] for row in tables[1][1:]] == [*INDEXING_STAGES, "all"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--queries", "0"], 2, "--queries is 0, but must be at least 1"),
        (["--functions", "0"], 2, "--functions is 0, but must be at least 1"),
        (["--texts", "-1"], 2, "--texts is -1, but must be at least 0"),
        (["--questions", "/missing.txt"], 1, "/missing.txt cannot be read as UTF-8 text"),
        (["--cprofile", "/missing/it.prof"], 1, "/missing/it.prof cannot be written"),
    ],
)
def test_an_impossible_request_is_one_line_that_names_the_flag(
    flags: list[str], capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    assert main(["bench", "profile", *flags, *words]) == code
    assert f"error: {message}" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "message"), [("--questions", "holds no question"), ("--documents", "holds no list of texts")]
)
def test_a_file_without_content_is_refused(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    (tmp_path / "file.txt").write_text("\n \n\n", encoding="utf-8")
    assert main(["bench", "profile", *flags, name, str(tmp_path / "file.txt")]) == 1
    assert message in capsys.readouterr().err


def test_an_empty_memory_names_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    assert main(["bench", "profile", *words]) == 1
    assert "there is no memory in" in capsys.readouterr().err
    NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path / "agent"), embedding_name="hash")).close()
    assert main(["bench", "profile", *words]) == 1
    assert "error: the memory is empty; add texts" in capsys.readouterr().err
