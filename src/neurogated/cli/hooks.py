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

from neurogated.archive.foreign import Fault, Incoming, Left, detect, read_file
from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags, counted
from neurogated.components.foreign import named
from neurogated.core.filters import field
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.messages import read_message

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
    here = field("folder") == _text(given, *_FOLDER, default="")
    with flags.open(create=True) as memory:
        for newest in memory.find(order_by="-timestamp", limit=1, where=here, user_id=owner):
            query = newest.content[:_QUERY]
            text = memory.get_context(query, token_budget, where=here, user_id=owner).text
            _add_context("SessionStart", text, for_cursor="cursor_version" in given)


@command("hook prompt")
@user("whose memories are recalled")
@_token_budget
@click.option("--min_confidence", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="of what it adds")
def hook_prompt(flags: Flags, *, token_budget: int, min_confidence: float) -> None:
    """Add what other sessions have about a prompt; this one's own messages stand in the agent's window."""
    given, owner = _given(), flags.owner["user_id"]
    query, session = _text(given, "prompt")[:_QUERY], _text(given, "session_id")
    if query.strip():
        with flags.open(create=True) as memory:
            here = [memory.find(session_id=f"{one}-{session}", user_id=owner) for one in ("claude-code", "codex")]
            own = [one.id for found in here for one in found if one.scope.session_id]
            recall = memory.recall(query, user_id=owner, except_ids=own, min_confidence=min_confidence)
            _add_context("UserPromptSubmit", recall.as_text(token_budget))


@command("hook stop")
@user("to whom the memories belong")
@click.option("--limit", type=click.IntRange(1), default=20_000, show_default=True, help="most characters of a message")
@click.option("--private", metavar="WORD", multiple=True, default=("#private",), show_default=True, help="omits a turn")
def hook_stop(flags: Flags, *, limit: int, private: tuple[str, ...]) -> None:
    """Store the last turns, each message under its own id, and say what is left out of the last one."""
    given, note, owner = _given(), "", flags.owner["user_id"]
    here, transcript = _text(given, *_FOLDER, default=""), Path(_text(given, "transcript_path"))
    source, folder = detect(transcript), {"folder": here} if here else {}
    with flags.open(create=True) as memory:
        for fault, turn in _turns(source, transcript)[-_TURNS:]:
            found = [word for word in private if any(word.casefold() in one.text.casefold() for one in turn)]
            why = f"the turn has {found[0]}" if found else fault
            short = [] if why or len(turn[0].text) > limit else [one for one in turn if len(one.text) <= limit]
            left = counted(len(turn) - len(short), f"messages not stored: {why or f'more than {limit} characters'}")
            note = f"neurogated: {left}" if len(short) < len(turn) else ""
            for name, scope, details, one in [(*named(one, source, owner), one) for one in short]:
                with contextlib.suppress(UnknownIdError):
                    if memory.history.of(name):
                        continue  # a message that was deleted does not come back, either
                said = {"id": name, "role": one.role, "content": one.text, "timestamp": details.get("timestamp")}
                about = details.get("metadata", {}) | folder
                memory.add([said], session_id=scope.session_id, metadata=about, user_id=owner)
    if note:
        # Cursor would take an output for the user's next message, and shows what stands on standard error.
        print(note, file=sys.stderr) if "cursor_version" in given else print(json.dumps({"systemMessage": note}))


def _given() -> Mapping[str, Any]:
    try:
        return dict(json.loads(sys.stdin.buffer.read()))
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"standard input has no JSON object of a hook ({error})") from error


def _text(given: Mapping[str, Any], *names: str, default: str | None = None) -> str:
    """Return the first of some fields that has a value, or the first one of a list; null is no value."""
    held = [one for name in names for one in (given[name] if isinstance(given.get(name), list) else [given.get(name)])]
    value = next((one for one in held if one is not None), default)
    if not isinstance(value, str):
        has = ", ".join(name for name in given if given[name] is not None)
        if "transcript_path" in names and "cursor_version" in given:
            has += "; switch on transcripts in the settings of Cursor"
        raise InputError(f"the JSON of the hook has no text {names[0]!r}; it has: {has}")
    return value


def _add_context(event: str, text: str, *, for_cursor: bool = False) -> None:
    output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    if text:
        print(json.dumps({"additional_context": text} if for_cursor else output))


def _turns(source: str, file: Path) -> list[tuple[str, list[Incoming]]]:
    """Return the turns of a transcript that have a message, each with the reason if it must not be stored.

    They are what the user said and the last that the agent said before the next prompt, as the user saw them last. The
    answer to a prompt without a text stands alone. What the program and subagents wrote is no message.
    """
    turns = list[tuple[str, list[Incoming]]]()
    for one in read_file(source, file, read_message):
        if isinstance(one, Fault):
            print(f"left out a part of the transcript: {one}", file=sys.stderr)
            turns.append(("a part before, maybe the prompt, cannot be read", []))
        elif isinstance(one, Left) and one.is_prompt:
            turns.append((f"the prompt is left out: {one.reason}", []))
        elif isinstance(one, Incoming) and one.branch is None and one.role == "user":
            turns.append(("", [one]))
        elif isinstance(one, Incoming) and one.branch is None and turns:
            fault, turn = turns[-1]
            turn[0 if fault else 1 :] = [one]
    return [turn for turn in turns if turn[1]]
