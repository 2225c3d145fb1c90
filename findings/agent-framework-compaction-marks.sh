#!/bin/sh
# Package: agent-framework-core 1.23.0
# Behaviour: A compaction marks the messages that it leaves out, so that a later one with a wider window of the same messages leaves them out, too.
# Guess: Seen beside DT10, which asked for the windows of one list of messages one after another.
# Seen: The system message and the last question for a window of nine groups.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: agent-framework-core==1.23.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
from agent_framework import Message, SlidingWindowStrategy, apply_compaction

messages = [Message(role, [text]) for role, text in (("system", "s"), ("user", "u1"), ("assistant", "a1"), ("user", "u2"))]

def window(count):
    kept = asyncio.run(apply_compaction(messages, strategy=SlidingWindowStrategy(keep_last_groups=count)))
    return [one.text for one in kept]

assert window(9) == ["s", "u1", "a1", "u2"]
assert window(1) == ["s", "u2"]
assert window(9) == ["s", "u2"], window(9)
assert messages[1].additional_properties["_excluded"] is True, messages[1].to_dict()
END
