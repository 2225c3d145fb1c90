"""Adding a memory again under the caller's own id replaces it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import ANY_USER, EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory, Scope
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import InputError
from neurogated.integrations.conversation import Conversation
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.runtime import Parts
from tests.sessions import LONG, message_of, order_of

OTHER = "A heron stood by the mill. The mill was closed on Sunday."


def _by_words(memory: NeuroGraphMemory) -> dict[object, float]:
    """Return the weights of the edges that depend on texts alone. TERM edges have no direction."""
    found: dict[object, float] = {}
    for edge in memory.store.all_edges():
        if edge.type is EdgeType.TERM:
            found[edge.type, frozenset((edge.source_id, edge.target_id))] = edge.weight
        elif edge.type is EdgeType.MENTION:
            found[edge.type, edge.source_id, edge.target_id] = edge.weight
    return found


def test_an_id_given_again_replaces_text_and_metadata(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert memory.add("The pump broke on Monday.", id="pump", metadata={"a": 1}, title="Pump") == ["pump"]
        (other,) = memory.add("A heron stood by the mill.")
        memory.feedback(["pump", other])
        born, known = memory.store.get_node("pump").created_at, memory.history.list()[-1].sequence
        assert memory.add("A mill drives the pump.", id="pump", metadata={"b": 2}) == ["pump"]
        node = memory.store.get_node("pump")
        assert (node.content, node.title, node.metadata, node.created_at) == (
            "A mill drives the pump.",
            "Pump",
            {"b": 2},
            born,
        )
        assert memory.history.list()[-1].reason == "add"
        assert memory.retrieve("pump?", top_n=1, as_of=known) == ["The pump broke on Monday."]
        assert memory.store.as_of(known).get_node("pump").found.times == ("on Monday",)
        assert "The pump broke on Monday." not in memory.retrieve("Monday pump", top_n=5)
        # Learned edges stay. Edges that depend on texts match the new texts.
        assert any(edge.type is EdgeType.ASSOC for edge in memory.store.all_edges())
        with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as fresh:
            fresh.add("A mill drives the pump.", id="pump", metadata={"b": 2}, title="Pump")
            fresh.add("A heron stood by the mill.")
            assert _by_words(memory) == pytest.approx(_by_words(fresh))


@pytest.mark.parametrize("owner", ["ana", None])
@pytest.mark.parametrize("thief", ["bob", None])
def test_an_id_of_another_user_is_refused(small: NeuroGraphMemory, owner: str | None, thief: str | None) -> None:
    if owner == thief:
        thief = "eve"
    small.add(LONG, id="note", user_id=owner)
    before = small.store.view().sequence
    for text in ("Mine now.", LONG):
        for content in (message_of(text, id="note"), [message_of(text, id="note"), message_of(text, id="note")]):
            with pytest.raises(InputError):
                small.add(content, user_id=thief)
    assert small.store.view().sequence == before
    # In a list, it costs no other message.
    reserved = message_of("Mine, too.", id=f"chunk-{'0' * 32}")
    added = small.add(["Before.", message_of("Mine now.", id="note"), reserved, "After."], user_id=thief)
    assert [small.get(name).content for name in added] == ["Before.", "After."]
    assert added.refused == 2
    (note,) = added.notes
    assert "content 2" in note and "'note'" in note and "content 3" in note  # noqa: PT018 - of one sentence
    small.delete(added)
    small.delete(["note"])
    # The id of a deleted memory is its user's until a compaction.
    added = small.add(["Before.", message_of("Mine now.", id="note"), "After."], user_id=thief)
    assert (len(added), added.refused) == (2, 1)
    small.delete(added)
    small.admin.compact()
    assert small.count(user_id=ANY_USER) == 0
    small.add("Mine now.", id="note", user_id=thief)
    assert small.get("note").scope.user_id == thief


# An id names all chunks of its text


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize(
    ("first", "second"), [(LONG, "It rained."), ("It rained.", LONG), (LONG, OTHER), (OTHER, LONG)]
)
def test_a_text_is_replaced_in_one_change(
    small: NeuroGraphMemory, first: str, second: str, session: str | None
) -> None:
    small.add(["Before.", message_of(first, id="note"), "After."], session_id=session)
    before = {node.id: node.content for node in small.list()}
    edges = sorted(map(repr, small.store.all_edges()))
    sequence = small.store.view().sequence
    small.add(second, id="note", session_id=session)
    assert small.store.view().sequence == sequence + 1
    if session:
        assert order_of(small) == ["Before.", *(f"{one.strip('.')}." for one in second.split(". ")), "After."]
    assert " ".join(node.content for node in small.list() if node.id.startswith("note")) == second
    assert small.admin.check() == []
    small.undo()
    assert {node.id: node.content for node in small.list()} == before
    assert sorted(map(repr, small.store.all_edges())) == edges


@pytest.mark.parametrize("session", [None, "s"])
def test_an_id_updates_its_whole_text(small: NeuroGraphMemory, session: str | None) -> None:
    small.add(["Before.", message_of(LONG, id="note"), "After."], session_id=session)
    sequence = small.store.view().sequence
    small.update("note", title="Report", metadata={"a": 1}, tags=["red"])
    chunks = [node for node in small.list() if node.id.startswith("note")]
    assert [(node.title, node.metadata, node.tags) for node in chunks] == [("Report", {"a": 1}, ("red",))] * 3
    assert " ".join(node.content for node in chunks) == LONG
    assert small.update("note", OTHER).content == OTHER
    assert [node.content for node in small.list()] == ["Before.", OTHER, "After."]
    assert small.store.view().sequence == sequence + 2
    assert small.admin.check() == []
    if session:
        assert order_of(small) == ["Before.", OTHER, "After."]
    # Adding it again cuts it into chunks.
    small.add(OTHER, id="note", session_id=session)
    assert [node.id for node in small.list() if node.id.startswith("note")] == ["note", "note#1"]


# The ids of texts without one


def test_nobody_takes_or_learns_the_id_of_the_text_of_another_user(memory: NeuroGraphMemory) -> None:
    (known,) = memory.add("The code is 4711.", user_id="ana")
    with NeuroGraphMemory(memory.config.replace(storage="memory")) as other:
        (coming,) = other.add("The code is 4712.", user_id="ana")
    refusals = set()
    for taken in (known, coming):
        with pytest.raises(InputError) as caught:
            memory.add("Mine.", id=taken, user_id="bob")
        refusals.add(str(caught.value).replace(taken, "…"))
    assert len(refusals) == 1
    # A store may hold such a memory all the same.
    memory.store.apply(GraphDelta(nodes=(MemoryNode(coming, "Mine.", scope=Scope("bob")),)))
    for _ in range(2):
        (own,) = memory.add("The code is 4712.", user_id="ana")
        assert own != coming
        assert [node.content for node in memory.list(user_id="ana")] == ["The code is 4711.", "The code is 4712."]
        assert memory.get(coming).content == "Mine."
    memory.delete(coming)
    assert memory.add("The code is 4712.", user_id="ana") == [own]
    # The owner may write to her own memories by their ids.
    assert memory.add("The code is 4713.", id=known, user_id="ana") == [known]


# Refusals


class Meanwhile(HashEmbedder):
    """Does something once while it embeds, when no lock is held."""

    def __init__(self) -> None:
        self.act: Callable[[], object] | None = None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        act, self.act = self.act, None
        if act is not None:
            act()
        return super().embed_documents(texts)


def said(text: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"role": "user", "content": text, **more}


def test_a_text_that_is_not_to_replace_leaves_one_that_is_added_at_the_same_time() -> None:
    embedder, long = Meanwhile(), "A heron stands in the reeds and waits. " * 60
    parts = Parts(GraphStore(), embedder, UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        embedder.act = lambda: memory.add([said("First.", id="a"), said(long, id="b")], user_id="ana")
        later = [said("Second.", id="a"), said("Short.", id="b"), said("New.", id="c")]
        added = memory.add(later, replace=False, user_id="ana")
        texts = {one.id: one.content for one in memory.list(user_id="ana")}
        assert set(added) == set(texts)
        assert texts.pop("a") == "First."
        assert texts.pop("c") == "New."
        assert " ".join(texts.values()).count("heron") >= 60
        before = memory.store.view().sequence
        assert memory.add(later, replace=False, user_id="ana").notes == ()
        assert memory.store.view().sequence == before
        with pytest.raises(InputError, match="not free"):
            memory.add("Mine.", id="a", replace=False, user_id="bo")


def test_messages_of_frameworks_are_stored_once_by_whoever_comes_first() -> None:
    embedder = Meanwhile()
    parts = Parts(GraphStore(), embedder, UniformKernelSource())
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        conversation = Conversation(memory, None, user_id="ana")

        def add_and_correct() -> None:
            conversation.add_new(["m"], [said("Old.")])
            memory.update(conversation.message_ids(["m"])[0], "Corrected.")

        embedder.act = add_and_correct
        conversation.add_new(["m"], [said("Old.")])
        assert [one.content for one in memory.list(user_id="ana")] == ["Corrected."]


def test_what_replaces_nothing_returns_every_chunk_of_a_new_text(small: NeuroGraphMemory) -> None:
    text = (
        "The pump failed at dawn in the mill. The lower field is under water since then. Ana ordered a valve from Lyon."
    )
    assert len(small.add(text, replace=False, user_id="ana")) == small.count(user_id="ana") > 1
