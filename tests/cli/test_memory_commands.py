"""The everyday commands. Steps of a test share one memory."""

import io
import json
import logging
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.storage.log.sqlite.connection import connect
from tests.cli.conftest import Run, json_of
from tests.knowledge.model_server import serving


def test_an_added_text_is_recalled_and_shown_with_kernel_and_reason(run: Run, filled: list[str]) -> None:
    out = run("ask", "Why was the field flooded?", "--top_n", "2")
    assert filled[1] in out
    assert "kernel: " in out
    assert "because: why question" in out
    answer = json_of(run, "ask", "Why was the field flooded?")
    assert answer["memories"][0]["id"] == filled[1]
    assert answer["kernel"]["weights"]["CAUSE"] > 1


@pytest.mark.parametrize(
    "switch",
    [["--read_only"], ["--read_only", "true"], ["--read_only", "No"], ["--set", "retrieval.energy_weight=0.5"]],
)
def test_a_switch_leaves_the_question_after_it_alone(run: Run, filled: list[str], switch: list[str]) -> None:
    question = "Why was the field flooded?"
    answer = json_of(run, "ask", *switch, question)
    assert answer == json_of(run, "ask", question, *switch)
    assert answer["memories"][0]["id"] == filled[1]


def test_all_details_of_a_text_are_stored_and_shown(run: Run) -> None:
    words = shlex.split("--speaker Ana --role user --timestamp 2026-05-13T15:00+02:00 --tag home --tag sea")
    words += ["--metadata", "year=2026", "--metadata", "place=Lyon = Vaise", "--id", "move", "--title", "Moving"]
    assert run("add", "I moved to Lyon.", "--user_id", "ana", "--session_id", "monday", *words) == "move\n"
    (found,) = json_of(run, "list", "--user_id", "ana")["memories"]
    assert found["metadata"] == {"year": 2026, "place": "Lyon = Vaise"}
    assert (found["speaker"], found["title"], found["timestamp"]) == ("Ana", "Moving", "2026-05-13T13:00:00+00:00")
    assert found["role"] == "user"
    for command in (("list",), ("ask", "Where does she live?")):
        assert "2026-05-13 15:00  user  Moving" in run(*command, "--user_id", "ana")
    run("update", "move", "--timestamp", "2026-05-14")
    assert json_of(run, "list", "--user_id", "ana")["memories"][0]["timestamp"].startswith("2026-05-1")
    assert run("delete", "--user_id", "ana") == "1 memory deleted\n"


_TIMES = (
    ["add", "text", "--ttl"], ["add", "text", "--valid_from"], ["ask", "what?", "--as_of"],
    ["ask", "what?", "--valid_at"], ["maintain", "--now"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "words", "message"),
    [
        (2, ["add", "text", "--file", "x"], "either a text or --file"),
        (2, ["add", "--file", "does-not-exist"], "cannot be read"),
        (1, ["add", "   "], "blank"),
        (2, ["add", "Hello.", "--role", "custmer"], "assistant"),
        (1, ["ask", "anyone there?"], "there is no memory"),
        (2, ["index"], "index needs --dataset"),
        (1, ["index", "--resume"], "there is no memory"),
        (2, ["delete"], "--document"),
        (2, ["delete", "chunk-1", "--document", "doc-1"], "--document"),
        *((2, [*words, "soon"], f"{words[-1].strip('-')}|'soon'") for words in _TIMES),
    ],
)
def test_an_impossible_request_is_refused_in_one_line(run: Run, code: int, words: list[str], message: str) -> None:
    told = run(*words, code=code)
    assert all(part in told for part in message.split("|"))
    assert "Traceback" not in told


