"""The content of a page, and its protection against markup in texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from neurogated import EdgeType, MemoryNode, Recall
from neurogated.viewer import render_recall

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


def test_question_kernel_notes_scores_parts_metadata_and_paths_are_told(
    recall: Recall, nodes: Nodes, read: Read
) -> None:
    text = read(render_recall(recall, nodes)).all_text
    for words in (
        "Why?",
        "a why question",
        "a note",
        "1.95",
        "1.20",
        "5 memories · 2 anchors · 4 flows · gated activation",
    ):
        assert words in text
    for name in ("first", "second", "third", "alone", "passed", "anchor1", "anchor2"):
        assert f"what {name} says" in text
    assert "speaker Edda" in text
    assert "date 8 May" in text
    assert "recency \N{MINUS SIGN}0.500" in text
    assert "0.900 = similarity 0.800 + activation 0.250 \N{MINUS SIGN} held back 0.150" in text
    assert "Activation 0.250 = 1 flow 0.250 SEQ from Title of anchor2" in text
    assert "Activation that reached it 0.200 = 1 flow 0.200 SIM ↩ from Title of anchor2" in text
    assert "strongest path : 2 Title of anchor1 → CAUSE → 1 Title of first → SEQ → this" in text
    assert "matched directly" in text


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
