#!/bin/sh
# Package: milvus-lite 3.2.2, pymilvus 3.0.2
# Behaviour: In dynamic fields true equals 1, also in comparisons of size; a missing field meets neither `x == 1` nor `x != 1`.
# Guess: MV13: `x == 1` meets a dynamic true (0.2).
# Seen: It does, and `x == true` meets 1.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: milvus-lite==3.2.2 pymilvus==3.0.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import logging
from pymilvus import MilvusClient

logging.disable()
client = MilvusClient("store.db")
client.create_collection("a", dimension=2, metric_type="COSINE")

values = {1: {"x": 1}, 2: {"x": True}, 3: {"x": 2}, 4: {}}
client.insert("a", [{"id": number, "vector": [1, 0], **value} for number, value in values.items()])

def found(text):
    return [row["id"] for row in client.query("a", filter=text)]

assert found("x == 1") == found("x == true") == [1, 2]
assert (found("x != 1"), found("x > 0")) == ([3], [1, 2, 3])
END
