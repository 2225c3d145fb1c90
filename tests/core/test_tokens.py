"""Counts of tokens against OpenAI's o200k, and their properties on every text.

`o200k.json` has pairs of a text and its tokens, measured once with bpe-openai 0.1.4: prose in 25 languages, code,
tables, base64, DNA, and random characters of each block. `o200k_prose.json` has ten sentences in each of twelve
languages, Markdown and Python, in the same way.
"""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.extras import packaged_json
from neurogated.core.tokens import cut_to, graphemes_of, prompt_tokens

HERE = Path(__file__).parent
PROSE = json.loads((HERE / "o200k_prose.json").read_text())
PAIRS = [tuple(pair) for pair in [*json.loads((HERE / "o200k.json").read_text()), *PROSE.values()]]
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
long_words = st.builds(
    lambda alphabet, places: "".join(alphabet[place % len(alphabet)] for place in places),
    st.sampled_from(
        ["ACGT", "abcdefghij", "aZ09+/", "กุญแจห้อง", "кл", "ሰማያ", "\U00020000", "好", "👨\u200d👩\u200d👧", "é"]
    ),
    st.lists(st.integers(0, 30), min_size=1, max_size=400),
)
scripts = [
    "абвгдежзик",
    "अआकखगघािी",
    "กขคงจาิูเแ",
    "אבגדהוזח",
    "ابتثجحخد",
    "აბგდევზი",
    "的一是不了人我在有",
    "あいうえアイ",
    "가나다라마",
    "éüßñçx",
]
words = st.one_of(
    st.text(st.characters(categories=["Lo", "Ll", "Mn", "Mc"]), min_size=1, max_size=60),
    st.sampled_from(scripts).flatmap(lambda letters: st.text(letters, min_size=1, max_size=60)),
)
texts = st.one_of(any_text, long_words, st.lists(any_text | long_words, max_size=4).map(" ".join))


@cache
def ranks_of_tokens() -> dict[str, int]:
    tokens = packaged_json("neurogated.core", "token_costs.json.gz")["tokens"]
    return {token: rank for rank, token in enumerate(tokens)}


@pytest.mark.parametrize(("text", "tokens"), PAIRS)
def test_a_budget_counts_no_fewer_tokens_than_o200k(text: str, tokens: int) -> None:
    assert prompt_tokens([text])[0] >= tokens


@given(words)
def test_a_word_counts_as_if_its_bytes_were_merged_from_the_lowest_rank_on(word: str) -> None:
    ranks, parts = ranks_of_tokens(), list(word.encode().decode("latin-1"))
    while pairs := [(ranks[a + b], place) for place, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]:
        _, place = min(pairs)
        parts[place : place + 2] = ["".join(parts[place : place + 2])]

    assert prompt_tokens([word]) == [len(parts)]


@given(st.lists(texts, max_size=4))
def test_lines_together_have_no_more_tokens_than_apart(lines: list[str]) -> None:
    whole = [f"- {line.strip()}\n" for line in lines]

    assert prompt_tokens(["".join(whole)])[0] <= sum(prompt_tokens(whole))


@given(texts, st.integers(0, 40))
def test_a_cut_text_is_a_beginning_at_the_border_of_a_grapheme_within_the_limit(text: str, most: int) -> None:
    cut = cut_to(text, most, prompt_tokens)

    assert text.startswith(cut)
    assert prompt_tokens([cut])[0] <= most
    assert "".join(graphemes_of(text)[: len(graphemes_of(cut))]) == cut or cut == text[: len(cut)].rstrip()


NOTES = {
    "base64": "A photo of the whiteboard: data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 3000,
    "thai": "กุญแจห้องใต้ดินอยู่ใต้กระถางสีฟ้าและประตูสวนต้องปิดทุกคืน" * 300,
    "spaces": "ke\u200by\u200d " * 3000,
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES)
@pytest.mark.parametrize("budget", [60, 200, 1000])
def test_a_context_and_a_recall_stay_within_their_budget(note: str, budget: int) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add(note, title="whiteboard", user_id="ana")
        context = memory.get_context("whiteboard", budget, user_id="ana", min_score=-1.0)
        quoted = memory.recall("whiteboard", user_id="ana").as_text(token_budget=budget)

    assert context.tokens == sum(prompt_tokens([context.text] * bool(context.text))) <= budget
    # The frame is English; elsewhere a token of this count has at most a few bytes.
    assert len(context.text.encode()) <= 8 * budget
    assert prompt_tokens([quoted])[0] <= budget