def test_feedback_history_and_undo_go_together(run: Run, filled: list[str]) -> None:
    before = json_of(run, "stats")["edges"]
    assert json_of(run, "feedback", *filled) == {"edges": 1, "memories": filled, "gone": []}
    assert json_of(run, "stats")["edges"]["ASSOC"] == 1
    history = json_of(run, "history")
    assert [entry["reason"] for entry in history] == ["add", "add", "feedback on 2 memories"]
    assert "feedback on 2 memories: 1 edge put" in run("history", "--last", "1")
    assert json_of(run, "undo")["reason"].startswith("undo")
    assert {kind: count for kind, count in json_of(run, "stats")["edges"].items() if count} == before
    assert f"written  {filled[0]}  " in run("history")
    assert f"deleted  {filled[1]}  " in run("undo")
    assert f"gone: {filled[1]}" in run("feedback", filled[1])
    assert json_of(run, "undo", "--to", "2")["memories"][0]["action"] == "written"
    assert json_of(run, "undo", "--to", "0")["changes"]["nodes removed"] == 2
    assert json_of(run, "stats")["nodes"] == 0
    run("undo", "--to", "99", code=1)


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
    assert filled
    assert run("check") == "the memory is sound\n"
    connection = connect(tmp_path / "agent" / "memory" / "memory.db")
    connection.execute(damage)
    connection.close()
    assert re.search(said, run("check", code=1))


def test_only_indexing_forgets_old_content(run: Run, filled: list[str]) -> None:
    run("index", "--resume", "--force_index_from_scratch")
    assert json_of(run, "stats")["nodes"] == len(filled)


def test_indexing_from_scratch_drops_a_memory_of_an_old_format(run: Run, filled: list[str], tmp_path: Path) -> None:
    path = tmp_path / "agent" / "sample" / "memory" / "memory.db"
    shutil.copytree(tmp_path / "agent" / "memory", path.parent)
    with path.open("r+b") as file:
        file.seek(60)
        file.write((2).to_bytes(4))
    words = ("index", "--dataset", "sample")
    assert "index again with --force_index_from_scratch" in run(*words, code=1)
    run(*words, "--force_index_from_scratch")
    assert json_of(run, "stats", "--dataset", "sample")["nodes"] > len(filled)


def test_a_closed_output_pipe_gives_no_traceback(filled: list[str], tmp_path: Path) -> None:
    program = f"{shlex.quote(sys.executable)} -m neurogated stats --embedding_name hash --save_dir {tmp_path / 'agent'}"
    done = subprocess.run(["bash", "-c", f"{program} | true"], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert filled


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["list", "settings"])
def test_an_output_without_room_is_told_without_a_traceback(
    filled: list[str], tmp_path: Path, command: str, unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    words = [] if command == "settings" else ["--embedding_name", "hash", "--save_dir", str(tmp_path / "agent")]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "neurogated", command, *words],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr.count("\n"), "cannot be written" in done.stderr) == (1, 1, True), done.stderr


_MAKES = {
    "add", "record", "index", "import", "restore", "sync", "serve", "mcp", "mcp install", "hook session-start",
    "hook prompt", "hook stop", "demo", "bench run", "doctor", "settings", "chat",
}  # fmt: skip
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
    assert names == {f"{Path('notes.txt').resolve()}\n"}
    assert json_of(run, "list")["total"] == 1
    # A memory that was moved knows the file, too.
    (tmp_path / "agent").rename(tmp_path / "moved")
    (tmp_path / "agent").symlink_to("moved")
    assert json_of(run, "add", "--file", "link")["replaced"] == []
    assert json_of(run, "list")["total"] == 1
    assert json_of(run, "delete", "--document", "./link") == {"deleted": 1}


def test_a_file_added_again_replaces_its_earlier_text_and_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("\ufeffThe pump failed on Monday.", encoding="utf-8")
    name = str(file.resolve())
    assert run("add", "--file", str(file)) == f"{name}\n"
    assert [one["content"] for one in json_of(run, "list")["memories"]] == ["The pump failed on Monday."]
    assert run("add", "--file", str(file)) == f"{name}\n", "nothing is replaced by the same text"
    file.write_text("The pump failed on Tuesday.", encoding="utf-8")
    assert json_of(run, "add", "--file", str(file)) == {"ids": [name], "replaced": [name]}
    file.write_text("The pump failed on Friday.", encoding="utf-8")
    assert "had another text before, which is replaced" in run("add", "--file", str(file))
    shown = json_of(run, "list")["memories"]
    assert [one["content"] for one in shown] == ["The pump failed on Friday."]
    assert run("add", "--file", str(file), "--user_id", "ana") == f"ana:{name}\n"
    run("delete", "--document", name)
    assert json_of(run, "list")["total"] == 0
    assert json_of(run, "delete", "--document", str(file), "--user_id", "ana") == {"deleted": 1}
    assert json_of(run, "list", "--user_id", "ana")["total"] == 0


