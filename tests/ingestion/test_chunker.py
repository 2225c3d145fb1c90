import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated.core.tokens import graphemes_of
from neurogated.ingestion.chunker import Chunker
from neurogated.text.keywords import count_words


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
