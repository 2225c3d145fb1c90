"""`hook`: the hooks of Claude Code, Codex, Cursor and VS Code, which remember a session by themselves.

Each reads the JSON of its event, in which Cursor has names of its own. Every failure has the exit code 1: 2 would block
the prompt or keep the agent going.
"""

import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from neurogated.archive.foreign import Fault, Incoming, read_file
from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags, counted
from neurogated.core.filters import field
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.messages import read_message
from neurogated.memory import NeuroGraphMemory

_TURNS = 8
"""So many last turns are stored if they are not yet, as after a hook that failed."""
_FOLDER = "cwd", "workspace_roots"
_QUERY = 4_000  # most characters of a prompt that are searched for

_token_budget = click.option(
    "--token_budget", type=click.IntRange(1, 2000), default=1000, show_default=True, help="of what it adds"
)


@command("hook session-start")
@user("whose memories are shown")
@_token_budget
def hook_session_start(flags: Flags, *, token_budget: int) -> None:
    """Add what was said in this folder about what was said there last."""
    given, owner = _given(), flags.owner["user_id"]
    here = field("folder") == _text(given, *_FOLDER)
    with flags.open(create=True) as memory:
        for newest in memory.find(order_by="-timestamp", limit=1, where=here, user_id=owner):
            query = newest.content[:_QUERY]
            text = memory.get_context(query, token_budget, where=here, user_id=owner).text
            _add_context("SessionStart", text, for_cursor="cursor_version" in given)


@command("hook prompt")
@user("whose memories are recalled")
@_token_budget
@click.option(
    "--min_confidence", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="add nothing below it"
)
def hook_prompt(flags: Flags, *, token_budget: int, min_confidence: float) -> None:
    """Add what other sessions have about a prompt; this one's own messages stand in the agent's window."""
    given, owner = _given(), flags.owner["user_id"]
    query, session = _text(given, "prompt")[:_QUERY], _text(given, "session_id")
    if query.strip():
        with flags.open(create=True) as memory:
            known = memory.find(session_id=session, user_id=owner)
            own = [one.id for one in known if one.scope.session_id == session]
            recall = memory.recall(query, user_id=owner, except_ids=own, min_confidence=min_confidence)
            _add_context("UserPromptSubmit", recall.as_text(token_budget))


@command("hook stop")
@user("to whom the memories belong")
@click.option("--limit", type=click.IntRange(1), default=20_000, show_default=True, help="most characters of a message")
@click.option(
    "--private", metavar="WORD", multiple=True, default=("#private",), show_default=True, help="keeps a turn out"
)
def hook_stop(flags: Flags, *, limit: int, private: tuple[str, ...]) -> None:
    """Store the last turns, each message under its own id, and say what is left out of the last one."""
    given, note = _given(), ""
    session, folder = _text(given, "session_id", "sessionId", "conversation_id"), _text(given, *_FOLDER)
    turns = _turns(Path(_text(given, "transcript_path")))[-_TURNS:]
    with flags.open(create=True) as memory:
        for turn in turns:
            found = [word for word in private if any(word.casefold() in one["content"].casefold() for one in turn)]
            short = [] if found else [one for one in turn if len(one["content"]) <= limit]
            why = f"the turn has {found[0]}" if found else f"more than {limit} characters"
            left = counted(len(turn) - len(short), "messages")
            note = f"neurogated: {left} not stored: {why}" if len(short) < len(turn) else ""
            if messages := [one for one in short if not _was_stored(memory, one["id"])]:
                memory.add(messages, session_id=session, metadata={"folder": folder}, user_id=flags.owner["user_id"])
    if note:
        # Cursor would take an output for the user's next message, and shows what stands on standard error.
        print(note, file=sys.stderr) if "cursor_version" in given else print(json.dumps({"systemMessage": note}))


def _given() -> Mapping[str, Any]:
    try:
        return dict(json.loads(sys.stdin.buffer.read()))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"standard input has no JSON object of a hook ({error})") from error


def _text(given: Mapping[str, Any], *names: str) -> str:
    """Return the first of some fields that is there, or the first text of a list."""
    value = next((given[name] for name in names if name in given), None)
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, str):
        raise InputError(f"the JSON of the hook has no text {names[0]!r}; it has: {', '.join(given)}")
    return value


def _add_context(event: str, text: str, *, for_cursor: bool = False) -> None:
    output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    if text:
        print(json.dumps({"additional_context": text} if for_cursor else output))


def _was_stored(memory: NeuroGraphMemory, node_id: str) -> bool:
    """Return whether a message is, or was, a memory: one that was deleted does not come back."""
    with contextlib.suppress(UnknownIdError):
        return bool(memory.history.of(node_id))
    return False


def _turns(file: Path) -> list[list[dict[str, Any]]]:
    """Return the turns of a transcript: what the user said, and the last that the agent said before the next prompt.

    They are those that the user saw last; what the program and subagents wrote is no message.
    """
    turns = list[list[dict[str, Any]]]()
    for one in read_file(None, file, read_message):
        if isinstance(one, Fault):
            print(f"left out a part of the transcript: {one}", file=sys.stderr)
        elif isinstance(one, Incoming) and one.branch is None:
            said = {"id": one.key, "role": one.role, "content": one.text, "timestamp": one.details.get("timestamp")}
            if one.role == "user":
                turns.append([said])
            elif turns:
                turns[-1][1:] = [said]
    return turns
