"""The chats of BEAM and MemDaily as data sets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.chats import READERS
from neurogated import MemoryConfig
from neurogated.errors import DatasetError
from tests.evaluation.measured import run

_BATCH = {
    "batch_number": 1,
    "turns": [
        [
            {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I keep two beehives. ->-> 1,1"},
            {"role": "assistant", "id": 1, "content": "Place them facing south. ->-> x"},
        ],
        [
            {"role": "user", "id": 2, "content": "I sold one beehive. ->-> 1,N/A"},
            {"role": "user", "id": 3, "content": " "},
        ],
    ],
}
_QUESTIONS = {
    "abstention": [{"question": "How many goats have I?", "ideal_response": "Unknown."}],
    "knowledge_update": [
        {
            "question": "How many beehives?",
            "answer": 1,
            "source_chat_ids": {"original_info": [0], "updated_info": [[2]]},
        }
    ],
    "instruction_following": [{"question": "Where do they stand?", "source_chat_ids": [99]}],
}


def _beam(folder: Path, chat: object, questions: object = _QUESTIONS) -> Path:
    (folder / "100K" / "1" / "probing_questions").mkdir(parents=True)
    (folder / "100K" / "1" / "chat.json").write_text(json.dumps(chat))
    (folder / "100K" / "1" / "probing_questions" / "probing_questions.json").write_text(json.dumps(questions))
    return folder


@pytest.mark.parametrize("chat", [[_BATCH], [{"plan-1": [_BATCH]}]])
def test_messages_of_a_chat_have_the_day_of_their_batch_and_answer_by_number(
    tmp_path: Path, config: MemoryConfig, chat: object
) -> None:
    data = READERS["beam"]("100K", _beam(tmp_path, chat))
    (one,) = data.collections
    assert [(document.passages[0].role, document.passages[0].text) for document in one.documents] == [
        ("user", "I keep two beehives."),
        ("assistant", "Place them facing south. ->-> x"),
        ("user", "I sold one beehive."),
    ]
    assert {document.timestamp for document in one.documents} == {datetime(2024, 3, 15, tzinfo=UTC)}
    assert [(asked.kind, asked.gold, asked.answers) for asked in one.questions] == [
        ("knowledge_update", frozenset({"0", "2"}), ("1",)),
        ("instruction_following", frozenset(), ()),
    ]
    assert data.notes == (
        "100K: questions without an answer in their chat, which are not asked: 1",
        "100K: questions that name no message with the answer, which recall leaves out: 1",
    )
    assert run(data, config).recall["all"]["R@5"] == 100


def test_a_folder_without_chats_and_a_day_in_another_form_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="100K has no folder"):
        READERS["beam"]("100K", tmp_path)
    batch = {"turns": [[{"role": "user", "id": 0, "time_anchor": "15.3.2024", "content": "Hi."}]]}
    with pytest.raises(DatasetError, match="March-15-2024"):
        READERS["beam"]("100K", _beam(tmp_path, [batch]))


def _user(number: int, question: str, **changes: object) -> dict[str, object]:
    time = {"time": "2024年04月01日 周一 08:42", "place": "上海"}
    notes = [{"mid": 0, "message": "我用的手机是小米12。", **time}, {"mid": 1, "message": "我住在绿洲家园。", **time}]
    asked = {
        "qid": 0,
        "question": question,
        "answer": "小米12",
        "target_step_id": [0],
        "time": "2024年04月03日 周三 18:40",
    }
    return {"tid": number, "message_list": notes, "QA": {**asked, **changes}}


def test_each_user_has_notes_with_times_and_a_question_asked_later(tmp_path: Path, config: MemoryConfig) -> None:
    users = [_user(0, "我的手机是什么?"), _user(1, "[ERRORQ]")]
    (tmp_path / "memdaily.json").write_text(json.dumps({"simple": {"items": users, "hybrid": None}}))
    data = READERS["memdaily"]("memdaily", tmp_path)
    (one,) = data.collections
    assert one.namespace == "simple-items-0"
    assert [document.timestamp for document in one.documents] == [datetime(2024, 4, 1, 8, 42, tzinfo=UTC)] * 2
    (asked,) = one.questions
    assert (asked.kind, asked.gold, asked.answers) == ("simple", frozenset({"0"}), ("小米12",))
    assert asked.asked_at == datetime(2024, 4, 3, 18, 40, tzinfo=UTC)
    assert data.notes == ("memdaily.json: questions that the generator failed to write, which are not asked: 1 of 2",)
    assert run(data, config).recall["all"]["R@5"] == 100
