"""The tiers of MemoryOS: segments and chains, heat, knowledge and the profile."""

from __future__ import annotations

from pathlib import Path

from tests.integrations.langgraph.conversations import TOPICS, Open, all_pages, exported, talk
from tests.integrations.langgraph.plain_chat import plain_chat


def test_pages_gather_in_segments_by_topic(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    for topic in (*TOPICS, *TOPICS):
        talk(memory, 3, topic=topic)
    memory.flush()
    segments = exported(memory, tmp_path, "mid_term")["segments"].values()
    told = [{topic for topic in TOPICS for page in one["pages"] if topic in page["user"]} for one in segments]
    assert all(len(topics) <= 1 for topics in told)
    assert len(segments) < 6
    assert all(one["summary"] and one["keywords"] for one in segments)


def test_pages_that_continue_each_other_are_chained_within_their_session(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    first, second, _ = talk(memory, 3)
    (other,) = talk(memory, 1, session="another")
    memory.save_memory("ana", "s", "Which planet is the largest?", "Jupiter.")
    memory.flush()
    pages = {page["key"]: page for page in all_pages(memory, tmp_path)}
    assert (pages[first]["previous"], pages[first]["next"]) == (None, second)
    assert pages[second]["previous"] == first
    assert pages[other]["previous"] is None


def test_work_that_a_closed_memory_left_is_done_by_the_next(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=50)
    keys = talk(memory, 30)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    keys.append(memory.save_memory("ana", "s", "Bye", ""))
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys


def test_a_search_continues_the_work_of_a_closed_memory(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=50)
    talk(memory, 6)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    memory.search_memory("ana", "tomato plants")
    memory.flush()
    (segment,) = exported(memory, tmp_path, "mid_term")["segments"].values()
    assert len(segment["pages"]) == 5


def test_a_hot_segment_teaches_the_long_term_memory_and_cools(opened: Open, tmp_path: Path) -> None:
    memory = opened(llm=plain_chat(), short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    memory.save_memory("ana", "s", "I live in Lyon.", "The capital of France is Paris.")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    (segment,) = exported(memory, tmp_path, "mid_term")["segments"].values()
    assert segment["heat"] < 1.5
    known = memory.knowledge("ana")
    assert [one["fact"] for one in known["user_knowledge"]] == ["user home: Lyon"]
    assert [one["fact"] for one in known["assistant_knowledge"]] == ["France capital: Paris"]
    profile = memory.profile("ana")
    assert profile["Living environment"]["value"] == "Lyon"
    assert profile["Living environment"]["evidence"] == [segment["pages"][0]["key"]]
    answer = memory.search_memory("ana", "Who lives in Lyon?")
    assert "Lyon" in answer["user_background_context"]


def test_without_a_model_nothing_is_learned_and_pages_are_found(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    memory.save_memory("ana", "s", "I live in Lyon.", "The capital of France is Paris.")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    assert memory.profile("ana") == {}
    assert memory.knowledge("ana") == {"user_knowledge": [], "assistant_knowledge": []}
    answer = memory.search_memory("ana", "Who lives in Lyon?")
    assert (answer["user_background_context"], answer["assistant_knowledge"]) == ("", "")
    assert "I live in Lyon." in answer["mid_term_memory"]


def test_the_user_corrects_and_erases_the_profile(opened: Open) -> None:
    memory = opened(llm=plain_chat(), short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    for text in ("I live in Lyon.", "I am 34 years old.", "Bye"):
        memory.save_memory("ana", "s", text, "")
    memory.flush()
    memory.set_profile("ana", "Living environment", "Ghent")
    memory.set_profile("ana", "Age group", "")
    assert {name: one["value"] for name, one in memory.profile("ana").items()} == {"Living environment": "Ghent"}
    memory.save_memory("ana", "s", "I moved to Bern.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    assert memory.profile("ana")["Living environment"]["value"] == "Ghent"


def test_what_a_topic_makes_sensitive_stays_out_of_the_profile(opened: Open) -> None:
    for sensitive, found in (((), False), (("health",), True)):
        memory = opened(llm=plain_chat(), short_term_max_capacity=1, mid_term_heat_threshold=1.5, sensitive=sensitive)
        user = f"ana {found}"
        memory.save_memory(user, "s", "I am allergic to nuts.", "")
        memory.save_memory(user, "s", "Bye", "")
        memory.flush()
        assert ("Health" in memory.profile(user)) is found


def test_beyond_the_capacity_segments_sleep_and_are_still_found(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_max_capacity=1, mid_term_heat_threshold=50.0)
    keys = {topic: talk(memory, 1, topic=topic) for topic in TOPICS}
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    for topic, (key,) in keys.items():
        assert key in [hit.key for hit in memory.search_memory("ana", TOPICS[topic]).hits]
