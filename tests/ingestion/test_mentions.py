"""TERM and MENTION edges against their formulas in plain Python, whatever way the texts came."""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

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
from neurogated.core.keywords import split_keywords
from neurogated.core.rendering import subjects
from neurogated.errors import StorageError
from neurogated.ingestion.mentions import text_edges

NOW = datetime(2026, 1, 1, tzinfo=UTC)
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
Edges = tuple[dict[frozenset[str], float], dict[tuple[str, str], float]]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
chinese = st.lists(st.sampled_from(["北京", "的", "长城", "很", "长", "A", "股", "在"]), min_size=1, max_size=6).map(
    "".join
)
collections = st.lists(
    st.tuples(texts | chinese, st.sampled_from(TITLES)), min_size=1, max_size=14, unique_by=lambda pair: pair
)
limits = st.fixed_dictionaries({"MAX_TERM_TEXTS": st.integers(0, 4), "MAX_MENTIONS": st.integers(0, 4)})


def words_of(text: str) -> list[str]:
    """Return the words of the texts used here: each Han character alone, others in small letters."""
    return re.findall(r"[\u4e00-\u9fff]|[a-z0-9]+", text.lower())


def names(text: str, name: str) -> bool:
    words, wanted = words_of(text), name.split()
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def reference(nodes: Sequence[MemoryNode], term_texts: int, mentions: int) -> Edges:
    """The two formulas over a whole collection, its nodes in the order of the store."""
    title = {node.id: node.title for node in nodes}
    terms = {
        node.id: set(split_keywords(f"{title[node.id] or ''}\n{node.content}"))
        | {" ".join(words_of(name)) for name in node.metadata.get("entities", ()) if len(words_of(name)) > 1}
        for node in nodes
    }
    holders = {t: [n.id for n in nodes if t in terms[n.id]] for held in terms.values() for t in held}
    rare = {term: len(ids) for term, ids in holders.items() if len(ids) <= term_texts}
    by_pair = {
        frozenset((a.id, b.id)): min(1.0, math.fsum(1 / rare[t] for t in terms[a.id] & terms[b.id] & rare.keys()))
        for a, b in combinations(nodes, 2)
    }
    about = {node.id: subjects(node.title) for node in nodes}
    mention: dict[tuple[str, str], float] = {}
    for name in {name for own in about.values() for name in own}:
        sources = [node.id for node in nodes if names(node.content, name) and name not in about[node.id]]
        if len(sources) <= mentions:
            for target in [node.id for node in nodes if name in about[node.id]][:mentions]:
                for source in sources:
                    weight = 1 / math.log2(1 + len(sources))
                    mention[source, target] = max(weight, mention.get((source, target), 0.0))
    return {pair: weight for pair, weight in by_pair.items() if weight}, mention


def edges_of(edges: Iterable[MemoryEdge]) -> Edges:
    """Return TERM and MENTION edges; two TERM edges of one pair would be one too many."""
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
        self.limits = {"MAX_TERM_TEXTS": term_texts, "MAX_MENTIONS": mentions}
        self.config = MemoryConfig(**self.limits)  # type: ignore[arg-type]
        self.store = GraphStore()

    def add(self, *pairs: tuple[str, str | None]) -> None:
        nodes = [MemoryNode(f"{title}: {text}", text, title=title, created_at=NOW) for text, title in pairs]
        self.change(nodes)

    def change(self, nodes: Sequence[MemoryNode], removed: Sequence[str] = ()) -> None:
        changes = text_edges(self.store, self.config, nodes, NOW, removed)
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
        assert_right(self.store, self.limits["MAX_TERM_TEXTS"], self.limits["MAX_MENTIONS"])


@given(collections, st.lists(st.integers(1, 5)), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=200)
def test_edges_follow_the_formulas_after_every_batch(
    pairs: list[tuple[str, str | None]], sizes: list[int], term_texts: int, mentions: int
) -> None:
    bench, waiting = Bench(term_texts, mentions), list(pairs)
    for size in [*sizes, len(pairs)]:
        batch, waiting = waiting[:size], waiting[size:]
        if batch:
            bench.add(*batch)
            bench.check()


@given(collections, st.randoms(use_true_random=False))
def test_the_order_of_texts_makes_no_difference(pairs: list[tuple[str, str | None]], random: object) -> None:
    first, second = Bench(3, 20), Bench(3, 20)
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for pair in pairs:
        first.add(pair)
    second.add(*shuffled)
    assert first.named() == second.named()
    assert first.shared() == pytest.approx(second.shared())


