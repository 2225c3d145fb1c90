#!/bin/sh
# Package: qdrant-edge-py 0.9.0
# Behaviour: Pages of points of equal score repeat some and leave out others: their order depends on the number that is asked for.
# Guess: E13: two pages of two hold each of four points once (0.6).
# Seen: Pages of two of fifty points hold 26 different ones; one request for all holds each once.
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

shard.update(edge.UpdateOperation.upsert_points([edge.Point(number, [1.0, 0.0], {}) for number in range(1, 51)]))

def ids(limit, offset):
    request = edge.QueryRequest(limit=limit, offset=offset, query=edge.Query.Nearest([1.0, 0.0]))
    return [point.id for point in shard.query(request)]

paged = [one for place in range(0, 50, 2) for one in ids(2, place)]
assert len(paged) == 50 and len(set(paged)) < 40, paged
assert len(set(ids(50, 0))) == 50
END
