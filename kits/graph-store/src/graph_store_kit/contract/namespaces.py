"""The contract of namespaces: many isolated graphs in one store, with any names."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Protocol, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given

from graph_store_kit.contract.base import ContractBase, NewStore, apply, assert_tells
from graph_store_kit.contract.reading import assert_searches_agree, keyword_scores
from graph_store_kit.contract.writing import PROPERTY
from graph_store_kit.histories import node, random_delta
from graph_store_kit.model import GraphModel
from graph_store_kit.reads import get_node, has_node, keyword_search, nearest
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.delta import PendingTask
from neurogated.core.ports import GraphStorePort
from neurogated.errors import EmbedderMismatchError, InputError, MemoryClosedError, UnknownIdError
from neurogated.testing import ManualClock

ADVERSARIAL = (
    "",
    " ",
    ".",
    "../../x",
    "/etc/passwd",
    "C:\\x",
    "'; DROP TABLE nodes; --",
    '"',
    "%",
    "a",
    "A",
    "a ",
    "a\0b",
    "a\nb",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
    "\U0001f600",
    "名",
    "\u202e",
    "None",
    "0",
    "x" * 5000,
    "x" * 4999,
)
"""Names that a careless store confuses with paths, statements, numbers or each other."""


class NamespacesStore(GraphStorePort, SupportsNamespaces, Protocol):
    """A store that holds several graphs."""


class NamespacesContract(ContractBase):
    """Several graphs in one store."""

    def spaces(self, store: GraphStorePort) -> NamespacesStore:
        """Return the store if it supports namespaces; otherwise skip the test."""
        return cast(NamespacesStore, self.able(store, SupportsNamespaces))

    def test_any_name_is_a_graph_of_its_own(self, store: GraphStorePort, clock: ManualClock) -> None:
        spaces = self.spaces(store)
        own = spaces.namespaces()
        for name in ADVERSARIAL:
            space = spaces.in_namespace(name)
            assert list(space.all_nodes()) == []
            apply(space, clock, nodes=(node("shared", content=f"heron {name}"),))
        assert spaces.namespaces() == own + [name for name in ADVERSARIAL if name not in own]
        for name in ADVERSARIAL:
            space = spaces.in_namespace(name)
            assert get_node(space, "shared").content == f"heron {name}"
            assert [one for one, _ in nearest(space, [1.0, 0.0], 9)] == ["shared"]
            assert len(keyword_search(space, "heron", 9)) == len(list(space.journal())) == len(space.history()) == 1
        assert list(store.all_nodes()) == []

    def test_a_graph_is_asked_for_by_its_name_again_and_again(self, store: GraphStorePort, clock: ManualClock) -> None:
        spaces = self.spaces(store)
        apply(spaces.in_namespace("other"), clock, nodes=(node("b"),))
        own, other = spaces.namespaces()
        assert other == "other"
        assert has_node(spaces.in_namespace("other"), "b")
        sibling = self.spaces(spaces.in_namespace("other"))
        assert sibling.namespaces() == [own, "other"]
        apply(sibling.in_namespace(own), clock, nodes=(node("a"),))
        assert has_node(store, "a")
        assert not has_node(store, "b")

    @given(random=st.randoms(use_true_random=False), steps=st.integers(1, 14))
    @PROPERTY
    def test_nothing_crosses_from_graph_to_graph(
        self, new_store: NewStore, clock: ManualClock, random: Random, steps: int
    ) -> None:
        store = self.spaces(new_store())
        names = random.sample(ADVERSARIAL, 3)
        graphs = {name: (store.in_namespace(name), GraphModel()) for name in names}
        graphs |= {store.namespaces()[0]: (store, GraphModel())}
        moments = []
        for _ in range(steps):
            clock.advance(timedelta(hours=7))
            name = random.choice(list(graphs))
            space, model = graphs[name]
            delta = random_delta(random, model, clock())
            model.apply(delta)
            moments.append((space, space.apply(delta), model.copy()))
            for one, expected in graphs.values():
                assert_tells(one, expected)
                assert one.pending() == list(expected.waiting)
                assert_searches_agree(one, [1.0, 0.5])
                assert keyword_scores(one, "heron").keys() <= expected.nodes.keys()
        for space, number, then in moments:
            assert_tells(space.as_of(number), then, past=True)

    def test_words_count_by_the_texts_of_their_own_graph(
        self, store: GraphStorePort, new_store: NewStore, clock: ManualClock
    ) -> None:
        spaces, alone = self.spaces(store), new_store()
        texts = tuple(node(name, content=text) for name, text in (("a", "grey heron"), ("b", "grey stone")))
        apply(spaces.in_namespace("other"), clock, nodes=tuple(node(f"{n}", content="heron") for n in range(9)))
        for one in (store, alone):
            apply(one, clock, nodes=texts)
        assert keyword_scores(store, "grey heron") == pytest.approx(keyword_scores(alone, "grey heron"))

    def test_one_embedder_serves_all(self, store: GraphStorePort) -> None:
        other = self.spaces(store).in_namespace("other")
        other.bind_embedder("one", 2)
        with pytest.raises(EmbedderMismatchError, match="'one'"):
            store.bind_embedder("two", 2)

    @pytest.mark.parametrize("name", ["other", "'; DROP TABLE nodes; --", "../../x", ""])
    def test_a_dropped_graph_is_gone_with_its_past_and_leaves_the_others(
        self, store: GraphStorePort, clock: ManualClock, name: str
    ) -> None:
        spaces = self.spaces(store)
        own = spaces.namespaces()
        dropped, kept = spaces.in_namespace(name), spaces.in_namespace("kept")
        for space in (store, dropped, kept):
            apply(space, clock, nodes=(node("a"),), queued=(PendingTask("cause", ("a",)),))
        spaces.drop_namespace(name)
        assert spaces.namespaces() == [*own, "kept"]
        with pytest.raises(MemoryClosedError):
            dropped.view()
        for space in (store, kept):
            assert [one.id for one in space.all_nodes()] == ["a"]
            assert len(space.pending()) == len(space.history()) == 1
        reopened = spaces.in_namespace(name)
        assert not any((list(reopened.all_nodes()), reopened.history(), reopened.pending(), list(reopened.journal())))
        assert nearest(reopened, [1.0, 0.0], 9) == keyword_search(reopened, "text", 9) == []
        apply(reopened, clock, nodes=(node("b"),))
        assert [one.id for one in reopened.all_nodes()] == ["b"]

    def test_an_unknown_graph_and_the_own_one_are_not_dropped(self, store: GraphStorePort, clock: ManualClock) -> None:
        spaces = self.spaces(store)
        apply(store, clock, nodes=(node("a"),))
        with pytest.raises(UnknownIdError, match="nowhere"):
            spaces.drop_namespace("nowhere")
        with pytest.raises(InputError):
            spaces.drop_namespace(spaces.namespaces()[0])
        assert has_node(store, "a")
        assert "nowhere" not in spaces.namespaces()
