"""The counted cost of a long document, and its state after an interrupted indexing."""

from collections.abc import Sequence

import numpy as np
import pytest

from neurogated import Document, GraphDelta, Passage
from neurogated.core.tokens import window_tokens
from neurogated.ingestion import chunker as chunking
from neurogated.ingestion.analysers import Analysis, OfflineEntityFinder
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.writer import Writer
from neurogated.text import sentences, strings
from neurogated.text.keywords import count_words
from tests.ingestion.test_writer import Bench


def chat(turns: int) -> Document:
    """Return a dialogue in which every turn is a distinct chunk."""
    return Document(
        tuple(Passage(f"Ada saw ship {turn}.", speaker="Ann" if turn % 2 else "Bob") for turn in range(turns)), "Log"
    )


LONG = {
    "sentences": "Ana moved to Lyon in May. Dr. Ben stayed; he likes it! 我住在上海。 ",
    "one sentence": "rivers and mountains ",
    "Chinese without marks": "我住在上海他喜欢喝茶",
    "lines": "A line\nand another\n\n",
    "blocks": "# Head\n\nText of it.\n\n* an item\n* another\n\n```\nx = 1\n```\n\n> said\n\n",
    "a list": "* an item of a list\n",
    "rows": "| a cell | another |\n",
    "code": "x = f(x)  # a line\n",
}


def long_text(name: str, size: int) -> str:
    begin = {"rows": "| a | b |\n|---|---|\n", "code": "```\n", "a list": "# List\n\n"}.get(name, "")
    return begin + LONG[name] * (size // len(LONG[name]))


@pytest.mark.parametrize("name", LONG)
def test_a_text_that_is_read_in_sections_has_the_chunks_of_one_that_is_read_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, chunker = long_text(name, 6_000), Chunker(20, 5, window_tokens(count_words))
    whole = chunker.split(text)
    for module in (sentences, chunking, strings):
        monkeypatch.setattr(module, "SECTION", 300)
    assert chunker.split(text) == whole


@pytest.mark.parametrize("name", sorted(LONG.keys() - {"blocks"}))
def test_few_pieces_of_a_long_text_exist_at_a_time(name: str) -> None:
    most = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal most
        most = max(most, len(texts))
        return count_words(texts)

    Chunker(100, 5, count).split(long_text(name, 150_000))
    assert most <= 1_000


def causal(bench: Bench) -> Bench:
    """Return the bench with an engine that judges causes and finds names."""
    analysis = Analysis(OfflineCausalJudge(), OfflineEntityFinder())
    bench.engine = Writer(bench.store, bench.embedder, analysis, bench.config, bench.clock, batch=bench.batch)
    return bench


def graph(bench: Bench) -> tuple[object, ...]:
    """Return the whole graph except its write times."""
    nodes = {
        node.id: (node.content, node.metadata, np.asarray(node.embedding).tobytes()) for node in bench.store.all_nodes()
    }
    return nodes, {(edge.key, edge.weight) for edge in bench.store.all_edges()}


@pytest.mark.parametrize("part", [0, 1, 2])
def test_an_interruption_keeps_the_parts_before_it_and_the_rest_is_added_by_adding_again(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, bench = causal(Bench(batch=4)), causal(Bench(batch=4))
    whole.add(chat(11))
    apply = bench.store.apply
    with monkeypatch.context() as patch:
        written = 0

        def interrupted(delta: GraphDelta) -> int:
            nonlocal written
            if written == part:
                raise KeyboardInterrupt
            written += 1
            return apply(delta)

        patch.setattr(bench.store, "apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.add(chat(11))
    assert bench.store.view().node_count == 4 * part

    bench.add(chat(11))

    assert graph(bench) == graph(whole)
