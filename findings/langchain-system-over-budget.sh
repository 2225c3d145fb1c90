#!/bin/sh
# Package: langchain-core 1.8.3
# Behaviour: With include_system, a system message that exceeds the budget alone is returned all the same.
# Guess: F2: an empty list (0.5).
# Seen: The system message: 3 tokens for a budget of 2.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langchain-core==1.8.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langchain_core.messages import HumanMessage, SystemMessage, trim_messages

def count(messages):
    return sum(3 if one.type == "system" else 1 for one in messages)

left = trim_messages([SystemMessage("s"), HumanMessage("h")], max_tokens=2, token_counter=count, include_system=True)
assert [one.type for one in left] == ["system"] and count(left) == 3, left
END