def test_users_are_listed_and_a_misspelt_one_is_told_with_those_of_a_like_name(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, user in (("I keep bees.", "ana"), ("I keep hens.", "ana"), ("I keep ducks.", "ben")):
        run("add", text, "--user_id", user)
    assert [(one["user_id"], one["memories"]) for one in json_of(run, "users")["users"]] == [("ana", 2), ("ben", 1)]
    assert "ana: 2 memories" in run("users")
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
    mine = run("add", "I keep bees.", "--user_id", "ana").strip()
    assert json_of(run, "list")["memories"] == []
    assert [one["id"] for one in json_of(run, "list", "--all_users")["memories"]] == [mine]
    for word in ("ask", "recall"):
        assert [one["id"] for one in json_of(run, word, "Who keeps bees?", "--all-users")["memories"]] == [mine]
    assert json_of(run, "context", "Who keeps bees?", "--all_users")["memories"] == [mine]
    assert json_of(run, "undo") is None
    run("list", "--all_users", "--user_id", "ana", code=2)
    run("list", "--user_id", "", code=1)
    assert json_of(run, "undo", "--all_users")["memories"][0]["id"] == mine


def test_commands_print_for_a_reader_what_they_give_as_json(run: Run) -> None:
    """One line of each table. `tests/test_operations.py` tests all arguments of the commands."""
    text = "The pump stands by the river."
    pump = run("add", text, "--user_id", "ana", "--timestamp", "2026-05-04", "--importance", "0.5").split()[0]
    lyon = run("facts", "--add", "Ana", "city", "Lyon", "--user_id", "ana").strip()
    run("facts", "--add", "Ana", "city", "Paris", "--user_id", "ana")
    event = json_of(run, "record", "Oiled it.", "--outcome", "success", "--used", pump, "--user_id", "ana")["ids"][0]
    (found,) = json_of(run, "conflicts", "--user_id", "ana")["conflicts"]
    for words, shown in (
        ("context 'Where is the pump?' --token_budget 200 --explain", f"- (4 May 2026): {text}\n"),
        ("context 'Where is the pump?' --token_budget 9", "no memory fits into 9 tokens; the best one needs "),
        ("facts", "\n    Ana city: Paris\nfacts: 2\n"),
        ("facts --subject Eve", "facts: 0\n"),
        ("conflicts", f"    {lyon}  “Ana city: Lyon”\n"),
        ("list", event),
        ("tiers", f"{pump}  {text}\n"),
        ("history --last 2", "--last"),
    ):
        assert shown in run(*shlex.split(words), "--user_id", "ana"), words
    assert "wrong" in run("resolve", found["id"], "--keep", lyon, "--because", "She said so.")
    (resolved,) = json_of(run, "conflicts", "--user_id", "ana", "--status", "all")["conflicts"]
    assert (resolved["status"], resolved["because"]) == ("resolved", "She said so.")
    lines = run("energy", pump, "--days", "360").splitlines()
    assert (len(lines), lines[0].endswith("now")) == (13, True)
    assert lines[0].count("#") > lines[6].count("#") > 0
    run("add", "The code is 4711.", "--ttl", "60")
    assert json_of(run, "maintain", "--now", "2999-01-01T00:00:00+00:00") == {"expired": 1, "removed": 1}
    assert "0 expired memories" in run("maintain")


# Contexts, facts, conflicts, energy and the history


def test_memories_that_a_model_could_not_read_are_listed_with_the_reason_and_asked_about_again(run: Run) -> None:
    with serving() as model:
        model.text = "I cannot do that."
        flags = ("--llm_base_url", model.url, "--cache_bytes", "0")
        name = run("add", "My hobby is chess.", "--user_id", "ana", *flags, "--set", "llm.wait=true").split()[0]
        told = f"parked: 1\n{name}  (two answers did not fit the schema)\n    My hobby is chess.\n"
        assert run("facts", "parked") == told
        assert "parked: 1\n" in run("facts", "parked", "--retry", *flags)
        model.text = None
        assert run("facts", "parked", "--retry", *flags) == "parked: 0\nsettled: 1\n"
        assert json_of(run, "facts", "parked") == {"parked": [], "settled": 0}


def test_a_command_that_leaves_memories_for_a_model_says_how_many_and_how_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        assert main([*words, "--save_dir", str(tmp_path), "--embedding_name", "hash"]) == 0
        return capsys.readouterr().err

    with serving() as model:
        flags = ("--llm_base_url", model.url)
        assert "waiting" not in told("add", "I live in York.", "--user_id", "ana", *flags, "--set", "llm.wait=true")
        for words in (("add", "I live in Leeds.", "--user_id", "ana", *flags), ("facts",), ("facts", "parked")):
            line = told(*words)
            assert "1 memory" in line
            assert "index --resume" in line
            assert "llm.wait=true" in line
        assert "waiting" not in told("index", "--resume", *flags)
        assert "waiting" not in told("facts")


# The page that explains an answer, and the log


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_the_page_is_written_and_named_beside_the_answer(
    run: Run, filled: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    words, file = ["ask", "Why was the field flooded?", *more], tmp_path / "why.html"
    without = run(*words)
    assert filled[1] in without
    common = ["--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    assert main([*words, *common, "--explain", str(file)]) == 0
    captured = capsys.readouterr()
    assert f"explained in {file}" in captured.err
    assert captured.out == without
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Because the pump failed, the field was flooded." in page


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(("level", "seen"), [("debug", "DI"), ("info", "I"), (None, "")])
def test_log_shows_records_from_a_level_on(
    level: str | None, seen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ask", "What failed?", "--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    logger = logging.getLogger("neurogated")
    before = logger.level, logger.handlers[:]
    assert main([*words, *([] if level is None else ["--log", level])]) == 0
    assert (logger.level, logger.handlers) == before
    told = capsys.readouterr().err
    assert ("DEBUG neurogated.retrieval.neuro_retriever: recalled 2 memories: " in told) == ("D" in seen)
    assert ("INFO neurogated.session.compose: opened a memory: " in told) == ("I" in seen)


# Expressions


def test_run_prints_the_value_as_json_and_reads_only_if_asked_to(run: Run) -> None:
    name = json.loads(run("run", '(remember "A heron.")', "--user_id", "ana"))
    assert [one["id"] for one in json.loads(run("run", "(query)", "--user_id", "ana", "--read_only"))] == [name]
    run("run", '(remember "x")', "--read_only", code=1)
    assert json.loads(run("run", "(stats)", "--user_id", "ana"))["memories"] == 1


@pytest.mark.usefixtures("filled")
def test_a_fault_has_a_caret_under_its_place(run: Run) -> None:
    *_, line, caret = run("run", '(recall\n "x" 0)', code=1).splitlines()
    assert line[caret.index("^")] == "0"


@pytest.mark.usefixtures("filled")
def test_a_session_of_the_repl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    application = pytest.importorskip("prompt_toolkit.application")
    inputs, output = pytest.importorskip("prompt_toolkit.input"), pytest.importorskip("prompt_toolkit.output")
    monkeypatch.setenv("HOME", str(tmp_path))
    capsys.readouterr()
    with inputs.create_pipe_input() as keys:
        # An expression on two lines, a fault, and the end of the input.
        keys.send_text('(remember\r "A heron.")\r(stat)\r\x04')
        with application.create_app_session(input=keys, output=output.DummyOutput()):
            assert main(["repl", "--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]) == 0
    shown = capsys.readouterr()
    assert isinstance(json.loads(shown.out), str)
    assert "^" in shown.err
    assert stat.S_IMODE((tmp_path / ".neurogated_history").stat().st_mode) == 0o600
