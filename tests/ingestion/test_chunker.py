"""Documents: their ids, titles and Markdown, their chunks, and the cost of long ones."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated import Document, GraphDelta, MemoryConfig, NeuroGraphMemory, Passage, compute_mdhash_id
from neurogated.core.rendering import keyword_text, render, subject_names
from neurogated.core.tokens import graphemes_of, window_tokens
from neurogated.errors import InputError
from neurogated.ingestion import chunker as chunking
from neurogated.ingestion.analysers import Analysis, OfflineEntityFinder
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.chunker import Chunker, blocks, is_markdown, with_front_matter
from neurogated.ingestion.writer import Writer
from neurogated.text import sentences, strings
from neurogated.text.keywords import count_words
from tests.ingestion.test_writer import Bench


def count_characters(texts: Sequence[str]) -> list[int]:
    """Return the number of characters without white space, as another additive measure."""
    return [len(bare(text)) for text in texts]


def bare(text: str) -> str:
    return "".join(text.split())


COUNTERS: list[Callable[[Sequence[str]], list[int]]] = [count_words, count_characters]
ATOMS = [
    *("a", "Word", "river", "don't", "3.5", "Dr. ", "D.C. ", "end. ", "end! ", "Go? ", "...", "-", "(so)", '"Hi." '),
    *(" ", "\n", "\n\n", "\t", "我", "愛你", "你好。", "嗎？", "，", "「是。」", "カナ", "かな。", "か\u3099"),
    *("한국어 ", "Привет. ", "नमस्ते। ", "👨\u200d👩\u200d👧", "👍🏽", "e\u0301", "n\u0303o "),
]
texts = st.lists(st.sampled_from(ATOMS) | st.text("abcXY .\n我。", max_size=4), max_size=25).map("".join)
sizes = st.integers(1, 8)
latin_words = st.builds(
    lambda word, mark: word + mark,
    st.text("abcDEFéß'-", min_size=1, max_size=6) | st.sampled_from(["3.5", "v1.2", "http://a.b/c?d=e", "e.g."]),
    st.sampled_from(["", "", "", ".", ",", "!", "?", ";", "..."]),
)
latin_texts = st.lists(
    st.tuples(latin_words, st.sampled_from([" ", "  ", "\n", "\n\n", "\t"])), min_size=1, max_size=25
).map(lambda pairs: "".join(word + space for word, space in pairs))
sentence_lists = st.lists(st.integers(1, 6), min_size=1, max_size=15).map(
    # Each sentence contains its number, so a chunk shows its sentences.
    lambda lengths: [" ".join([f"Wolf{n}", *["river"] * (words - 1)]) + "." for n, words in enumerate(lengths)]
)


@given(text=texts, size=sizes, counter=st.sampled_from(COUNTERS))
@example(text="我愛？我", size=1, counter=count_words)  # a piece without tokens is at the border
def test_without_overlap_the_chunks_are_the_text_but_for_white_space(
    text: str, size: int, counter: Callable[[Sequence[str]], list[int]]
) -> None:
    assert bare("".join(Chunker(size, 0, counter).split(text))) == bare(text)


@given(text=texts, data=st.data(), size=sizes, counter=st.sampled_from(COUNTERS))
def test_a_chunk_exceeds_the_size_only_where_it_is_a_single_character(
    text: str, data: st.DataObject, size: int, counter: Callable[[Sequence[str]], list[int]]
) -> None:
    chunks = Chunker(size, data.draw(st.integers(0, size - 1)), counter).split(text)

    for chunk, tokens in zip(chunks, counter(chunks), strict=True):
        assert tokens <= size or len(graphemes_of(chunk)) == 1


@given(text=latin_texts, size=sizes, overlap=st.integers(0, 7))
@example(text="It rained. 'Twas cold.", size=2, overlap=0)  # a word that begins with an apostrophe
def test_a_word_that_fits_is_never_cut(text: str, size: int, overlap: int) -> None:
    words = text.split()
    size = max(size, *count_words(words))

    for chunk in Chunker(size, min(overlap, size - 1), count_words).split(text):
        assert set(chunk.split()) <= set(words)


@pytest.mark.parametrize("character", ["か\u3099", "葛\U000e0100", "e\u0301", "👨\u200d👩\u200d👧"])
def test_a_long_sentence_is_not_cut_inside_a_character(character: str) -> None:
    chunks = Chunker(1, 0, count_characters).split(character * 3)

    assert "".join(chunks) == character * 3
    assert all(chunk.startswith(character[0]) for chunk in chunks)


@given(sentences=sentence_lists, data=st.data(), size=st.integers(6, 14))
def test_each_chunk_takes_all_that_fits_after_the_most_overlap_that_fits(
    sentences: list[str], data: st.DataObject, size: int
) -> None:
    overlap = data.draw(st.integers(0, size - 1))

    chunks = Chunker(size, overlap, count_words).split(" ".join(sentences))

    assert [re.findall(r"Wolf[^.]*\.", chunk) for chunk in chunks] == slow_chunks(sentences, size, overlap)


def slow_chunks(sentences: list[str], size: int, overlap: int) -> list[list[str]]:
    """Pack whole sentences by trying every possibility."""

    def tokens(some: list[str]) -> int:
        return sum(len(sentence.split()) for sentence in some)

    chunks: list[list[str]] = []
    begin = 0
    while True:
        end = max(end for end in range(begin + 1, len(sentences) + 1) if tokens(sentences[begin:end]) <= size)
        chunks.append(sentences[begin:end])
        if end == len(sentences):
            return chunks
        begin = min(
            start
            for start in range(begin + 1, end + 1)
            if tokens(sentences[start:end]) <= overlap and tokens(sentences[start : end + 1]) <= size
        )


def test_no_tokenizer_reads_the_whole_of_a_long_text() -> None:
    longest = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal longest
        longest = max(longest, *map(len, texts))
        return count_words(texts)

    assert len(Chunker(100, 20, count).split("Ann moved to Lyon in May. " * 10_000)) > 100
    assert longest <= 20_000


text_of_passage = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
).filter(str.strip)
titles = st.none() | st.text("abc 我", min_size=1, max_size=4)

MAKERS = [pytest.param(Passage, id="Passage"), pytest.param(Document.from_text, id="Document.from_text")]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000\u00a0"])
def test_blank_text_is_refused(make: Callable[[str], object], text: str) -> None:
    with pytest.raises(InputError):
        make(text)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [b"bytes", None, 7, ["text"]])
def test_a_value_without_text_is_refused_with_its_type(make: Callable[[Any], object], value: object) -> None:
    with pytest.raises(InputError, match=f"must be text, not {type(value).__name__}"):
        make(value)


@given(title=titles, texts=st.lists(text_of_passage, min_size=1, max_size=3), note=st.integers())
def test_the_id_does_not_depend_on_metadata(title: str | None, texts: list[str], note: int) -> None:
    plain = Document(tuple(map(Passage, texts)), title)
    noted = Document(tuple(Passage(text, {"note": note}) for text in texts), title, {"note": note})

    assert plain.document_id == noted.document_id


def test_the_id_is_written_down_and_must_not_change() -> None:
    # Every memory file contains ids. A changed rule would make every known document a new one.
    document = Document((Passage("We met."), Passage("We spoke.")), "Day 1")

    assert document.document_id == "doc-" + compute_mdhash_id("Day 1\0We met.\0We spoke.")


# The effects of a title that was found in a text


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")
QUILL = "Ada Ruth Quill (born 1901) was a keeper of the light. She played chess."


def _names(memory: NeuroGraphMemory, node_id: str) -> list[str]:
    return list(memory.get(node_id).found.names)


def test_a_text_without_a_title_is_about_its_own_name() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (about,) = memory.add(QUILL)
        memory.add("Chess is a game for two.")
        found = {recalled.id: recalled for recalled in memory.recall("Which game did Ada Quill play?")}
        assert found[about].parts["subject"] == 1.0
        assert memory.store.get_node(about).title is None


def test_a_given_title_is_never_replaced() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (given,) = memory.add(QUILL, title="The keeper")
        assert _names(memory, given) == []
        (found,) = memory.add(QUILL)
        memory.update(found, title="The other keeper")
        assert subject_names(memory.store.get_node(found)) == ("the other keeper",)


def test_chunks_that_do_not_hold_it_are_embedded_and_searched_under_it() -> None:
    text = "# The Long Mole\n\n" + " ".join(f"Stone number {n} was laid in the year {1800 + n}." for n in range(40))
    with NeuroGraphMemory(CONFIG.replace(indexing={"chunk_size": 60})) as memory:
        first, second, *_ = (memory.store.get_node(node_id) for node_id in memory.add(text))
        assert render(first) == keyword_text(first) == first.content
        assert render(second) == f"The Long Mole\n{second.content}"
        assert memory.recall("What is the Long Mole?")[0].parts["subject"] == 1.0


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


def chat(turns: int) -> Document:
    """Return a dialogue in which every turn is a distinct chunk."""
    return Document(
        tuple(Passage(f"Ada saw ship {turn}.", speaker="Ann" if turn % 2 else "Bob") for turn in range(turns)), "Log"
    )


LONG = {
    "sentences": "Ana moved to Lyon in May. Dr. Ben stayed; he likes it! 我住在上海。 ",
    "one sentence": "rivers and mountains ",
    "Chinese without marks": "我住在上海他喜欢喝茶",
    "lines": "A line\nand another\n\n",
    "blocks": "# Head\n\nText of it.\n\n* an item\n* another\n\n```\nx = 1\n```\n\n> said\n\n",
    "a list": "* an item of a list\n",
    "rows": "| a cell | another |\n",
    "code": "x = f(x)  # a line\n",
}


def long_text(name: str, size: int) -> str:
    begin = {"rows": "| a | b |\n|---|---|\n", "code": "```\n", "a list": "# List\n\n"}.get(name, "")
    return begin + LONG[name] * (size // len(LONG[name]))


@pytest.mark.parametrize("name", LONG)
def test_a_text_that_is_read_in_sections_has_the_chunks_of_one_that_is_read_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, chunker = long_text(name, 6_000), Chunker(20, 5, window_tokens(count_words))
    whole = chunker.split(text)
    for module in (sentences, chunking, strings):
        monkeypatch.setattr(module, "SECTION", 300)
    assert chunker.split(text) == whole


@pytest.mark.parametrize("name", sorted(LONG.keys() - {"blocks"}))
def test_few_pieces_of_a_long_text_exist_at_a_time(name: str) -> None:
    most = 0

    def count(texts: Sequence[str]) -> list[int]:
        nonlocal most
        most = max(most, len(texts))
        return count_words(texts)

    Chunker(100, 5, count).split(long_text(name, 150_000))
    assert most <= 1_000


def causal(bench: Bench) -> Bench:
    """Return the bench with an engine that judges causes and finds names."""
    analysis = Analysis(OfflineCausalJudge(), OfflineEntityFinder())
    bench.engine = Writer(bench.store, bench.embedder, analysis, bench.config, bench.clock, batch=bench.batch)
    return bench


def graph(bench: Bench) -> tuple[object, ...]:
    """Return the whole graph except its write times."""
    nodes = {
        node.id: (node.content, node.metadata, np.asarray(node.embedding).tobytes()) for node in bench.store.all_nodes()
    }
    return nodes, {(edge.key, edge.weight) for edge in bench.store.all_edges()}


@pytest.mark.parametrize("part", [0, 1, 2])
def test_an_interruption_keeps_the_parts_before_it_and_the_rest_is_added_by_adding_again(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, bench = causal(Bench(batch=4)), causal(Bench(batch=4))
    whole.add(chat(11))
    apply = bench.store.apply
    with monkeypatch.context() as patch:
        written = 0

        def interrupted(delta: GraphDelta) -> int:
            nonlocal written
            if written == part:
                raise KeyboardInterrupt
            written += 1
            return apply(delta)

        patch.setattr(bench.store, "apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.add(chat(11))
    assert bench.store.view().node_count == 4 * part

    bench.add(chat(11))

    assert graph(bench) == graph(whole)
