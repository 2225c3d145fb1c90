"""Words by which an assistant says that the user said something."""

import pytest

from neurogated import MemoryNode
from neurogated.context.echo import shares_of, without_frame


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("I don't eat fish.", "As you told me earlier, you don't eat fish."),
        ("Ich trinke keinen Alkohol.", "Du hast gesagt: Ich trinke keinen Alkohol."),
        ("No me gusta el pescado.", "Me dijiste que no te gusta el pescado."),
        ("J'ai deux chats.", "Tu m'as dit que tu as deux chats."),
        ("我不喝咖啡。", "你提到过你不喝咖啡。"),
        ("I shared my own journey with them.", "You shared your own journey with them."),
    ],
)
def test_a_memory_with_such_words_is_an_echo(told: str, said: str) -> None:
    memory, message = (MemoryNode(text, text) for text in (told, said))
    assert shares_of(message, [memory]) == {told: 1.0}


def test_only_words_about_the_user_are_left_out() -> None:
    assert without_frame("Nobody said that it rains.") == "Nobody said that it rains."