@given(collections, limits, st.data())
@settings(max_examples=60)
def test_edges_follow_the_formulas_after_additions_are_undone_and_made_again(
    pairs: list[tuple[str, str | None]], bounds: dict[str, int], data: st.DataObject
) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", INDEX_BATCH=3, **bounds)  # type: ignore[arg-type]
    documents = [Document.from_text(text, title=title) for text, title in pairs if any(map(str.isalnum, text))]
    with NeuroGraphMemory(config) as memory:
        for _ in range(data.draw(st.integers(1, 4), "rounds")):
            chosen = data.draw(st.permutations(documents), "order")[: data.draw(st.integers(0, len(documents)), "many")]
            memory.add_documents(chosen, progress=False)
            assert_right(memory.store, bounds["MAX_TERM_TEXTS"], bounds["MAX_MENTIONS"])  # type: ignore[arg-type]
            if data.draw(st.booleans(), "undo"):
                memory.undo(to=data.draw(st.integers(0, memory.store.view().sequence), "to"))
                assert_right(memory.store, bounds["MAX_TERM_TEXTS"], bounds["MAX_MENTIONS"])  # type: ignore[arg-type]


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_memory_on_disk_keeps_the_edges_right_over_closing_and_undo(tmp_path: Path, batch: int) -> None:
    config = MemoryConfig(
        save_dir=str(tmp_path), embedding_name="hash", MAX_TERM_TEXTS=3, MAX_MENTIONS=2, INDEX_BATCH=batch
    )
    documents = [
        Document.from_text(f"{first} met {second} at the {third} house.", title=first)
        for first, second, third in combinations(["Ann", "Bo Li", "北京", "Cy (singer)", "It", "Dee, Lady"], 3)
    ]
    for begin, end in [(7, 12), (0, 5), (3, 20)]:
        with NeuroGraphMemory(config) as memory:
            memory.add_documents(documents[begin:end], progress=False)
            memory.undo()
            memory.add_documents(reversed(documents[begin:end]), progress=False)
            assert isinstance(memory.store, GraphStore)
            assert_right(memory.store, 3, 2)
    with NeuroGraphMemory(config) as memory:
        assert isinstance(memory.store, GraphStore)
        assert list(memory.store.all_edges())
        assert_right(memory.store, 3, 2)


@given(collections, st.integers(0, 4), st.integers(0, 4), st.data())
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
                MemoryNode(node_id, text, title=title, created_at=NOW)
                for node_id, (text, title) in zip(rewritten, texts_now, strict=True)
            ],
            gone,
        )
        bench.check()
        if back:
            bench.add(*back)
            bench.check()


def test_a_common_word_and_name_become_rare_again_when_texts_go() -> None:
    bench = Bench(term_texts=2, mentions=2)
    bench.add(("Words.", "Lyon"), *((f"Lyon and heron {n}.", None) for n in range(4)))
    assert (bench.named(), bench.shared()) == ({}, {})
    bench.change([], bench.ids()[1:3])
    assert list(bench.shared().values()) == [0.5]
    assert set(bench.named().values()) == {1 / math.log2(3)}
    bench.check()


def test_a_text_leads_to_the_one_whose_title_it_names() -> None:
    bench = Bench()
    bench.add(("She lives in New York City.", None), ("A city of rivers.", "New York City"))
    assert bench.named() == {("None: She lives in New York City.", "New York City: A city of rivers."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We read Dune together.", "Dune (novel)"),
        ("We read Dune together.", "DUNE"),
        ("He was born in Paris.", "Paris, Texas"),
        ("He sang in Zürich.", "Zurich"),
        ("我们读了《红楼梦》。", "红楼梦"),
        ("我们去了北京。", "北京（城市）"),  # noqa: RUF001
        ("苏州在江苏省。", "苏州，江苏"),
        ("中国A股市场很大。", "A股"),
        ("我的家很大。", "家"),
    ],
)
def test_a_name_is_found_without_its_qualifier_whichever_came_first(
    text: str, title: str, *, title_first: bool
) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {(f"None: {text}", f"{title}: Words."): 1.0}


@pytest.mark.parametrize("title", ["It", "The", "What is it", "什么", "为什么", "!?", "a b c d e f g h i"])
def test_titles_that_name_nothing_are_never_mentioned(title: str) -> None:
    bench = Bench()
    bench.add((f"{title} is it, what? the 什么 为什么 a b c d e f g h i", None), ("Words.", title))
    assert bench.named() == {}


