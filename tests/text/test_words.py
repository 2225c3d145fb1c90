import pytest

from neurogated.text.keywords import split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t", []),
        ("?! … —", []),
        ("The cat, the CAT!", ["the", "cat", "the", "cat"]),
        ("room 101 (north)", ["room", "101", "north"]),
        ("don't", ["don", "t"]),
        ("Straße Ärger façade", ["straße", "ärger", "façade"]),
        ("我愛你。", ["我", "愛", "你"]),
        ("カナ かな", ["カ", "ナ", "か", "な"]),
        ("GPT4很好", ["gpt4", "很", "好"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("Привет, мир", ["привет", "мир"]),
        ("👨\u200d👩 ok", ["ok"]),
    ],
)
def test_words_of_many_scripts_are_found_in_lower_case(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("दिन दान दुनिया", ["दिन", "दान", "दुनिया"]),
        ("தமிழ் বাংলা", ["தமிழ்", "বাংলা"]),
        ("كِتَابٌ", ["كِتَابٌ"]),
        ("กินข้าว", ["กิ", "น", "ข้", "า", "ว"]),
        ("ភាសា", ["ភា", "សា"]),
    ],
)
def test_a_vowel_sign_or_point_stays_with_its_letter(text: str, words: list[str]) -> None:
    assert split_words(text) == words
