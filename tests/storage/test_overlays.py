"""An index laid over another answers like one index with the same entries."""

from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryNode
from neurogated.core.rendering import subject_tag
from neurogated.core.view import GraphView
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.sqlite_store import SqliteStore

NAMES = [f"n{place}" for place in range(9)]


Ask = Callable[[GraphStore, GraphView], list[str]]


@pytest.mark.parametrize(
    "ask",
    [
        lambda past, view: [str(x) for x in past.similarities([1.0, 4.0], view, view.rows(NAMES)).tolist()],
        lambda past, view: [name for name in NAMES if past.keyword_scores(name, view, view.rows([name]))[0] > 0],
        lambda past, view: [
            name for name in NAMES if past.has_tags([subject_tag(name)], view, view.rows([name])).any()
        ],
        lambda past, view: [name for name, _ in past.nearest([0.0, 1.0], 3, view)],
        lambda past, view: [name for name, _ in past.keyword_search("flood", 9, view)],
        lambda past, view: sorted(past.existing_tags([subject_tag(name) for name in NAMES], view)),
    ],
)
def test_a_question_about_the_past_is_answered_alike_when_a_compaction_comes_between_its_steps(
    tmp_path: Path, ask: Ask
) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        store.add_node(MemoryNode(id="gone", content="gone", embedding=[1.0, 1.0]))
        for place, name in enumerate(NAMES):
            store.add_node(MemoryNode(name, f"flood {name}", embedding=[1.0, place], title=name))
        past = store.as_of(store.view().sequence)
        store.remove_node("gone")
        view = past.view()
        before = ask(past, view)
        store.compact()
        # The rows are renumbered, and this call is the first to notice.
        assert ask(past, view) == before
        assert before
