"""What other systems exported is imported by a command."""

import codecs
import json
from collections.abc import Callable
from pathlib import Path

from tests.archive.foreign.files import chatgpt, written


def test_conversations_are_imported_and_found(run: Callable[..., str], tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [chatgpt([("user", "I moved to Lyon.")])])
    told = json.loads(run("import", "--from", "chatgpt", str(file), "--user_id", "ana", "--json"))
    assert (told["texts"], told["added"], told["faults"]) == (1, 1, 0)
    assert "Lyon" in run("ask", "Where did I move?", "--user_id", "ana")
    assert "0 of them new" in run("import", "--from", "chatgpt", str(file), "--user_id", "ana")


def test_a_byte_order_mark_stays_in_no_text_of_a_file(run: Callable[..., str], tmp_path: Path) -> None:
    chat = written(tmp_path / "conversations.json", [chatgpt([("user", "\ufeffI moved to Lyon.")])])
    corpus = written(tmp_path / "bees_corpus.json", [{"title": "\ufeffBees", "text": "\ufeffBees make honey."}])
    written(
        tmp_path / "bees.json", [{"id": "1", "question": "What do bees make?", "answer": "honey", "paragraphs": []}]
    )
    for file in (chat, corpus):
        file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    run("import", str(chat))
    run("index", "--dataset", "bees", "--dataset_dir", str(tmp_path))
    shown = [json.loads(run("list", "--json", *of))["memories"] for of in ((), ("--dataset", "bees"))]
    assert [[one["content"] for one in memories] for memories in shown] == [["I moved to Lyon."], ["Bees make honey."]]
    assert shown[1][0]["title"] == "Bees"


def test_the_format_is_found_and_a_report_written(run: Callable[..., str], tmp_path: Path) -> None:
    said = [("user", "I moved to Lyon."), ("assistant", "Nice.")]
    file, report = written(tmp_path / "conversations.json", [chatgpt(said), 7]), tmp_path / "report.json"
    run("import", str(file), "--report", str(report), code=1)
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (found["source"], found["present"], found["texts"]) == ("chatgpt", 3, 2)
    assert found["left_out"] == {"of another kind": 1}
    file = written(file, [{**chatgpt(said), "current_node": "c1-0"}])
    told = run("import", str(file))
    assert "1 left out: of another branch" in told
    assert "(chatgpt): 1 text, 0 of them new; 0 parts not imported; 1 text no longer valid" in told
