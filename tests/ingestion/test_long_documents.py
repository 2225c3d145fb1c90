"""The counted cost of a long document, and its state after an interrupted indexing."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import Document, EdgeType, GraphDelta, Passage
from neurogated.core.judgements import CausalJudgement
from neurogated.core.sentences import split_sentences
from neurogated.ingestion import causality, document, planner
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.causal_cues import LINKS
from neurogated.ingestion.causal_patterns import Link, heads
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.entities import OfflineEntityFinder
from neurogated.ingestion.writer import Writer
from neurogated.utils.hash_utils import compute_mdhash_id
from tests.ingestion.test_writer import Bench


def chat(turns: int) -> Document:
    """Return a dialogue in which every turn is a distinct chunk."""
    return Document(
        tuple(Passage(f"Ada saw ship {turn}.", speaker="Ann" if turn % 2 else "Bob") for turn in range(turns)),
        "Log",
    )


def causal(bench: Bench) -> Bench:
    """Return the bench with an engine that judges causes and finds names."""
    analysis = Analysis(OfflineCausalJudge(), OfflineEntityFinder(), 1)
    bench.engine = Writer(bench.store, bench.embedder, analysis, bench.config, bench.clock)
    return bench


def graph(bench: Bench) -> tuple[object, ...]:
    """Return the whole graph except its write times."""
    nodes = {
        node.id: (node.content, node.metadata, np.asarray(node.embedding).tobytes()) for node in bench.store.all_nodes()
    }
    return nodes, {(edge.key, edge.weight) for edge in bench.store.all_edges()}


def test_a_document_twice_as_long_hashes_twice_as_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[int] = []

    def counting(content: str, prefix: str = "") -> str:
        hashed.append(len(content))
        return compute_mdhash_id(content, prefix)

    for module in (document, planner):
        monkeypatch.setattr(module, "compute_mdhash_id", counting)
    amounts = []
    for turns in (50, 100):
        hashed.clear()
        Bench({"indexing.chunk_size": 8}).add(chat(turns))
        amounts.append(sum(hashed))

    assert amounts[1] < 2.2 * amounts[0]


def test_a_text_is_read_for_causes_once_however_wide_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()

    def counting(text: str) -> list[str]:
        read[text] += 1
        return split_sentences(text)

    monkeypatch.setattr(causality, "split_sentences", counting)
    bench = causal(Bench({"indexing.chunk_size": 8, "indexing.cause_window": 5}))

    bench.add(chat(20))

    assert set(read.values()) == {1}
    assert len(read) == 20


def test_a_long_document_is_written_in_parts_and_compared_within_them(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench({"indexing.chunk_size": 8, "indexing.batch_size": 8})
    sizes: list[int] = []
    apply = bench.store.apply

    def counting(delta: GraphDelta) -> int:
        sizes.append(len(delta.nodes))
        return apply(delta)

    monkeypatch.setattr(bench.store, "apply", counting)

    (ids,) = bench.add(chat(20))

    assert sizes == [8, 8, 4]
    assert [node.content for node in bench.store.get_nodes(ids)] == [f"Ada saw ship {turn}." for turn in range(20)]


@pytest.mark.parametrize("part", [0, 1, 2])
def test_an_interruption_keeps_the_parts_before_it_and_the_rest_is_added_by_adding_again(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"indexing.batch_size": 4}
    whole, bench = causal(Bench(settings)), causal(Bench(settings))
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


@pytest.mark.parametrize("gone", [slice(2, 6), slice(0, 4), slice(4, 8)])
def test_a_restored_part_of_a_long_document_is_joined_to_both_neighbours(gone: slice) -> None:
    bench = causal(Bench({"indexing.chunk_size": 8, "indexing.batch_size": 4}))
    (ids,) = bench.add(chat(11))
    before = graph(bench)
    bench.engine.delete(ids[gone])

    bench.add(chat(11))

    assert bench.pairs(EdgeType.SEQ) == set(pairwise(ids))
    assert graph(bench)[0] == before[0]


def test_the_end_of_a_document_and_its_beginning_fit_into_one_batch() -> None:
    bench = causal(Bench({"indexing.chunk_size": 8, "indexing.batch_size": 4}))

    first, again = bench.add(chat(5), chat(5))

    assert first == again
    assert len(bench.pairs(EdgeType.SEQ)) == 4


class Reading(OfflineCausalJudge):
    """Records how many pairs it is given at a time."""

    def __init__(self) -> None:
        self.pairs: list[int] = []

    def judge_batch(self, pairs: Sequence[tuple[str, str]]) -> list[CausalJudgement]:
        self.pairs.append(len(pairs))
        return super().judge_batch(pairs)


def test_pairs_across_two_parts_are_judged_once() -> None:
    bench, judge = Bench({"indexing.chunk_size": 8, "indexing.batch_size": 4, "indexing.cause_window": 2}), Reading()
    bench.engine = Writer(
        bench.store, bench.embedder, Analysis(judge, OfflineEntityFinder(), 1), bench.config, bench.clock
    )

    bench.add(chat(10))

    assert sum(judge.pairs) == 9 + 8
    assert len(judge.pairs) == 3


@settings(max_examples=300)
@given(st.data())
def test_no_match_of_a_cue_is_without_its_hint(data: st.DataObject) -> None:
    link: Link = data.draw(st.sampled_from([link for link in LINKS if link.hints]))
    text = data.draw(st.from_regex(link.pattern, alphabet=st.characters(max_codepoint=127)))

    assert not link.hints.isdisjoint(heads(text.lower()))


def test_judging_together_agrees_with_judging_alone() -> None:
    texts = [
        "Heavy rain fell.",
        "As a result, the mill closed.",
        "The mill closed owing to the rain.",
        "",
        "雨。因此停了。",
    ]
    pairs = [(first, second) for first in texts for second in texts]
    judge = OfflineCausalJudge()

    assert judge.judge_batch(pairs) == [judge.judge(*pair) for pair in pairs]
