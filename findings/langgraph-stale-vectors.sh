#!/bin/sh
# Package: langgraph-checkpoint 4.3.2
# Behaviour: An item whose new value lacks an indexed field, or is put with index=False, is still found by its old text, with the full score.
# Guess: S35: the old text finds nothing any more (0.7).
# Seen: Score 1.0 for words that no value holds.
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

from langgraph.store.memory import InMemoryStore

store = InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["text"]})
for key, value, index in (("field", {"other": "sun"}, None), ("unindexed", {"text": "sun"}, False)):
    store.put(("a",), key, {"text": "tea"})
    store.put(("a",), key, value, index=index)
store.put(("a",), "car", {"text": "car"})
found = {item.key: round(item.score, 2) for item in store.search(("a",), query="tea")}
assert found["field"] == found["unindexed"] == 1.0 and found["car"] < 0.1, found
END
