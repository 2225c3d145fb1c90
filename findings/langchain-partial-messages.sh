#!/bin/sh
# Package: langchain-core 1.8.3
# Behaviour: `allow_partial` cuts a message between lines only: one long line is dropped whole.
# Guess: F4: the end of the text is kept (0.7).
# Seen: The last line of three; nothing of a single line.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langchain-core==1.8.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langchain_core.messages import HumanMessage, trim_messages

def count(messages):
    return sum(len(one.content.split()) for one in messages)

def kept(text):
    left = trim_messages([HumanMessage(text)], max_tokens=4, token_counter=count, allow_partial=True)
    return [one.content for one in left]

assert kept("one two three\nfour five six\nseven eight nine") == ["seven eight nine"]
assert kept("one two three four five six seven") == []
END
