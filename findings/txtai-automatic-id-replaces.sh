#!/bin/sh
# Package: txtai 9.14.0
# Behaviour: A text without an id takes the number of texts so far as its id; an upsert of it replaces the text that was added under that id.
# Guess: Automatic numbers pass over ids that are in use.
# Seen: Four texts were added, three are there, and the one with the id of its own is lost.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: txtai==9.14.0 torch==2.13.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import numpy as np
from txtai import Embeddings

def embed(texts):
    return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)

memory = Embeddings(method="external", transform=embed, content=True)
memory.index(["the first", "the second"])
memory.upsert([("2", "with an id of its own")])
assert memory.count() == 3
memory.upsert(["the last"])
assert memory.count() == 3, memory.count()
found = memory.search("select id, text from txtai order by id", 10)
assert [one["text"] for one in found] == ["the first", "the second", "the last"], found
END
