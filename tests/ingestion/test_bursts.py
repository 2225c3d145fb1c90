"""A list of messages leaves the graph that the same messages leave one by one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.scope import Scope
from neurogated.ingestion.contents import Message
from neurogated.session.compose import build
from neurogated.testing import ManualClock

_TEXTS = (
    "I moved to Lyon with Ana yesterday.",
    "Hello! I moved to Lyon with Ana yesterday.",
    "Because of this I sold the red car.",
    "Ana's dog is named Rex.",
    "Did you see Rex near the river?",
    "Thanks, Ana!",
)
_BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
_MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(_TEXTS)},
        optional={
            "name": st.sampled_from(["Ana", "Ben"]),
            "timestamp": st.integers(0, 3).map(lambda days: _BEGIN + timedelta(days)),
        },
    ),
    min_size=2,
    max_size=9,
)


def _graph(memory: NeuroGraphMemory, user_id: str, calls: Iterable[list[Message]]) -> tuple[object, object]:
    """Return the nodes and edges that calls with messages leave for a new user, with places in place of ids."""
    ids = [memory.add("Rex is a dog.", title="Rex", user_id=user_id)[0]]
    ids += [name for messages in calls for name in memory.add(messages, user_id=user_id, session_id="s")]
    places = {name: place for place, name in enumerate(dict.fromkeys(ids))}
    nodes = [node.changed(id="", scope=Scope()) for node in memory.store.get_nodes(list(places)[1:])]
    edges = {
        (places[edge.source_id], places[edge.target_id], edge.type, round(edge.weight, 9))
        for edge in memory.store.all_edges()
        if edge.source_id in places
    }
    return nodes, edges


def test_a_list_of_messages_leaves_the_graph_of_one_by_one() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    users = count()
    with NeuroGraphMemory(config, parts=build(config, ManualClock(_BEGIN))) as memory:

        @settings(max_examples=20, deadline=None)
        @given(messages=_MESSAGES, size=st.integers(2, 9))
        def check(messages: list[Message], size: int) -> None:
            bursts = [messages[begin : begin + size] for begin in range(0, len(messages), size)]
            together = _graph(memory, f"user {next(users)}", bursts)
            assert together == _graph(memory, f"user {next(users)}", [[one] for one in messages])

        check()
