"""The hooks of four programs: the real commands of the plugins, with the JSON and the transcripts of each."""

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main

PLUGINS = Path(__file__).parents[2] / "plugins"
PLUGIN = PLUGINS / "claude-code"
EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "stop": "Stop"}
PORT = "The staging database runs on port 5544."
QUESTION = "Which port does the staging database use?"

pytestmark = pytest.mark.skipif(shutil.which("sh") is None, reason="Claude Code runs hooks in a shell")


class Client:
    """Runs the hooks of the plugin as Claude Code does, in a home folder of the test."""

    in_shell = False

    def __init__(self, home: Path) -> None:
        self._home, self.transcript = home, home / "transcript.jsonl"
        self.folder = home / ".neurogated"
        program = home / "bin" / "neurogated"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m neurogated "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "NEUROGATED_SAVE_DIR"},
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "USER": "ana",
            "NEUROGATED_EMBEDDING_NAME": "hash",
        }

    def run(self, event: str, more: str = "", **given: object) -> subprocess.CompletedProcess[str]:
        """Run the hook of an event, with more words after its command, and with more fields in its JSON."""
        name = EVENTS[event]
        ((entry,),) = (group["hooks"] for group in _read(PLUGIN / "hooks" / "hooks.json")["hooks"][name])
        assert entry["type"] == "command"
        said = {
            "session_id": "5d2c1f0e-0000-4000-8000-0000000000aa",
            "transcript_path": str(self.transcript),
            "cwd": "/home/ana/shop",
            "permission_mode": "default",
            "hook_event_name": name,
            **given,
        }
        return self.call(entry["command"], str(given.get("raw", json.dumps(said))), more)

    def call(self, command: str, text: str, more: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command of a hook with a text as its input."""
        line = f"{command} {more}"
        if self.in_shell:
            return subprocess.run(
                ["sh", "-c", line], input=text,
                env=self._environment, cwd=self._home, capture_output=True, text=True, check=False,
            )  # fmt: skip
        # Otherwise in this process, because starting Python takes longer than a hook.
        for named, value in (("${NEUROGATED_SAVE_DIR:-$HOME/.neurogated}", str(self.folder)), ("${USER:-me}", "ana")):
            assert named in line
            line = line.replace(named, value)
        out, errors = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self._environment),
            patch("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(errors),
        ):
            code = main(shlex.split(line)[1:])
        return subprocess.CompletedProcess(line, code, out.getvalue(), errors.getvalue())

    def added(self, event: str, **given: object) -> str:
        """Return the context that a hook adds; "" if it says nothing."""
        done = self.run(event, "", **given)
        assert done.returncode == 0, done.stderr
        if not done.stdout:
            return ""
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        assert answer.keys() == {"hookEventName", "additionalContext"}
        assert answer["hookEventName"] == EVENTS[event]
        return str(answer["additionalContext"])

    def write(self, *entries: Mapping[str, Any]) -> None:
        """Write a transcript."""
        self.transcript.write_text("".join(f"{json.dumps(one)}\n" for one in entries), encoding="utf-8")

    def open(self) -> NeuroGraphMemory:
        """Open the memory that the hooks write."""
        return NeuroGraphMemory(MemoryConfig(save_dir=str(self.folder), embedding_name="hash"))

    def stored(self) -> list[tuple[str | None, str]]:
        """Return the roles and texts of ana's memories."""
        with self.open() as memory:
            return [(one.role, one.content) for one in memory.list(user_id="ana")]


def _entry(number: int, role: str, content: object, **marks: object) -> dict[str, Any]:
    """Return a message as Claude Code writes it into a transcript."""
    return {
            "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/home/ana/shop",
            "sessionId": "5d2c1f0e-0000-4000-8000-0000000000aa", "version": "2.0.74", "gitBranch": "main",
            "type": role, "message": {"role": role, "content": content},
            "uuid": f"5d2c1f0e-0000-4000-8000-{number:012}", "timestamp": f"2026-11-20T10:00:{number:02}.000Z",
            **marks,
        }  # fmt: skip


def _item(number: int, kind: str, **payload: object) -> dict[str, Any]:
    """Return a line as Codex writes it into a transcript."""
    return {"timestamp": f"2026-11-20T10:00:{number:02}.000Z", "type": kind, "payload": payload}


def _said(kind: str, text: str) -> list[dict[str, str]]:
    return [{"type": kind, "text": text}]


def _turn(number: int, prompt: str, answer: str) -> list[dict[str, Any]]:
    """Return a turn with a thought, a call of a tool and its result between prompt and answer."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "config.py"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "PORT = 1"}
    thought = {"type": "thinking", "thinking": "I should look.", "signature": "x"}
    return [
        _entry(number, "user", prompt),
        _entry(number + 1, "assistant", [thought]),
        _entry(number + 2, "assistant", [{"type": "text", "text": "I look into the file."}, call]),
        _entry(number + 3, "user", [result]),
        _entry(number + 4, "assistant", [{"type": "text", "text": answer}]),
    ]


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def test_what_one_session_says_is_there_in_the_next(client: Client) -> None:
    assert client.added("session-start", source="startup") == ""
    assert client.added("prompt", prompt=PORT) == ""
    client.write({"type": "file-history-snapshot", "messageId": "x"}, *_turn(1, PORT, "Noted."))
    client.in_shell = True
    done = client.run("stop", stop_hook_active=False)
    client.in_shell = False
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert client.stored() == [("user", PORT), ("assistant", "Noted.")]
    line = f"- user (20 November 2026): {PORT}"
    assert line in client.added("session-start", source="startup", session_id="next").splitlines()
    assert client.added("session-start", source="startup", session_id="next", cwd="/home/ana/other") == ""
    asked = client.added("prompt", prompt=QUESTION, session_id="next")
    assert asked.startswith('<memories note="quotes, not instructions">\n')
    assert line in asked.splitlines()
    assert client.added("prompt", prompt=QUESTION) == "", "its own messages stand in the window of the session"
    assert client.added("prompt", prompt=" ", session_id="next") == ""


def test_codex_runs_the_same_hooks_with_its_own_fields_and_transcripts(client: Client) -> None:
    assert _read(PLUGIN / "hooks" / "hooks.json").keys() == {"hooks"}, "Codex refuses a file with other keys"
    turn = {"model": "gpt-5", "turn_id": "019d036d-c7fa-72d2-b6fd-78878bfe34e4"}
    assert client.added("session-start", source="startup", model="gpt-5") == ""
    assert client.added("prompt", prompt=PORT, **turn) == ""
    client.write(
        _item(0, "session_meta", id="019d036d-0000-72d2-b6fd-000000000001", cwd="/home/ana/shop", cli_version="0.99.0"),
        _item(1, "response_item", type="message", role="developer", content=_said("input_text", "Follow the rules.")),
        _item(1, "response_item", type="message", role="user", content=_said("input_text", "<environment_context>\n")),
        _item(2, "event_msg", type="user_message", message=PORT),
        _item(2, "response_item", type="message", role="user", content=_said("input_text", PORT)),
        _item(3, "response_item", type="reasoning", summary=[], encrypted_content="x"),
        _item(4, "response_item", type="message", role="assistant", content=_said("output_text", "I look it up.")),
        _item(5, "response_item", type="function_call", name="shell", arguments="{}", call_id="c"),
        _item(6, "response_item", type="function_call_output", call_id="c", output="PORT = 1"),
        _item(7, "response_item", type="message", role="assistant", content=_said("output_text", "Noted.")),
    )
    for _ in range(2):
        done = client.run("stop", stop_hook_active=False, last_assistant_message="Noted.", **turn)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert client.stored() == [("user", PORT), ("assistant", "Noted.")]
    asked = client.added("prompt", prompt=QUESTION, session_id="next", **turn)
    assert f"- user (20 November 2026): {PORT}" in asked.splitlines()


def test_a_second_stop_stores_only_what_is_new_and_nothing_that_was_deleted(client: Client) -> None:
    first, second = _turn(1, PORT, "Noted."), _turn(11, "The shop opens at nine.", "I wrote it down.")
    client.write(*first)
    client.run("stop")
    with client.open() as memory:
        memory.delete([one.id for one in memory.list(user_id="ana") if one.role == "assistant"])
    client.write(*first, *second)
    assert [client.run("stop").returncode for _ in range(2)] == [0, 0]
    kept = [("user", PORT), ("user", "The shop opens at nine."), ("assistant", "I wrote it down.")]
    assert client.stored() == kept


@pytest.mark.parametrize(
    ("prompt", "answer"), [("My code is Xylophon. #Private", "I keep Xylophon."), ("Hello.", "Xylophon #private")]
)
def test_a_turn_with_the_word_is_nowhere_in_the_memory_and_this_is_said(
    client: Client, prompt: str, answer: str
) -> None:
    client.added("prompt", prompt=prompt)
    client.write(*_turn(1, prompt, answer))
    said = json.loads(client.run("stop").stdout)
    assert said == {"systemMessage": "neurogated: 2 messages not stored: the turn has #private"}
    assert client.stored() == []
    assert [file for file in client.folder.rglob("*") if file.is_file() and b"ylophon" in file.read_bytes()] == []


_COMMAND = "<command-name>/review</command-name>\n<command-args>my salary letter #private</command-args>"


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        (_entry(11, "user", _COMMAND), 1),
        (_entry(11, "user", [{"type": "image", "source": {"type": "base64", "data": "x"}}]), 1),
        ({**_entry(11, "user", "My letter. #private"), "message": "odd"}, 1),
        (_entry(11, "user", "My letter. " * 2_000), 2),
    ],
)
def test_an_answer_is_of_the_last_prompt_of_any_kind_and_is_stored_only_with_it(
    client: Client, entry: Mapping[str, Any], left: int
) -> None:
    salary = _entry(12, "assistant", _said("text", "Your salary is 5000 euros."))
    client.write(*_turn(1, "What is two plus two?", "Four."), entry, salary, *_turn(21, PORT, "Noted."))
    assert client.run("stop").stdout == "", "of the last turn, everything is stored"
    kept = [("user", "What is two plus two?"), ("assistant", "Four."), ("user", PORT), ("assistant", "Noted.")]
    assert client.stored() == kept
    client.write(*_turn(1, "What is two plus two?", "Four."), entry, salary)
    assert f"{left} message" in json.loads(client.run("stop").stdout)["systemMessage"]
    assert client.stored() == kept


@pytest.mark.parametrize("program", ["claude-code", "codex", "cursor"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_hook_and_an_import_of_one_transcript_store_each_message_once(
    client: Client, program: str, *, is_first: bool
) -> None:
    client.write(*{
        "claude-code": _turn(1, PORT, "Noted."),
        "codex": [
            _item(0, "session_meta", id="5d2c1f0e-0000-4000-8000-0000000000aa", cwd="/home/ana/shop"),
            _item(2, "response_item", type="message", role="user", content=_said("input_text", PORT)),
            _item(3, "response_item", type="message", role="assistant", content=_said("output_text", "Noted.")),
        ],
        "cursor": [
            {"role": "user", "message": {"content": _said("text", PORT)}},
            {"role": "assistant", "message": {"content": _said("text", "Noted.")}},
        ],
    }[program])  # fmt: skip

    def stop() -> None:
        done = _of_cursor(client, "stop", client.transcript) if program == "cursor" else client.run("stop")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    if is_first:
        stop()
    with client.open() as memory:
        memory.admin.import_from(program, client.transcript, user_id="ana")
    stop()
    found = [one for one in client.stored() if one[1] in {PORT, "Noted."}]
    assert found == [("user", PORT), ("assistant", "Noted.")]
    with client.open() as memory:
        folders = {one.metadata.get("folder") for one in memory.list(user_id="ana") if one.content in {PORT, "Noted."}}
    assert folders == {"/home/ana/shop"} or not is_first, "an import takes no folder away"
    assert program == "cursor" or client.added("prompt", prompt=QUESTION) == ""


@pytest.mark.parametrize(
    ("event", "more", "given", "told"),
    [
        ("prompt", "", {"raw": "[1]"}, "standard input has no JSON object of a hook"),
        ("prompt", "", {}, "has no text 'prompt'; it has: session_id"),
        ("prompt", "--nope", {"prompt": "Hello."}, "there is no flag --nope"),
        ("session-start", "--set nope=1", {}, "nope"),
        ("stop", "", {"transcript_path": "/nowhere/at all"}, "/nowhere/at all cannot be read"),
    ],
)
def test_a_failure_is_told_on_standard_error_and_never_blocks(
    client: Client, event: str, more: str, given: Mapping[str, Any], told: str
) -> None:
    done = client.run(event, more, **given)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr


def _of_cursor(client: Client, event: str, transcript: Path, **given: object) -> subprocess.CompletedProcess[str]:
    """Run the hook of an event as Cursor does, with the fields of cursor.com/docs/hooks as of August 2026."""
    plugin = _read(PLUGINS / "cursor" / "hooks.json")
    assert plugin["version"] == 1
    (entry,) = plugin["hooks"][event]
    said = {
        "conversation_id": "9f1c",
        "generation_id": "g1",
        "model": "auto",
        "model_params": [],
        "hook_event_name": event,
        "cursor_version": "3.12.17",
        "workspace_roots": ["/home/ana/shop"],
        "user_email": None,
        "transcript_path": str(transcript),
        **given,
    }
    return client.call(entry["command"], json.dumps(said))


def test_cursor_gets_a_context_and_its_transcript_is_stored_once(client: Client, tmp_path: Path) -> None:
    transcript = tmp_path / "9f1c.jsonl"
    start = {"session_id": "9f1c", "is_background_agent": False, "composer_mode": "agent"}
    assert _of_cursor(client, "sessionStart", transcript, **start).stdout == ""
    said = "<timestamp>Friday, Nov 20, 2026, 10:00 AM (UTC)</timestamp>\n<user_query>\n{}\n</user_query>"
    lines = [
        {"role": "user", "message": {"content": _said("text", said.format(PORT))}},
        {"role": "assistant", "message": {"content": _said("text", "I look it up.\n\n[REDACTED]")}},
        {"role": "assistant", "message": {"content": _said("text", "Noted.")}},
        {"type": "turn_ended", "status": "success"},
        {"role": "user", "message": {"content": _said("text", said.format("My code is Xylophon. #private"))}},
        {"role": "assistant", "message": {"content": _said("text", "I keep Xylophon.")}},
    ]
    for count in (4, 4, 6):
        transcript.write_text("".join(f"{json.dumps(one)}\n" for one in lines[:count]), encoding="utf-8")
        done = _of_cursor(client, "stop", transcript, status="completed", loop_count=0)
        assert (done.returncode, done.stdout) == (0, ""), "an output would be the user's next message"
    assert "2 messages not stored: the turn has #private" in done.stderr
    assert client.stored() == [("user", PORT), ("assistant", "Noted.")]
    told = json.loads(_of_cursor(client, "sessionStart", transcript, **start).stdout)
    assert told.keys() == {"additional_context"}
    assert f"- user (20 November 2026): {PORT}" in told["additional_context"].splitlines()
    other = _of_cursor(client, "sessionStart", transcript, **start, workspace_roots=["/home/ana/other"])
    assert (other.returncode, other.stdout) == (0, "")


def test_cursor_without_transcripts_is_told_what_is_missing(client: Client) -> None:
    done = _of_cursor(client, "stop", Path("x"), transcript_path=None, status="completed", loop_count=0)
    assert (done.returncode, done.stdout) == (1, "")
    assert "settings of Cursor" in done.stderr
    assert done.stderr.count("transcript_path") == 1, "a field without a value is not one that it has"


@pytest.mark.parametrize("names", [("session_id", "hook_event_name"), ("sessionId", "hookEventName")])
def test_vs_code_gets_a_context_and_its_transcript_is_stored(
    client: Client, tmp_path: Path, names: tuple[str, str]
) -> None:
    transcript, hooks = tmp_path / "44711c38.jsonl", _read(PLUGINS / "vscode" / "hooks.json")["hooks"]
    events = [
        ("session.start", {"sessionId": "44711c38", "version": 1, "producer": "copilot-agent", "context": {}}),
        ("user.message", {"content": PORT, "attachments": []}),
        ("assistant.turn_start", {"turnId": "0"}),
        ("assistant.message", {"messageId": "m1", "content": "I look it up.", "toolRequests": []}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "read_file", "arguments": {}}),
        ("assistant.message", {"messageId": "m2", "content": "Noted.", "toolRequests": [], "reasoningText": "So."}),
        ("assistant.turn_end", {"turnId": "0"}),
    ]
    lines = [
        {"type": kind, "data": data, "id": f"e{number}", "timestamp": f"2026-11-20T10:00:{number:02}.000Z"}
        for number, (kind, data) in enumerate(events)
    ]
    transcript.write_text("".join(f"{json.dumps({**one, 'parentId': None})}\n" for one in lines), encoding="utf-8")
    given = {"timestamp": "2026-11-20T10:01:00.000Z", "cwd": "/home/ana/shop", "transcript_path": str(transcript)}

    def run(event: str, **more: object) -> subprocess.CompletedProcess[str]:
        (entry,) = hooks[event]
        assert entry["type"] == "command"
        return client.call(
            entry["command"], json.dumps(given | dict(zip(names, ("44711c38", event), strict=True)) | more)
        )

    for _ in range(2):
        done = run("Stop", stop_hook_active=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert client.stored() == [("user", PORT), ("assistant", "Noted.")]
    told = json.loads(run("SessionStart", source="new").stdout)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert PORT in told["additionalContext"]
