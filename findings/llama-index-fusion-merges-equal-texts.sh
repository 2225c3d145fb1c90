#!/bin/sh
# Package: llama-index-core 0.14.25
# Behaviour: Fusion of retrievers merges two nodes of equal text and metadata though their ids differ: their ranks add up, and only the last id is left.
# Guess: I4: they stay two results (0.4).
# Seen: 'b' with 2/60, above 'c'; 'a' is gone.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: llama-index-core==0.14.25
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode


class Given(BaseRetriever):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def _retrieve(self, query):
        return [NodeWithScore(node=TextNode(id_=name, text=text), score=score) for name, text, score in self.rows]


given = [Given([("c", "no", 0.9), ("a", "yes", 0.8)]), Given([("b", "yes", 0.7)])]
options = {"mode": "reciprocal_rerank", "num_queries": 1, "use_async": False, "similarity_top_k": 5}
found = [one.node.node_id for one in QueryFusionRetriever(given, llm=MockLLM(), **options).retrieve("which")]
assert found == ["b", "c"], found
END
