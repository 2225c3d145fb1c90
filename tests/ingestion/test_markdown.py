import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, MemoryConfig, NeuroGraphMemory
from neurogated.core.tokens import graphemes_of
from neurogated.ingestion.chunker import Chunker, blocks, is_markdown, with_front_matter
from neurogated.text.keywords import count_words

HEAD = "| pump | year |\n|:--|--:|\n"
TABLE = HEAD + "".join(f"| pump{place} | {1990 + place} |\n" for place in range(40))
CODE = "```python\n" + "".join(f"call{place} = {place}\n" for place in range(12)) + "```\n"
LIST = "".join(f"- tool{place} of the workshop\n  - kept in drawer {place}\n" for place in range(12))
PROSE = "".join(f"The pump number {place} runs at night. " for place in range(30)) + "\n"
lines = st.sampled_from(
    [
        *(
            "# A\n",
            "## B\n",
            "Title\n===\n",
            "word word. Word.\n",
            "\n",
            "- a b\n",
            "  - c\n",
            "1. d\n",
            "> q\n",
            "```\n",
        ),
        *(
            "    x\n",
            "| a | b |\n",
            "|---|---|\n",
            "[r]: http://x.y\n",
            "***\n",
            "<div>\n",
            "\r\n",
            "é\u2028f\n",
            "tail",
        ),
    ]
)


def chunks_of(text: str, size: int = 40, overlap: int = 5) -> list[str]:
    return Chunker(size, overlap, count_words).split(text, markdown=True)


@given(st.lists(lines, max_size=30).map("".join))
def test_the_blocks_are_the_text(text: str) -> None:
    assert "".join(block.text for block in blocks(text)) == text
    for block in blocks(text):
        assert "".join(block.parts) == (block.text if block.parts else "")


@given(text=st.lists(lines, max_size=40).map("".join), size=st.integers(1, 12))
def test_no_chunk_of_markdown_is_too_long_and_no_word_is_lost(text: str, size: int) -> None:
    chunks = chunks_of(text, size, 0)

    assert all(count_words([chunk])[0] <= size or len(graphemes_of(chunk)) == 1 for chunk in chunks)
    assert set(re.findall(r"\w+", text)) <= set(re.findall(r"\w+", " ".join(chunks)))


def test_every_chunk_of_a_table_begins_with_its_header_and_ends_with_a_row() -> None:
    chunks = chunks_of(TABLE)

    assert len(chunks) > 2
    assert all(chunk.startswith(HEAD) for chunk in chunks)
    assert "".join(chunk.removeprefix(HEAD) + "\n" for chunk in chunks) == TABLE.removeprefix(HEAD)


@pytest.mark.parametrize("indent", ["> ", "  ", "> > "])
def test_a_table_in_a_list_or_quotation_is_cut_between_rows_and_repeats_its_header(indent: str) -> None:
    table = "".join(f"{indent}{line}\n" for line in TABLE.splitlines())
    opening = "- The pumps:\n\n" if indent == "  " else ""
    chunks = chunks_of(f"{opening}{table}\n- Next\n", 40, 0)
    rows = [line.strip(" >") for chunk in chunks for line in chunk.splitlines() if "pump" in line and ":" not in line]
    head, *others = TABLE.splitlines()[:1] + TABLE.splitlines()[2:]
    assert len(chunks) > 2
    assert [row for row in rows if row != head] == others
    assert all("| pump | year |" in chunk for chunk in chunks if re.search(r"pump\d", chunk))


@pytest.mark.parametrize("body", [CODE, LIST], ids=["code", "list"])
def test_code_and_lists_stay_whole_where_they_fit_and_are_cut_between_lines_and_items_elsewhere(body: str) -> None:
    words = count_words([body])[0]

    assert any(body.strip() in chunk for chunk in chunks_of(PROSE + "\n" + body + "\n" + PROSE, words))
    for chunk in chunks_of(body, words // 3):
        assert chunk in body
        assert re.match("```|call|- tool", chunk)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A heading\nwords", True),
        ("x\n```\ncode\n```", True),
        ("a | b\n--|--\n1 | 2", True),
        ("#1 is best. C# too.", False),
        ("- one\n- two", False),
        ("A dash --- and a | bar.", False),
        ("Title\n-----", False),
    ],
)
def test_headings_fences_and_tables_show_markdown(text: str, expected: bool) -> None:  # noqa: FBT001
    assert is_markdown(text) is expected


FRONT = """---
title: The cellar pump
tags: [pump, "#cellar"]
date: 2026-05-04
author: Ana
sources: {manual: 3, seen: 2026-05-01}
---

The pump runs at night.
"""


def test_front_matter_becomes_title_tags_time_and_metadata() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        (node_id,) = memory.add(FRONT, user_id="ana")
        node = memory.get(node_id)
        assert memory.add(FRONT, user_id="ana") == [node_id]

    assert (node.content, node.title, node.tags) == ("The pump runs at night.", "The cellar pump", ("cellar", "pump"))
    assert node.timestamp is not None
    assert node.timestamp.date() == datetime(2026, 5, 4, tzinfo=UTC).date()
    assert node.metadata == {"author": "Ana", "sources": {"manual": 3, "seen": "2026-05-01"}}


@pytest.mark.parametrize(
    "text",
    [
        FRONT.replace("title: The", "title: The: new"),
        "---\n- a list\n---\nWords.",
        "---\na: &x [1]\nb: [*x, *x]\n---\nWords.",
        "---\ntitle: only this\n---\n",
        "A line.\n---\nb: 1\n---\n",
    ],
    ids=["invalid", "list", "alias", "alone", "later"],
)
def test_what_is_no_front_matter_stays_in_the_text(text: str) -> None:
    assert with_front_matter(Document.from_text(text)).passages[0].text == text
