"""The bundled model reads English; a memory of other texts warns once."""

import logging

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.embedding.language_watch import LanguageWatch

OTHERS = {
    "zh": ["我有一只猫。", "火车九点开。", "她五月搬到了巴黎。", "我的邮箱是 ana@example.com。"],
    "ru": ["Кошка спит дома.", "Поезд отходит в девять."],
    "de": ["Ich habe eine Katze.", "Der Zug fährt um neun Uhr."],
}


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize("language", OTHERS)
def test_most_texts_in_another_language_warn_once_with_the_remedy(
    language: str, caplog: pytest.LogCaptureFixture
) -> None:
    watch = LanguageWatch("some-model")
    for number in range(40):
        watch.count([OTHERS[language][number % len(OTHERS[language])]])
    (warning,) = warnings_of(caplog)
    assert "neurogated[multilingual]" in warning
    assert "migrate" in warning


def test_a_memory_of_chinese_messages_warns(caplog: pytest.LogCaptureFixture) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for number in range(12):
            memory.add({"role": "user", "name": "Ana", "content": f"今天我买了{number}本书。"}, session_id="s")
    assert len([text for text in warnings_of(caplog) if "multilingual" in text]) == 1
