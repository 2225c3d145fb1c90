#!/bin/sh
# Package: llama-index-core 0.14.25
# Behaviour: In fusion by relative scores, the only result of each retriever counts as its best: a poor one of 0.1 equals a good one of 0.9.
# Guess: I20: no score is nan (0.7); that the two are equal was seen beside it.
# Seen: Both score 0.5.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: llama-index-core==0.14.25
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode


class Given(BaseRetriever):
    def __init__(self, text, score):
        super().__init__()
        self.row = text, score

    def _retrieve(self, query):
        return [NodeWithScore(node=TextNode(id_=self.row[0], text=self.row[0]), score=self.row[1])]


options = {"mode": "relative_score", "num_queries": 1, "use_async": False, "similarity_top_k": 5}
fusion = QueryFusionRetriever([Given("good", 0.9), Given("poor", 0.1)], llm=MockLLM(), **options)
found = {one.node.text: one.score for one in fusion.retrieve("which")}
assert found == {"good": 0.5, "poor": 0.5}, found
END
