"""Questions that name a place or a feeling, ask for a reason, or ask for the newest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.dimensions import feeling_of
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.session.compose import build
from tests.golden import rows

HASH = MemoryConfig(storage="memory", embedding_name="hash")
OFF = Formula(place_weight=0.0, sentiment_weight=0.0, cause_weight=0.0)


@pytest.mark.parametrize(
    ("question", "feeling"),
    rows(__file__, "feelings"),
)
def test_the_feeling_that_a_question_names(question: str, feeling: int) -> None:
    assert feeling_of(question) == feeling


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What did we do in Lisbon?", "Lisbon"),
        ("Was haben wir in Lissabon gemacht?", "Lissabon"),
        ("Qu'avons-nous fait à Lisbonne ?", "Lisbonne"),
        ("¿Qué hicimos en Lisboa?", "Lisboa"),
        ("我们在里斯本做了什么？", "里斯本"),
        ("And in New York City?", "New York City, USA"),
    ],
)
def test_memories_of_a_place_are_found_by_its_name(question: str, place: str) -> None:
    with NeuroGraphMemory(HASH) as memory:
        memory.add([f"What did we do, number {number}." for number in range(120)], metadata={"location": "Porto"})
        (there,) = memory.add("The tram climbed past the castle.", metadata={"location": place})
        recall = memory.recall(question, top_n=121)
        found = {one.id: one.contributions for one in recall}
        assert found[there]["place"] == pytest.approx(FORMULA.place_weight)
        assert there in dict(recall.anchors) or len(recall.anchors) >= HASH.TOP_K_ANCHORS
        assert not any(terms["place"] for name, terms in found.items() if name != there)


def test_a_question_that_names_nothing_has_the_same_scores_with_and_without_dimensions() -> None:
    with NeuroGraphMemory(HASH) as memory, NeuroGraphMemory(HASH, parts=replace(build(HASH), formula=OFF)) as off:
        for one in (memory, off):
            one.add(["We ate in Lisbon.", "The ferry left at noon.", "I was sad at the ferry."], user_id="ann")
        for question in ("When did the ferry leave?", "What did we eat?", "ferry"):
            recalls = [one.recall(question, user_id="ann") for one in (memory, off)]
            seen = [[(hit.content, hit.score, hit.contributions) for hit in recall] for recall in recalls]
            assert seen[0] == seen[1]


def test_a_question_about_a_feeling_prefers_memories_of_that_feeling() -> None:
    texts = ["The boiler broke again and I was furious.", "The boiler works again, what a relief!"]
    config = MemoryConfig(storage="memory")
    with NeuroGraphMemory(config, parts=replace(build(config), formula=Formula(sentiment_weight=0.5))) as memory:
        memory.add(texts)
        for question, best in (("What was I upset about?", texts[0]), ("What was I happy about?", texts[1])):
            first, second = memory.recall(question, top_n=2)
            assert first.content == best
            assert first.contributions["sentiment"] > 0.0 == second.contributions["sentiment"]


NEWS = [
    (1, "I started a pottery class on Mondays."),
    (3, "We painted the hall green."),
    (5, "The pottery teacher broke her arm, so the class is off this month."),
    (7, "We repainted the hall in a light grey."),
    (9, "The tax office wants the form by Friday."),
]


@pytest.fixture(scope="module")
def news() -> Iterator[NeuroGraphMemory]:
    """Yield a memory of messages that were added in another order than they were said, and one of another user."""
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for day, text in [NEWS[4], *NEWS[:4]]:
            memory.add(text, user_id="ann", session_id=str(day), timestamp=f"2026-03-{day:02d}T10:00:00Z")
        memory.add("The boat leaks.", user_id="ben", session_id="1", timestamp="2026-03-11T10:00:00Z")
        yield memory


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What did we talk about last?", 4),
        ("What was my most recent message?", 4),
        ("Where did we leave off?", 4),
        ("What's new with the pottery class?", 2),
        ("What colour did we paint the hall most recently?", 3),
    ],
)
def test_the_newest_memory_that_fits_the_question_comes_first(news: NeuroGraphMemory, question: str, best: int) -> None:
    assert news.recall(question, user_id="ann", top_n=1)[0].content == NEWS[best][1]


@pytest.mark.parametrize("question", ["What did we talk about on 3 March 2026?", "What did we paint?"])
def test_other_questions_do_not_prefer_the_newest(news: NeuroGraphMemory, question: str) -> None:
    recall = news.recall(question, user_id="ann")
    assert not any(one.contributions.get("newest") for one in recall)
    assert "hall" in recall[0].content


def test_texts_without_a_time_are_as_new_as_their_writing() -> None:
    with NeuroGraphMemory(HASH) as memory:
        names = [memory.add(f"Note {number} about thing {number}.")[0] for number in range(6)]
        assert memory.recall("What did we talk about last?", top_n=3).ids == tuple(names[:-4:-1])
