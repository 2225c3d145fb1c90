"""TERM and MENTION edges match their formulas in plain Python, in any order of arrival."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import (
    Document,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
)
from neurogated.core.rendering import keyword_text, subjects
from neurogated.ingestion.edge_builder import UserGraphs, text_edges
from neurogated.text.keywords import split_keywords

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Edges = tuple[dict[frozenset[str], float], dict[tuple[str, str], float]]


def words_of(text: str) -> list[str]:
    """Return the words of the texts used here: each Han character alone, other words in lower case."""
    return re.findall(r"[\u4e00-\u9fff]|[a-z0-9]+", text.lower())


def names(text: str, name: str) -> bool:
    words, wanted = words_of(text), name.split()
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def keywords_of(node: MemoryNode) -> set[str]:
    return set(split_keywords(keyword_text(node)))


def mentions(node: MemoryNode, name: str) -> bool:
    """Return whether a text outside dialogues has the keywords of a name and its words in order."""
    wanted = split_keywords(re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", name))
    return names(node.content, name) and keywords_of(node) >= set(wanted)


def reference(nodes: Sequence[MemoryNode], term_texts: int, most: int) -> Edges:
    """Return the edges by both formulas over a whole collection, with its nodes in the order of the store."""
    terms = {node.id: keywords_of(node) for node in nodes}
    holders = {t: [n.id for n in nodes if t in terms[n.id]] for held in terms.values() for t in held}
    rare = {term: len(ids) for term, ids in holders.items() if len(ids) <= term_texts}
    by_pair = {
        frozenset((a.id, b.id)): min(1.0, math.fsum(1 / rare[t] for t in terms[a.id] & terms[b.id] & rare.keys()))
        for a, b in combinations(nodes, 2)
    }
    # A text without a title may be about a name that it begins with.
    titles = {node.id: node.found.names if node.title is None else (node.title,) for node in nodes}
    about = {node_id: {name for title in held for name in subjects(title)} for node_id, held in titles.items()}
    mention: dict[tuple[str, str], float] = {}
    for name in {name for own in about.values() for name in own}:
        sources = [node.id for node in nodes if mentions(node, name) and name not in about[node.id]]
        if len(sources) <= most:
            for target in [node.id for node in nodes if name in about[node.id]][:most]:
                for source in sources:
                    weight = 1 / math.log2(1 + len(sources))
                    mention[source, target] = max(weight, mention.get((source, target), 0.0))
    return {pair: weight for pair, weight in by_pair.items() if weight}, mention


def edges_of(edges: Iterable[MemoryEdge]) -> Edges:
    """Return TERM and MENTION edges. Fail if a pair has two TERM edges."""
    kept = list(edges)
    terms = [edge for edge in kept if edge.type is EdgeType.TERM]
    by_pair = {frozenset((edge.source_id, edge.target_id)): edge.weight for edge in terms}
    assert len(by_pair) == len(terms)
    return by_pair, {(e.source_id, e.target_id): e.weight for e in kept if e.type is EdgeType.MENTION}


def assert_right(store: GraphStore, term_texts: int, mentions: int) -> None:
    terms, named = edges_of(store.all_edges())
    expected_terms, expected_named = reference(list(store.all_nodes()), term_texts, mentions)
    assert terms == pytest.approx(expected_terms)
    assert named == pytest.approx(expected_named)


class Bench:
    """A store and its edges, without the rest of ingestion."""

    def __init__(self, term_texts: int = 5, mentions: int = 20) -> None:
        self.limits = term_texts, mentions
        self.store = GraphStore()
        self.store.compute_terms(term_texts)

    def add(self, *pairs: tuple[str, str | None]) -> None:
        nodes = [MemoryNode(f"{title}: {text}", text, title=title or None, created_at=NOW) for text, title in pairs]
        self.change(nodes)

    def change(self, nodes: Sequence[MemoryNode], removed: Sequence[str] = ()) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("neurogated.ingestion.edge_builder.MAX_MENTIONS", self.limits[1])
            changes = text_edges(self.store, nodes, NOW, removed, graphs=UserGraphs(self.store.snapshot()))
        delta = GraphDelta(
            nodes=tuple(nodes),
            edges=tuple(changes.put),
            weights=tuple(changes.reweighted),
            removed_nodes=tuple(removed),
            removed_edges=tuple(changes.removed),
            at=NOW,
        )
        self.store.apply(delta)

    def ids(self) -> list[str]:
        return [node.id for node in self.store.all_nodes()]

    def named(self) -> dict[tuple[str, str], float]:
        return edges_of(self.store.all_edges())[1]

    def shared(self) -> dict[frozenset[str], float]:
        return edges_of(self.store.all_edges())[0]

    def check(self) -> None:
        assert_right(self.store, *self.limits)


WORDS = ["heron", "Lyon", "the", "river", "Big", "Cat", "it", "北京", "，", "长城", "。", "的", "股", "A"]
TITLES = [
    None,
    "Lyon",
    "Big Cat",
    "Big Cat (film)",
    "It",
    "Lyon, France",
    "北京",
    "长城（中国）",  # noqa: RUF001
    "A股",
    "the",
    "Heron",
]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
chinese = st.lists(st.sampled_from(["北京", "的", "长城", "很", "长", "A", "股", "在"]), min_size=1, max_size=6).map(
    "".join
)
collections = st.lists(
    st.tuples(texts | chinese, st.sampled_from(TITLES)), min_size=1, max_size=14, unique_by=lambda pair: pair
)


@contextmanager
def limited(term_texts: int, mentions: int) -> Iterator[None]:
    """Let memories have TERM and MENTION edges to so few texts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neurogated.session.session.MAX_TERM_TEXTS", term_texts)
        patch.setattr("neurogated.ingestion.edge_builder.MAX_MENTIONS", mentions)
        yield


