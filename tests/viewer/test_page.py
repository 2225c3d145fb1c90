"""The content of a page, and its protection against markup in texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from neurogated import EdgeType, Kernel, MemoryNode, Recall
from neurogated.core.trace import PathStep, RecalledMemory
from neurogated.errors import InputError
from neurogated.viewer import render_recall, write_page
from neurogated.viewer.layout import subgraph_of

if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader

    Read = Callable[[str], PageReader]
    Node = Callable[[str], MemoryNode]

Nodes = dict[str, MemoryNode]


def test_every_memory_anchor_arc_and_type_is_in_the_picture(recall: Recall, nodes: Nodes, read: Read) -> None:
    page = read(render_recall(recall, nodes))
    boxes = [box for box in page.tags("button") if box.get("class", "").startswith("box")]
    assert sorted(box["id"] for box in boxes) == ["from0", "from1", "from5", "from6", "to0", "to1", "to2", "to3", "to4"]
    assert sum("passed" in box["class"] for box in boxes) == 2
    assert {box["id"] for box in boxes if "anchor" in box["class"]} >= {"from1", "from5"}
    assert sorted(arc["data-type"] for arc in page.having("data-arc")) == ["CAUSE", "SEQ", "SEQ", "SEQ", "SIM"]
    assert {row["data-legend"] for row in page.having("data-legend")} == {"CAUSE", "SEQ", "SIM"}
    assert {row["data-type"] for row in page.tags("tr") if "data-type" in row} >= {kind.name for kind in EdgeType}


def test_no_text_breaks_out_of_the_page(hostile: tuple[Recall, Nodes], read: Read) -> None:
    page = render_recall(*hostile)
    seen = read(page)
    assert not seen.tags("img")
    assert len(seen.tags("script")) == 1
    assert not [name for _, attributes in seen.elements for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in seen.all_text
    assert "שלום 🕯️" in seen.all_text
    assert "\x00" not in page


def test_the_page_asks_for_nothing_outside_itself(recall: Recall, nodes: Nodes, read: Read) -> None:
    source = render_recall(recall, nodes)
    page = read(source)
    assert not page.having("src")
    assert {link["href"] for link in page.tags("link")} == {"data:,"}
    assert not re.search(r"https?:|url\(|@import", source)
    (policy,) = [meta["content"] for meta in page.tags("meta") if "Content-Security" in meta.get("http-equiv", "")]
    assert "default-src 'none'" in policy


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError):
        write_page("new", file)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["", "missing/page.html", "file/page.html", "n" * 300])
def test_a_path_that_cannot_be_written_is_an_error_with_the_remedy(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError):
        write_page("page", tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader

WORDS = st.text(max_size=30)
NAMES = st.sampled_from([f"id {letter}" for letter in "abcdefghij"])
SHARES = st.floats(0, 1)
NUMBERS = st.floats()
STEPS = st.builds(PathStep, NAMES, NAMES, st.sampled_from(list(EdgeType)), st.booleans(), SHARES, st.floats(0, 9))
NODES = st.builds(
    MemoryNode,
    NAMES,
    st.text(max_size=900).filter(lambda text: text.isprintable() or text.encode("utf-8", "ignore").decode() == text),
    metadata=st.dictionaries(
        WORDS, st.one_of(WORDS, st.none(), st.integers(), st.lists(WORDS, max_size=2)), max_size=3
    ),
)
MEMORIES = st.builds(
    RecalledMemory,
    NODES,
    NUMBERS,
    st.dictionaries(st.one_of(WORDS, st.just("activation")), NUMBERS, max_size=4),
    st.lists(STEPS, max_size=3).map(tuple),
    st.lists(STEPS, max_size=6).map(tuple),
    st.dictionaries(st.one_of(WORDS, st.sampled_from(["similarity", "activation", "held_back"])), NUMBERS, max_size=4),
)
RECALLS = st.builds(
    Recall,
    WORDS,
    st.lists(MEMORIES, max_size=8, unique_by=lambda memory: memory.id).map(tuple),
    st.builds(Kernel, st.dictionaries(st.sampled_from(list(EdgeType)), st.floats(0, 2)), WORDS),
    st.lists(st.tuples(NAMES, st.floats(-1, 1)), max_size=5).map(tuple),
    st.sampled_from(["gated", "classic"]),
    notes=st.lists(WORDS, max_size=2).map(tuple),
    relays=st.dictionaries(NAMES, st.lists(STEPS, max_size=3).map(tuple), max_size=3),
)
ONCE_READ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@ONCE_READ
@given(recall=RECALLS)
def test_any_recall_gives_a_page_that_is_well_formed(recall: Recall, read: Callable[[str], PageReader]) -> None:
    page = read(render_recall(recall, {}))
    drawn = subgraph_of(recall)
    assert len(page.having("data-arc")) == len(drawn.arcs)
    assert len(page.having("data-item")) == len(drawn.vertices)
    ids = {vertex.id for vertex in drawn.vertices}
    assert ids >= {*recall.ids, *dict(recall.anchors)}
    assert {vertex.id for vertex in drawn.senders} >= set(dict(recall.anchors))
    assert len(drawn.arcs) == sum(map(len, [*(memory.flows for memory in recall), *recall.relays.values()]))
    assert len(page.having("data-flow")) == len(drawn.arcs)
    ids_of_elements = [element["id"] for element in page.having("id")]
    assert len(ids_of_elements) == len(set(ids_of_elements))
    named = {name for element in page.having("data-lit") for name in element["data-lit"].split()}
    named |= {element["data-of"] for element in page.having("data-of")} - {""}
    assert named <= set(ids_of_elements)
