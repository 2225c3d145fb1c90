"""The everyday commands. Steps of a test share one memory."""

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.storage.log.sqlite.connection import connect

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command on one memory and returns its exit code and output."""

    def call(*words: str) -> tuple[int, str]:
        code = main([*words, "--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"])
        captured = capsys.readouterr()
        return code, captured.out if code == 0 or captured.out else captured.err

    return call


@pytest.fixture
def filled(run: Run) -> list[str]:
    """Return the ids of two memories added by `add`."""
    texts = ("The pump failed on Monday.", "Because the pump failed, the field was flooded.")
    return [run("add", text, "--title", "Log")[1].strip() for text in texts]


def _json(run: Run, *words: str) -> Any:  # noqa: ANN401 - JSON
    code, out = run(*words, "--json")
    assert code == 0
    return json.loads(out)


def test_an_added_text_is_recalled_and_shown_with_kernel_and_reason(run: Run, filled: list[str]) -> None:
    code, out = run("ask", "Why was the field flooded?", "--top_n", "2")
    assert code == 0
    assert filled[1] in out
    assert "kernel: " in out
    assert "because: why question" in out
    answer = _json(run, "ask", "Why was the field flooded?")
    assert answer["memories"][0]["id"] == filled[1]
    assert answer["kernel"]["weights"]["CAUSE"] > 1


@pytest.mark.parametrize(
    "switch",
    [["--read_only"], ["--read_only", "true"], ["--read_only", "No"], ["--set", "retrieval.energy_weight=0.5"]],
)
def test_a_switch_leaves_the_question_after_it_alone(run: Run, filled: list[str], switch: list[str]) -> None:
    question = "Why was the field flooded?"
    answer = _json(run, "ask", *switch, question)
    assert answer == _json(run, "ask", question, *switch)
    assert answer["memories"][0]["id"] == filled[1]


def test_a_user_is_told_her_own_memories_and_those_of_nobody(run: Run) -> None:
    run("add", "The office opens at nine.")
    run("add", "I moved to Lyon.", "--user_id", "ana", "--session_id", "monday")
    run("add", "I moved to Graz.", "--user_id", "bob")

    def told(*owner: str) -> set[str]:
        return {one["content"] for one in _json(run, "ask", "Who moved?", *owner)["memories"]}

    assert told() == {"The office opens at nine."}
    assert told("--user_id", "ana") == {"The office opens at nine.", "I moved to Lyon."}
    assert told("--user_id", "ana", "--session_id", "tuesday") == {"The office opens at nine."}
    assert run("ask", "Who moved?", "--user_id", "")[0] == 1


def test_all_details_of_a_text_are_stored_and_shown(run: Run) -> None:
    words = shlex.split("--speaker Ana --role user --timestamp 2026-05-13T15:00+02:00 --tag home --tag sea")
    words += ["--metadata", "year=2026", "--metadata", "place=Lyon = Vaise", "--id", "move", "--title", "Moving"]
    code, out = run("add", "I moved to Lyon.", "--user_id", "ana", "--session_id", "monday", *words)
    assert (code, out) == (0, "move\n")
    (found,) = _json(run, "list", "--user_id", "ana")["memories"]
    assert found["metadata"] == {"year": 2026, "place": "Lyon = Vaise"}
    assert (found["speaker"], found["title"], found["timestamp"]) == ("Ana", "Moving", "2026-05-13T13:00:00+00:00")
    assert found["role"] == "user"
    for command in (("list",), ("ask", "Where does she live?")):
        code, out = run(*command, "--user_id", "ana")
        assert code == 0
        assert "2026-05-13 15:00  Moving" in out
    (asked,) = _json(run, "ask", "Who moved?", "--user_id", "ana", "--session_id", "monday")["memories"]
    assert asked["timestamp"] == found["timestamp"]
    assert run("add", "I moved to Graz.", "--user_id", "ana", "--session_id", "monday", "--id", "move")[0] == 0
    (found,) = _json(run, "list", "--user_id", "ana")["memories"]
    assert found["content"] == "I moved to Graz."
    assert run("update", "move", "--timestamp", "2026-05-14")[0] == 0
    assert _json(run, "list", "--user_id", "ana")["memories"][0]["timestamp"].startswith("2026-05-1")
    assert run("delete", "--user_id", "ana") == (0, "1 memory deleted\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "text", "--file", "x"], "either a text or --file"),
        (["add", "--file", "does-not-exist"], "cannot be read"),
        (["add", "   "], "blank"),
        (["ask", "anyone there?"], "there is no memory"),
        (["stats"], "there is no memory"),
        (["index"], "index needs --dataset"),
        (["index", "--resume"], "there is no memory"),
    ],
)
def test_an_impossible_request_is_refused_in_one_line(run: Run, words: list[str], message: str) -> None:
    code, out = run(*words)
    assert code in {1, 2}
    assert message in out
    assert "Traceback" not in out


def test_feedback_history_and_undo_go_together(run: Run, filled: list[str]) -> None:
    before = _json(run, "stats")["edges"]
    assert _json(run, "feedback", *filled) == {"edges": 1, "memories": filled, "gone": []}
    assert _json(run, "stats")["edges"]["ASSOC"] == 1
    history = _json(run, "history")
    assert [entry["reason"] for entry in history] == ["add", "add", "feedback on 2 memories"]
    assert "feedback on 2 memories: 1 edge put" in run("history", "--last", "1")[1]
    assert _json(run, "undo")["reason"].startswith("undo")
    assert {kind: count for kind, count in _json(run, "stats")["edges"].items() if count} == before
    assert f"written  {filled[0]}  " in run("history")[1]
    assert f"deleted  {filled[1]}  " in run("undo")[1]
    assert f"gone: {filled[1]}" in run("feedback", filled[1])[1]
    assert _json(run, "undo", "--to", "2")["memories"][0]["action"] == "written"
    assert _json(run, "undo", "--to", "0")["changes"]["nodes removed"] == 2
    assert _json(run, "stats")["nodes"] == 0
    assert run("undo", "--to", "99")[0] == 1


def test_the_history_shows_the_newest_changes_and_says_that_there_are_more(run: Run, filled: list[str]) -> None:
    assert "--last" not in run("history")[1]
    mine = run("add", "I keep bees.", "--user_id", "ana")[1].strip()
    assert [entry["memories"][0]["id"] for entry in _json(run, "history", "--user_id", "ana")] == [mine]
    assert "--last" in run("history", "--last", "2")[1]
    assert [entry["sequence"] for entry in _json(run, "history", "--last", "2")] == [2, 3]
    for number in range(20):
        run("add", f"Note {number}.")
    assert len(_json(run, "history")) == 20
    assert "20" in run("history")[1].splitlines()[-1]
    assert filled[0] not in run("history")[1]
    assert run("history", "--last", "-1")[0] == 2


def test_maintain_fades_idle_edges_at_the_time_given(run: Run, filled: list[str]) -> None:
    assert filled[0] in run("feedback", *filled)[1]
    assert _json(run, "maintain", "--now", "2999-01-01T00:00:00+00:00") == {"expired": 0, "removed": 1}
    assert "idle edges ×" in run("history", "--last", "1")[1]
    code, out = run("maintain", "--now", "someday")
    assert code == 2
    assert "someday" in out


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE node_versions SET until = since WHERE node = 1", "only the graph has it|its source is gone|is gone"),
        ("INSERT INTO edge_weights SELECT edge, since, 0.5, NULL FROM edges", "a weight that is older than its edge"),
    ],
)
def test_check_finds_a_sound_memory_sound_and_a_broken_one_broken(
    run: Run, filled: list[str], tmp_path: Path, damage: str, said: str
) -> None:
    assert run("check") == (0, "the memory is sound\n")
    assert filled
    connection = connect(tmp_path / "agent" / "memory" / "memory.db")
    connection.execute(damage)
    connection.close()
    code, out = run("check")
    assert code == 1
    assert re.search(said, out), out


@pytest.mark.parametrize("words", [["ask", "pump"], ["stats"], ["history"], ["index", "--resume"]])
def test_only_indexing_forgets_old_content(run: Run, filled: list[str], words: list[str]) -> None:
    assert run(*words, "--force_index_from_scratch")[0] == 0
    assert _json(run, "stats")["nodes"] == len(filled)


def test_indexing_from_scratch_drops_a_memory_of_an_old_format(run: Run, filled: list[str], tmp_path: Path) -> None:
    path = tmp_path / "agent" / "sample" / "memory" / "memory.db"
    shutil.copytree(tmp_path / "agent" / "memory", path.parent)
    with path.open("r+b") as file:
        file.seek(60)
        file.write((2).to_bytes(4))
    words = ("index", "--dataset", "sample")
    code, out = run(*words)
    assert code == 1
    assert "index again with --force_index_from_scratch" in out
    assert run(*words, "--force_index_from_scratch")[0] == 0
    assert _json(run, "stats", "--dataset", "sample")["nodes"] > len(filled)


def test_a_closed_output_pipe_gives_no_traceback(filled: list[str], tmp_path: Path) -> None:
    program = f"{shlex.quote(sys.executable)} -m neurogated stats --embedding_name hash --save_dir {tmp_path / 'agent'}"
    done = subprocess.run(["bash", "-c", f"{program} | true"], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert filled


_MAKES = {
    "add",
    "record",
    "index",
    "import",
    "restore",
    "sync",
    "serve",
    "mcp",
    "mcp install",
    "hook session-start",
    "hook prompt",
    "hook stop",
    "demo",
    "bench run",
    "doctor",
    "settings",
    "chat",
}
"""Commands that may make a memory, or need none."""
_STATES = ("--add", "(remember")
"""What makes a memory in an example of another command."""
_READING = [
    example
    for name, one in COMMANDS.items()
    for example in one.examples
    if name not in _MAKES and not any(word in example for word in _STATES)
]


@pytest.mark.parametrize(
    "example", [*_READING, "neurogated record x --used chunk-1f", "neurogated chat --dataset nowhere"]
)
def test_a_command_that_needs_memories_makes_no_folder_in_a_wrong_place(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO('(recall "x" 5)'))
    assert main([*shlex.split(example)[1:], "--save_dir", "wrong"]) == 1
    assert "there is no memory" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_every_path_to_a_file_names_the_same_text(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("notes.txt")
    Path("notes.txt").write_text("The pump failed.", encoding="utf-8")
    names = {run("add", "--file", path) for path in ("notes.txt", "./notes.txt", "link", str(tmp_path / "notes.txt"))}
    assert names == {(0, f"{Path('notes.txt').resolve()}\n")}
    assert _json(run, "list")["total"] == 1
    # A memory that was moved knows the file, too.
    (tmp_path / "agent").rename(tmp_path / "moved")
    (tmp_path / "agent").symlink_to("moved")
    assert _json(run, "add", "--file", "link")["replaced"] == []
    assert _json(run, "list")["total"] == 1
    assert _json(run, "delete", "--document", "./link") == {"deleted": 1}


def test_a_file_added_again_replaces_its_earlier_text_and_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("\ufeffThe pump failed on Monday.", encoding="utf-8")
    name = str(file.resolve())
    assert run("add", "--file", str(file)) == (0, f"{name}\n")
    assert [one["content"] for one in _json(run, "list")["memories"]] == ["The pump failed on Monday."]
    assert run("add", "--file", str(file)) == (0, f"{name}\n"), "nothing is replaced by the same text"
    file.write_text("The pump failed on Tuesday.", encoding="utf-8")
    assert _json(run, "add", "--file", str(file)) == {"ids": [name], "replaced": [name]}
    file.write_text("The pump failed on Friday.", encoding="utf-8")
    assert "had another text before, which is replaced" in run("add", "--file", str(file))[1]
    shown = _json(run, "list")["memories"]
    assert [one["content"] for one in shown] == ["The pump failed on Friday."]
    assert run("add", "--file", str(file), "--user_id", "ana") == (0, f"ana:{name}\n")
    assert run("delete", "--document", name)[0] == 0
    assert _json(run, "list")["total"] == 0
    assert _json(run, "delete", "--document", str(file), "--user_id", "ana") == {"deleted": 1}
    assert _json(run, "list", "--user_id", "ana")["total"] == 0


def test_users_are_listed_and_a_misspelt_one_is_told_with_those_of_a_like_name(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, user in (("I keep bees.", "ana"), ("I keep hens.", "ana"), ("I keep ducks.", "ben")):
        run("add", text, "--user_id", user)
    assert [(one["user_id"], one["memories"]) for one in _json(run, "users")["users"]] == [("ana", 2), ("ben", 1)]
    assert "ana: 2 memories" in run("users")[1]
    monkeypatch.setattr("builtins.input", lambda _: "/quit")
    common = ("--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash")
    for words in (["chat"], ["delete"], ["export", str(tmp_path / "anna.jsonl")], ["history"]):
        assert main([*words, "--user_id", "anna", *common]) == 0
        err = capsys.readouterr().err
        assert "'anna' has no memories" in err
        assert "'ana'" in err
        assert main([*words[:1], *(f"{word}2" for word in words[1:]), "--user_id", "ana", *common]) == 0
        assert "has no memories" not in capsys.readouterr().err
        run("add", "I keep bees.", "--user_id", "ana")


def test_all_users_are_reached_by_a_flag(run: Run) -> None:
    mine = run("add", "I keep bees.", "--user_id", "ana")[1].strip()
    assert _json(run, "list")["memories"] == []
    assert [one["id"] for one in _json(run, "list", "--all_users")["memories"]] == [mine]
    for word in ("ask", "recall"):
        assert [one["id"] for one in _json(run, word, "Who keeps bees?", "--all-users")["memories"]] == [mine]
    assert _json(run, "context", "Who keeps bees?", "--all_users")["memories"] == [mine]
    assert _json(run, "undo") is None
    assert run("list", "--all_users", "--user_id", "ana")[0] == 2
    assert _json(run, "undo", "--all_users")["memories"][0]["id"] == mine


def test_a_role_that_is_not_known_is_an_error_that_names_the_roles(run: Run) -> None:
    code, out = run("add", "Hello.", "--role", "custmer")
    assert code == 2
    assert "assistant" in out
    assert run("add", "Hello.", "--role", "Human")[0] == 0
