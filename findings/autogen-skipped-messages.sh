#!/bin/sh
# Package: autogen-core 0.7.5
# Behaviour: The number of skipped messages leaves out calls and results that were dropped at the cut.
# Guess: F51: it says how many were skipped (0.85).
# Seen: 'Skipped 2 messages.' where 3 of 5 are missing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: autogen-core==0.7.5
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
from autogen_core import FunctionCall
from autogen_core.model_context import HeadAndTailChatCompletionContext
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage

call = AssistantMessage(content=[FunctionCall(id="c", name="f", arguments="{}")], source="a")
result = FunctionExecutionResultMessage(
    content=[FunctionExecutionResult(content="r", name="f", call_id="c", is_error=False)])
messages = [UserMessage(content="1", source="u"), call, result, AssistantMessage(content="ok", source="a"),
            UserMessage(content="2", source="u")]

async def shown():
    context = HeadAndTailChatCompletionContext(head_size=2, tail_size=1)
    for message in messages:
        await context.add_message(message)
    return [message.content for message in await context.get_messages()]

got = asyncio.run(shown())
assert got == ["1", "Skipped 2 messages.", "2"], got
END
