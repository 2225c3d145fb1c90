#!/bin/sh
# Package: txtai 9.14.0
# Behaviour: A search for as many texts as there are leaves out those whose cosine is negative, so that a filter which only they pass finds nothing.
# Guess: Each text is a candidate, and the filter finds the one with the tag.
# Seen: One text of two, and none with the tag; without a question, the tag is found.
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

VECTORS = {"near": [1.0, 0.1], "far": [-1.0, 0.2], "question": [1.0, 0.0]}

def embed(texts):
    return np.array([VECTORS[text] for text in texts], dtype=np.float32)

memory = Embeddings(method="external", transform=embed, content=True)
memory.index([("1", {"text": "near", "tag": "common"}), ("2", {"text": "far", "tag": "rare"})])
assert memory.count() == 2
found = memory.search("question", 2)
assert [one["id"] for one in found] == ["1"], found
assert memory.search("select id from txtai where similar('question', 2) and tag = 'rare'", 2) == []
assert memory.search("select id from txtai where tag = 'rare'", 2) == [{"id": "2"}]
END
