import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.cli import main
from neurogated.core.tokens import graphemes_of
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.markdown import blocks, is_markdown, with_front_matter
from neurogated.text.words import count_words

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


@pytest.mark.parametrize("body", [TABLE, CODE, LIST, PROSE], ids=["table", "code", "list", "prose"])
def test_a_heading_is_never_the_last_line_of_a_chunk(body: str) -> None:
    text = PROSE + "".join(f"\n## Part {place}\n\n### Of it\n\n{body}" for place in range(6))

    for size in range(12, 60):
        for chunk in chunks_of(text, size):
            assert not chunk.splitlines()[-1].startswith("#")


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


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_a_day_in_front_matter_is_one_of_the_zone_of_the_settings(zone: str) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash", timezone=zone)) as memory:
        for front in ("2026-11-05", "'2026-11-05'", "2026-11-05T00:00:00"):
            memory.add(f"---\ndate: {front}\n---\nWe drove to {front}.")
        assert memory.recall("We drove").as_text().count("(5 November 2026)") == 3


def test_front_matter_becomes_title_tags_time_and_metadata() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        (node_id,) = memory.add(FRONT, user_id="ana")
        node = memory.get(node_id)
        assert memory.add(FRONT, user_id="ana") == [node_id]

    assert (node.content, node.title, node.tags) == ("The pump runs at night.", "The cellar pump", ("cellar", "pump"))
    assert node.timestamp is not None
    assert node.timestamp.date() == datetime(2026, 5, 4, tzinfo=UTC).date()
    assert node.metadata == {"author": "Ana", "sources": {"manual": 3, "seen": "2026-05-01"}}


def test_given_fields_have_priority_over_front_matter() -> None:
    given_one = Document.from_text(FRONT, title="Pumps", tags=["mine"], metadata={"author": "Ben"})
    document = with_front_matter(given_one)

    assert (document.title, [*document.tags], document.metadata["author"]) == ("Pumps", ["mine"], "Ben")


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


def test_a_message_keeps_its_text() -> None:
    for document in (Document((Passage(FRONT, role="user"),)), Document.from_text(FRONT, session_id="s")):
        assert with_front_matter(document) is document


def test_a_file_with_the_suffix_md_is_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool | None] = []
    split = Chunker.split

    def watched(self: Chunker, text: str, frame: str = "", *, markdown: bool | None = None) -> list[str]:
        seen.append(markdown)
        return split(self, text, frame, markdown=markdown)

    monkeypatch.setattr(Chunker, "split", watched)
    for name in ("notes.md", "notes.txt"):
        (tmp_path / name).write_text("- one\n- two\n")
        folder = ["--save_dir", str(tmp_path / "memory"), "--set", "embedding_name=hash"]
        main(["add", *folder, "--file", str(tmp_path / name)])

    assert seen[0] is True
    assert seen[-1] is None