def test_a_text_does_not_mention_what_it_is_about() -> None:
    bench = Bench()
    bench.add(("Lyon has two rivers.", "Lyon"), ("Lyon has trains.", "Lyon"))
    assert bench.named() == {}


@pytest.mark.parametrize("one_batch", [True, False])
def test_a_name_in_more_texts_than_the_limit_loses_its_edges(*, one_batch: bool) -> None:
    bench = Bench(mentions=2)
    bench.add(("Words.", "Lyon"), ("To Lyon.", None))
    bench.add(("From Lyon.", None))
    assert set(bench.named().values()) == {1 / math.log2(3)}
    more: list[tuple[str, str | None]] = [("Lyon again.", None), ("Lyon for ever.", None)]
    for batch in [more] if one_batch else [[pair] for pair in more]:
        bench.add(*batch)
    assert bench.named() == {}


def test_a_word_that_becomes_common_joins_texts_no_more() -> None:
    bench = Bench(term_texts=2)
    bench.add(("A heron.", None), ("The heron!", None))
    assert list(bench.shared().values()) == [0.5]
    bench.add(("Heron, heron.", None))
    assert bench.shared() == {}


def test_shared_words_add_up_to_one_at_most() -> None:
    bench = Bench()
    bench.add(("blue heron river stone", None), ("stone heron blue", None), ("river", None))
    assert sorted(bench.shared().values()) == [0.5, 1.0]
    bench.check()


def test_limits_of_zero_make_no_edges() -> None:
    bench = Bench(0, 0)
    bench.add(("A heron in Lyon.", None), ("The heron.", "Lyon"))
    assert bench.named() == {}
    assert bench.shared() == {}


def test_many_texts_that_hold_a_name_apart_do_not_hide_the_one_that_names_it() -> None:
    bench = Bench(mentions=1)
    bench.add(
        *((f"Cat {n}, cat, so big a big cat {n} big.", None) for n in range(20)), ("Once a Big House Cat ran.", None)
    )
    bench.add(("We saw Grand Big House, far from every cat we know and every other thing.", None))
    bench.add(("Words.", "Big House"))
    bench.check()
    bench.add(("Words of cats.", "Big House Cat"))
    assert bench.named()[("None: Once a Big House Cat ran.", "Big House Cat: Words of cats.")] == 1.0


def test_a_write_that_failed_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", MAX_TERM_TEXTS=2)
    with NeuroGraphMemory(config) as memory:
        memory.add_document("A heron.")
        with monkeypatch.context() as patch:

            def full(delta: GraphDelta) -> int:
                raise StorageError(f"no room for {delta.reason}")

            patch.setattr(memory.store, "apply", full)
            with pytest.raises(StorageError):
                memory.add_document("The heron flies.")
        memory.add_document("Heron and stone.")
        assert isinstance(memory.store, GraphStore)
        assert_right(memory.store, 2, 20)


def test_nodes_that_were_removed_count_no_more() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", MAX_TERM_TEXTS=2)
    with NeuroGraphMemory(config) as memory:
        memory.add_document("A heron.")
        (lost,) = memory.add_document("The heron flies.")
        assert isinstance(memory.store, GraphStore)
        memory.store.remove_node(lost)
        memory.add_document("Heron and stone.")
        assert_right(memory.store, 2, 20)


def test_two_memories_over_one_namespace_know_each_others_texts() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash", MAX_TERM_TEXTS=3)
    with NeuroGraphMemory(config) as root:
        first, second = root.in_namespace("one"), root.in_namespace("one")
        for number, memory in enumerate([first, second, first, second]):
            memory.add_document(f"The heron and stone {number}.", title=f"Stone {number - 1}")
            assert_right(memory.store, 3, 20)  # type: ignore[arg-type]
        assert edges_of(root.store.all_edges()) == ({}, {})


def test_a_document_again_changes_nothing() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        for _ in range(2):
            memory.add_documents(
                [{"text": "A heron in Lyon."}, {"text": "The heron.", "title": "Lyon"}], progress=False
            )
        assert memory.store.view().sequence == 1
        assert [edge.type for edge in memory.store.all_edges()].count(EdgeType.MENTION) == 1


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
        assert "edges put" not in memory.history()[-1].changes
