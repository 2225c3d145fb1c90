#!/bin/sh
# Package: langchain-core 1.8.3
# Behaviour: A history as one text shows tool calls of a message with words, and leaves out who spoke.
# Guess: F12: the calls are left out beside words (0.5).
# Seen: 'AI: t[{...}]'; 'Human: hello' for a message named Tom.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langchain-core==1.8.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langchain_core.messages import AIMessage, HumanMessage, get_buffer_string

call = {"name": "look", "args": {}, "id": "1"}
said, named = get_buffer_string([AIMessage("t", tool_calls=[call])]), get_buffer_string([HumanMessage("hello", name="Tom")])
assert said.startswith("AI: t[{'name': 'look'"), said
assert named == "Human: hello", named
END
