"""TERM and MENTION edges match their formulas in plain Python, in any order of arrival."""

from collections.abc import Iterator
from contextlib import contextmanager

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import Document, MemoryConfig, MemoryNode, NeuroGraphMemory
from tests.ingestion.text_edges import NOW, Bench, assert_right

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
