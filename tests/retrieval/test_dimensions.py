"""Questions that name a place or a feeling, or ask for a reason."""

from __future__ import annotations

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.retrieval_settings import RetrievalSettings
from neurogated.retrieval.dimensions import feeling_of

HASH = MemoryConfig(storage="memory", embedding_name="hash")
OFF = {"place_weight": 0, "sentiment_weight": 0, "cause_weight": 0}


@pytest.mark.parametrize(
    ("question", "feeling"),
    [
        ("What was I upset about?", -1),
        ("What worries Ann most?", -1),
        ("What was I not happy about?", -1),
        ("Worüber habe ich mich geärgert?", -1),
        ("De quoi avais-je peur ?", -1),
        ("¿De qué estaba enfadado?", -1),
        ("我为什么难过？", -1),
        ("什么让我不开心？", -1),
        ("What made Ann proud?", 1),
        ("What was she not afraid of?", 1),
        ("Worauf war ich stolz?", 1),
        ("Qu'est-ce qui m'a rendu heureux ?", 1),
        ("¿Qué me puso contento?", 1),
        ("什么让我开心？", 1),
        ("Was I happy or sad?", 0),
        ("What is the content of the book?", 0),
        ("Where is the fearless ferry?", 0),
        ("What did we do in Lisbon?", 0),
        ("", 0),
    ],
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
    with NeuroGraphMemory(HASH.replace(retrieval={"candidates": 3})) as memory:
        for number in range(30):
            memory.add(f"What did we do, number {number}.", metadata={"location": "Porto"})
        (there,) = memory.add("The tram climbed past the castle.", metadata={"location": place})
        recall = memory.recall(question, top_n=31)
        found = {one.id: one.contributions for one in recall}
        assert found[there]["place"] == pytest.approx(RetrievalSettings().place_weight)
        assert there in dict(recall.anchors) or len(recall.anchors) >= HASH.TOP_K_ANCHORS
        assert not any(terms["place"] for name, terms in found.items() if name != there)


def test_a_question_that_names_nothing_has_the_same_scores_with_and_without_dimensions() -> None:
    with NeuroGraphMemory(HASH) as memory, NeuroGraphMemory(HASH.replace(retrieval=OFF)) as off:
        for one in (memory, off):
            one.add(["We ate in Lisbon.", "The ferry left at noon.", "I was sad at the ferry."], user_id="ann")
        for question in ("When did the ferry leave?", "What did we eat?", "ferry"):
            recalls = [one.recall(question, user_id="ann") for one in (memory, off)]
            seen = [[(hit.content, hit.score, hit.contributions) for hit in recall] for recall in recalls]
            assert seen[0] == seen[1]


def test_a_question_about_a_feeling_prefers_memories_of_that_feeling() -> None:
    texts = ["The boiler broke again and I was furious.", "The boiler works again, what a relief!"]
    config = MemoryConfig(storage="memory", retrieval=RetrievalSettings(sentiment_weight=0.5))
    with NeuroGraphMemory(config) as memory:
        memory.add(texts)
        for question, best in (("What was I upset about?", texts[0]), ("What was I happy about?", texts[1])):
            first, second = memory.recall(question, top_n=2)
            assert first.content == best
            assert first.contributions["sentiment"] > 0.0 == second.contributions["sentiment"]
