#!/bin/sh
# Package: mem0ai 2.2.1, faiss-cpu 1.15.1, numpy 2.4.6
# Behaviour: Without a model, metadata with the key `created_at` set both times of a memory, and the keys `data`, `hash` and `user_id` are lost without a word.
# Guess: O11: metadata keep such keys, or replace the field (0.3).
# Seen: created_at and updated_at are '2020-01-01', metadata None.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: mem0ai==2.2.1 faiss-cpu==1.15.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import logging
import os
import tempfile

folder = tempfile.mkdtemp(dir=".")
os.environ |= {"MEM0_DIR": folder, "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
from mem0 import Memory

logging.disable()


class Embedder:
    def embed(self, text, memory_action=None):
        return [1.0, float(len(text))]


settings = {"path": f"{folder}/faiss", "embedding_model_dims": 2}
memory = Memory.from_config(
    {"vector_store": {"provider": "faiss", "config": settings}, "history_db_path": f"{folder}/history.db"}
)
memory.embedding_model = Embedder()
given = {"created_at": "2020-01-01", "data": "figs", "hash": "h", "user_id": "other"}
memory.add([{"role": "user", "content": "plums"}], user_id="ann", infer=False, metadata=given)
(found,) = memory.get_all(filters={"user_id": "ann"})["results"]
assert (found["memory"], found["metadata"]) == ("plums", None), found
assert found["created_at"] == found["updated_at"] == "2020-01-01", found
END
