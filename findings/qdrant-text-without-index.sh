#!/bin/sh
# Package: qdrant-edge-py 0.9.0
# Behaviour: Without a text index, MatchText compares whole words, in any case and order; a part of a word is found by MatchSubstring only.
# Guess: E2: 'cat' meets 'concatenate' (0.6); E3: 'LIST' does not meet 'list' (0.6).
# Seen: The other way round.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: qdrant-edge-py==0.9.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import os
import qdrant_edge as edge

os.makedirs("shard")
vectors = edge.EdgeVectorParams(size=2, distance=edge.Distance.Cosine)
shard = edge.EdgeShard.create("shard", edge.EdgeConfig(vectors=vectors))

shard.update(edge.UpdateOperation.upsert_points([edge.Point(1, [1.0, 0.0], {"s": "concatenate the list"})]))

def finds(match):
    request = edge.ScrollRequest(limit=9, filter=edge.Filter(must=[edge.FieldCondition("s", match=match)]))
    return len(shard.scroll(request)[0]) == 1

words = ("cat", "conc", "LIST", "list the")
assert [finds(edge.MatchText(word)) for word in words] == [False, False, True, True]
assert finds(edge.MatchSubstring("cat"))
END
