"""The content of a page, and its protection against markup in texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from neurogated import EdgeType, Kernel, MemoryNode, Recall
from neurogated.core.trace import RecalledMemory
from neurogated.viewer import render_recall

if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader

    Read = Callable[[str], PageReader]

Nodes = dict[str, MemoryNode]


def test_every_memory_anchor_arc_and_type_is_in_the_picture(recall: Recall, nodes: Nodes, read: Read) -> None:
    page = read(render_recall(recall, nodes))
    boxes = [box for box in page.tags("button") if box.get("class", "").startswith("box")]
    assert len(boxes) == 7
    assert sum("passed" in box["class"] for box in boxes) == 2
    assert sum("anchor" in box["class"] for box in boxes) == 2
    assert len(page.having("data-arc")) == 4
    assert sorted(arc["data-type"] for arc in page.having("data-arc")) == ["CAUSE", "SEQ", "SEQ", "SIM"]
    assert {row["data-legend"] for row in page.having("data-legend")} == {"CAUSE", "SEQ", "SIM"}
    assert {row["data-type"] for row in page.tags("tr") if "data-type" in row} >= {kind.name for kind in EdgeType}


def test_question_kernel_notes_scores_parts_metadata_and_paths_are_told(
    recall: Recall, nodes: Nodes, read: Read
) -> None:
    text = read(render_recall(recall, nodes)).all_text
    for words in ("Why?", "a why question", "a note", "1.95", "1.20", "5 memories · 2 anchors · gated activation"):
        assert words in text
    for name in ("first", "second", "third", "alone", "passed", "anchor1", "anchor2"):
        assert f"what {name} says" in text
    assert "speaker Edda" in text
    assert "date 8 May" in text
    assert "recency \N{MINUS SIGN}0.500" in text
    assert "anchor 2 Title of anchor1 0.800 → CAUSE 0.80 energy 0.300 → 1 Title of first → SEQ 0.80 energy" in text
    assert "anchor Title of anchor2 0.700 → SIM 0.80 ↩ energy 0.200 → Title of passed → SEQ 0.80" in text
    assert "matched directly" in text


def test_each_memory_names_the_boxes_and_arcs_of_its_own_path(recall: Recall, nodes: Nodes, read: Read) -> None:
    page = read(render_recall(recall, nodes))
    trails = {item["data-item"]: (item["data-nodes"], item["data-arcs"]) for item in page.having("data-item")}
    assert trails["0"] == ("0 1", "0")
    assert trails["2"] == ("0 1 2", "0 1")
    assert trails["1"] == ("0 1 2", "0 1"), "of an anchor: where its energy went"
    assert trails["4"] == ("4", "")


def test_a_node_that_is_gone_is_shown_by_its_id(recall: Recall, read: Read) -> None:
    text = read(render_recall(recall, {})).all_text
    assert "anchor2" in text
    assert "no longer in the memory" in text


def test_a_recall_of_nothing_says_so(read: Read) -> None:
    page = read(render_recall(Recall("Anyone?", (), Kernel(), (), "gated"), {}))
    assert "Nothing was recalled." in page.all_text


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


@pytest.mark.parametrize("length", [100_000, 1_000_000])
def test_a_long_text_is_shortened_with_the_length_of_the_rest(length: int, read: Read) -> None:
    content = ("word " * (length // 5))[:length]
    node = MemoryNode("long", content)
    recall = Recall("?", (RecalledMemory(node, 1.0, {}),), Kernel(), (), "gated")
    page = read(render_recall(recall, {}))
    assert f"Show the rest of {length:,} characters" in page.all_text
    shown = "".join(page.text).count("word ")
    if length <= 200_000:
        assert shown >= content.count("word ")
        assert "not part of this page" not in page.all_text
    else:
        assert f"✂ {length - 200_000:,} more characters are not part of this page" in page.all_text
        assert shown < content.count("word ")


def test_fifty_memories_of_three_hops_stay_a_small_file(node: Callable[..., MemoryNode]) -> None:
    memories = tuple(RecalledMemory(node(f"n{i}"), 1 - i / 50, {"energy": 0.1}) for i in range(50))
    page = render_recall(Recall("?", memories, Kernel(), (), "gated"), {})
    assert len(page) < 200_000


def test_the_same_recall_gives_the_same_page(recall: Recall, nodes: Nodes) -> None:
    assert render_recall(recall, nodes) == render_recall(recall, nodes)
