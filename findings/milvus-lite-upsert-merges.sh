#!/bin/sh
# Package: milvus-lite 3.2.2, pymilvus 3.0.2
# Behaviour: An upsert keeps dynamic fields that it does not name, and an insert of a known key replaces the row.
# Guess: MV14: an upsert replaces dynamic fields that it does not name (0.7); MV1: an insert of a known key keeps both rows (0.7).
# Seen: The old field stays beside the new one; one row, without the old field.
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

client.insert("a", [{"id": number, "vector": [1, 0], "old": 1} for number in (1, 2)])
client.upsert("a", [{"id": 1, "vector": [0, 1], "new": 2}])
client.insert("a", [{"id": 2, "vector": [0, 1], "new": 2}])
rows = {row["id"]: {"old", "new"} & row.keys() for row in client.query("a", filter="id > 0", output_fields=["*"])}
assert rows == {1: {"old", "new"}, 2: {"new"}}, rows
assert client.query("a", filter="", output_fields=["count(*)"])[0]["count(*)"] == 2
END
