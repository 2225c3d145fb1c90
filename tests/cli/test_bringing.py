"""What other systems exported is imported by a command."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.archive.foreign.files import chatgpt, claude, written


def test_conversations_are_imported_and_found(run: Callable[..., str], tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [chatgpt([("user", "I moved to Lyon.")])])
    told = json.loads(run("import", "--from", "chatgpt", str(file), "--user", "ana", "--json"))
    assert (told["texts"], told["added"], told["faults"]) == (1, 1, 0)
    assert "Lyon" in run("ask", "Where did I move?", "--user", "ana")
    assert "0 of them new" in run("import", "--from", "chatgpt", str(file), "--user", "ana")


def test_malformed_parts_are_listed_and_the_exit_code_tells_of_them(run: Callable[..., str], tmp_path: Path) -> None:
    conversations = [claude([("human", "I moved to Lyon.")]), {"chat_messages": []}]
    file = written(tmp_path / "conversations.json", conversations)
    run("import", "--from", "claude", str(file), code=1)
    assert "Lyon" in run("list")


def test_a_file_of_another_kind_creates_no_memory(run: Callable[..., str], tmp_path: Path) -> None:
    file = written(tmp_path / "conversations.json", [claude([("human", "Hello.")])])
    assert "--from claude" in run("import", "--from", "chatgpt", str(file), code=2)
    assert not list(tmp_path.rglob("*.db"))
