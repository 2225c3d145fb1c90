#!/bin/sh
# Package: haystack-ai 3.4.1, numpy 2.4.6
# Behaviour: BM25 of the store in memory cuts Chinese, Japanese and Korean into single characters, so the characters of a word find a text in any order and place.
# Guess: H13: '日本' does not find a sentence without blanks (0.8).
# Seen: '日本' and '本我' find '我去日本旅行'; '국한' finds '한국에 갔다'.
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

store = InMemoryDocumentStore()
store.write_documents([Document(content=text) for text in ("我去日本旅行", "한국에 갔다", "the bus is late")])
found = {query: [one.content for one in store.bm25_retrieval(query)] for query in ("日本", "本我", "국한")}
assert found == {"日本": ["我去日本旅行"], "本我": ["我去日本旅行"], "국한": ["한국에 갔다"]}, found
END
