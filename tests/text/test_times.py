"""Time words in sentences."""

import pytest

from neurogated.text.times import find_times


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("On 8 May, 2023 and on 8 May, 2023 again, at 5 pm.", ("8 May, 2023", "5 pm")),
        ("two weeks ago", ("two weeks ago",)),
        ("YESTERDAY or yesterday", ("YESTERDAY", "yesterday")),
        ("at 2026-01-31T10:00:59Z or 2026-01-31T10:00", ("2026-01-31T10:00",)),
        ("from 2026-01 to 2026-02-01.", ("2026-01", "2026-02-01")),
        ("三个小时前，两小时后，幾個小時", ("三个小时前", "两小时后", "幾個小時")),
        ("他1984年和1984年后来了", ("1984年", "1984年后")),
        ("", ()),
        ("You may borrow my bicycle, but the army will march.", ()),
        ("Room 214 has version 3.11, and her number is 555 0199.", ()),
        ("这座桥长四百米，要三个鸡蛋。", ()),
    ],
)
def test_words_are_given_as_they_are_written_each_once_in_order(text: str, times: tuple[str, ...]) -> None:
    found = find_times(text)
    assert found == times
    assert all(word in text for word in found)
