"""Texts to keywords, in English, Chinese and mixtures."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.text.keywords import search_terms, split_keywords


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("Who did the cats run from?", ["cat", "run"]),
        ("where and when WHAT which how does", []),
        ("She didn’t say she's happy; they'll see", ["say", "happi", "see"]),
        ("Alice's running dogs", ["alic", "run", "dog"]),
        ("O'Brien snake_case e-mail", ["o'brien", "snake", "case", "e", "mail"]),
        ("In 1999, 3.5 km on 2023-05-07", ["1999", "3", "5", "km", "2023", "05", "07"]),
        ("May in the US", ["may", "us"]),
        ("谁在北京大学工作?", ["北京", "京大", "大学", "学工", "工作"]),
        ("什么时候去上海", ["去上", "上海"]),
        ("为什么 怎么 的了吗", []),
        ("猫", ["猫"]),
        ("iPhone15 很贵 today", ["iphone15", "很贵", "today"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("한국어", ["한국", "국어"]),
        ("Łódź Tromsø Đà Ægir", ["lodz", "tromso", "da", "aegir"]),
        ("२०२४ ٢٠٢٤", ["2024", "2024"]),
        ("दिन और दान", ["दिन", "और", "दान"]),
        ("שָׁלוֹם كِتَابٌ كتـاب", ["שלום", "كتاب", "كتاب"]),
        ("กินข้าว", ["กิ", "ิน", "นข", "ข้", "้า", "าว"]),
        ("ភាសា 10", ["ភា", "ាស", "សា", "10"]),
        ("", []),
        (" \t\n\0 ()\"' :*", []),
    ],
)
def test_words_without_content_go_and_the_rest_is_reduced(text: str, keywords: list[str]) -> None:
    assert split_keywords(text) == keywords


@given(st.text(st.characters()))
def test_a_text_is_searched_by_its_keywords_and_by_parts_that_are_none(text: str) -> None:
    keywords, terms = split_keywords(text), search_terms(text)
    assert [one for one in terms if not one.startswith(" ")] == keywords
    assert not {one[1:] for one in terms if one.startswith(" ") and len(one) > 2} & set(keywords)
