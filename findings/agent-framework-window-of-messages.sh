#!/bin/sh
# Package: agent-framework-core 1.23.0
# Behaviour: A group of SlidingWindowStrategy is one message, not a turn, so that a window may begin with an answer whose question is gone.
# Guess: DT10: a group is a message of the user with all that answers it (0.5).
# Seen: Of two groups: the system message, the answer 'a2', and the question 'u3'.
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

said = [("system", "s"), ("user", "u1"), ("assistant", "a1"), ("user", "u2"), ("assistant", "a2"), ("user", "u3")]

def window(count):
    messages = [Message(role, [text]) for role, text in said]
    kept = asyncio.run(apply_compaction(messages, strategy=SlidingWindowStrategy(keep_last_groups=count)))
    return [one.text for one in kept]

assert window(2) == ["s", "a2", "u3"], window(2)
assert window(4) == ["s", "a1", "u2", "a2", "u3"], window(4)
END
