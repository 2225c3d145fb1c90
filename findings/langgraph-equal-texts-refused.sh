#!/bin/sh
# Package: langgraph-checkpoint 4.3.2
# Behaviour: InMemoryStore with an index refuses a batch in which an indexed text stands twice, in two items or in two fields of one; nothing of it is stored.
# Guess: S39: two items of equal text in one batch are both found (0.9).
# Seen: ValueError about the number of embeddings; one put after the other works.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint==4.3.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
def embed(texts):
    return [[text.count("tea") + 0.01, text.count("car") + 0.01] for text in texts]

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

store = InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["text", "title"]})

def refused(*ops):
    try:
        store.batch(ops)
    except ValueError as error:
        return "embeddings" in str(error)

assert refused(PutOp(("a",), "one", {"text": "tea"}), PutOp(("a",), "two", {"text": "tea"}))
assert refused(PutOp(("a",), "one", {"text": "tea", "title": "tea"}))
assert store.get(("a",), "one") is None
for key in ("one", "two"):
    store.put(("a",), key, {"text": "tea"})
assert len(store.search(("a",), query="tea")) == 2
END