@given(collections, st.integers(1, 4), st.integers(1, 4), st.data())
def test_edges_follow_the_formulas_after_additions_are_undone_and_made_again(
    pairs: list[tuple[str, str | None]], term_texts: int, mentions: int, data: st.DataObject
) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    documents = [Document.from_text(text, title=title) for text, title in pairs if any(map(str.isalnum, text))]
    with limited(term_texts, mentions), NeuroGraphMemory(config) as memory:
        for _ in range(data.draw(st.integers(1, 4), "rounds")):
            chosen = data.draw(st.permutations(documents), "order")[: data.draw(st.integers(0, len(documents)), "many")]
            memory.add_documents(chosen, progress=False)
            assert_right(memory.store, term_texts, mentions)
            if data.draw(st.booleans(), "undo"):
                memory.undo(to=data.draw(st.integers(0, memory.store.view().sequence), "to"))
                assert_right(memory.store, term_texts, mentions)


@given(collections, st.integers(1, 4), st.integers(1, 4), st.data())
def test_edges_follow_the_formulas_after_texts_came_changed_and_went(
    pairs: list[tuple[str, str | None]], term_texts: int, mentions: int, data: st.DataObject
) -> None:
    bench = Bench(term_texts, mentions)
    bench.add(*pairs)
    for _ in range(data.draw(st.integers(1, 4), "steps")):
        ids = data.draw(st.permutations(bench.ids()), "order")
        gone = ids[: data.draw(st.integers(0, len(ids)), "removed")]
        others = ids[len(gone) :]
        rewritten = others[: data.draw(st.integers(0, len(others)), "rewritten")]
        texts_now = [data.draw(st.sampled_from(pairs), "text") for _ in rewritten]
        back = [pair for pair in pairs if f"{pair[1]}: {pair[0]}" in gone and data.draw(st.booleans(), "back")]
        bench.change(
            [
                MemoryNode(node_id, text, title=title or None, created_at=NOW)
                for node_id, (text, title) in zip(rewritten, texts_now, strict=True)
            ],
            gone,
        )
        bench.check()
        if back:
            bench.add(*back)
            bench.check()


def test_edges_whose_weight_stays_are_not_written_again() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", MAX_SIM_NEIGHBORS=0)
    with NeuroGraphMemory(config) as memory:
        memory.add_documents(
            [
                {"title": "Zork", "text": "A cave under a white house."},
                {"title": "Notes", "text": "He played Zork for weeks."},
            ],
            progress=False,
        )
        memory.add_document("Quiet lanes of another village.", title="Elsewhere")
        assert "edges put" not in memory.history.list()[-1].changes
