#!/bin/sh
# Package: haystack-ai 3.4.1, numpy 2.4.6
# Behaviour: With BM25Okapi, an unknown word returns all documents with score 0, more than a word that all have; with BM25L and BM25Plus they are left out.
# Guess: H1: documents without a word of the query are left out (0.5).
# Seen: Three documents of score 0 for 'zebra'; 'plums', which all have, scores below 0.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: haystack-ai==3.4.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore

for algorithm, returned in (("BM25Okapi", 3), ("BM25L", 0), ("BM25Plus", 0)):
    store = InMemoryDocumentStore(bm25_algorithm=algorithm)
    store.write_documents([Document(content=text) for text in ("plums are ripe", "plums are late", "no plums")])
    unknown = [one.score for one in store.bm25_retrieval("zebra")]
    assert unknown == [0.0] * returned, (algorithm, unknown)
    common = [one.score for one in store.bm25_retrieval("plums")]
    assert len(common) == 3 and all((score < 0) == (algorithm == "BM25Okapi") for score in common), (algorithm, common)
END
