#!/bin/sh
# Package: llama-index-core 0.14.25
# Behaviour: If the last message alone exceeds the limit of a ChatMemoryBuffer, it is returned whole.
# Guess: F48: an empty list (0.6).
# Seen: The message of five tokens for a limit of three.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: llama-index-core==0.14.25
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

buffer = ChatMemoryBuffer.from_defaults(token_limit=3, tokenizer_fn=str.split)
for text in ("a b", "one two three four five"):
    buffer.put(ChatMessage(role="user", content=text))
assert [one.content for one in buffer.get()] == ["one two three four five"], buffer.get()
END
