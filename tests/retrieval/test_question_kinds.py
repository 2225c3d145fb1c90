"""What a question asks for: its kind, its kernel, its several parts, the request around it, its typing errors."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neurogated import EdgeType, Kernel, MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RetrievalSettings
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.ports import Embedder
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import LLMError
from neurogated.retrieval.dimensions import feeling_of
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.kernel_generator import (
    DEFAULT_KERNELS,
    KernelGenerator,
    OfflineQuestionJudge,
    fitted_kinds,
    read_question,
)
from neurogated.retrieval.queries import corrected, with_questions, without_request
from neurogated.session.compose import build, build_text_embedder
from neurogated.text.normalise import plain_question
from tests.golden import rows

HERE = Path(__file__).parent
"""Kind, language and question; a third has no usual cue word, none was fitted to."""


@pytest.fixture(scope="module")
def bundled() -> Embedder:
    return build_text_embedder(MemoryConfig())


@pytest.fixture(scope="module")
def judge(bundled: Embedder) -> OfflineQuestionJudge:
    return OfflineQuestionJudge(bundled)


@pytest.fixture(scope="module")
def wordy() -> OfflineQuestionJudge:
    """Return the judge with the embedder that needs no model."""
    return OfflineQuestionJudge(HashEmbedder())


# Accuracy


def test_weights_of_the_package_are_those_of_its_examples(bundled: Embedder) -> None:
    path = HERE.parents[1] / "tools" / "fit_questions.py"
    spec = importlib.util.spec_from_file_location("fit_questions", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    fresh, packaged = tool.fit(tool.examples(), bundled), fitted_kinds()
    assert (fresh.embedder, fresh.kinds) == (packaged.embedder, packaged.kinds)
    for name in ("weights", "cue_weights"):
        made, shipped = getattr(fresh, name), getattr(packaged, name)
        assert np.abs(made - shipped).max() < 0.01 * np.abs(shipped).max()


# Misleading words


@pytest.mark.parametrize(
    ("text", "kind"),
    rows(__file__, "kinds"),
)
def test_words_that_mislead_do_not(judge: OfflineQuestionJudge, text: str, kind: str) -> None:
    assert judge.judge(text).kind.value == kind


# Behaviours


@pytest.mark.parametrize("filler", ["word ", "what ", "没有标点", "a.b ", "! "])
def test_very_long_text_is_judged_by_its_ends(wordy: OfflineQuestionJudge, filler: str) -> None:
    judged = wordy.judge(filler * 30_000 + ". Why did they leave?")
    assert judged.kind is QuestionKind.WHY


@pytest.mark.parametrize("text", ["Die Pumpe war kaputt.", "La pompe est en panne.", "La bomba no funciona."])
def test_a_foreign_statement_asks_nothing(text: str) -> None:
    assert not read_question(text).is_question


TOLD = [
    "My colleague the teller is 164 centimetres tall.",
    "My colleague the teller works at a bank.",
    "My colleague the teller comes from Chengdu.",
    "My colleague the teller is kind.",
    "The model art fair lasts eight weeks.",
    "The model art fair begins on Monday at seven.",
]
TWO = "How many centimetres tall is my colleague the teller, who is at the bank? How many weeks does the fair last?"


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")


def test_the_answers_of_both_questions_come_first() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        ids = [memory.add(note)[0] for note in TOLD]
        assert {ids[0], ids[4]} <= set(memory.recall(TWO, top_n=3).ids)
        assert len(set(memory.recall(TWO, top_n=5).ids)) == 5


def test_the_explanation_of_a_memory_names_only_nodes_of_its_recall() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        for place, note in enumerate(TOLD):
            memory.add(note, session_id="notes" if place % 2 else None)
        recall = memory.recall(TWO, top_n=3)
        known = {*dict(recall.anchors), *recall.ids, *recall.relays}
        for one in recall:
            assert sum(one.contributions.values()) == pytest.approx(one.score)
            assert {step.source_id for step in one.flows} <= known
        assert not recall.relays.keys() & {*dict(recall.anchors), *recall.ids}
        assert not recall.activated.keys() & set(recall.ids)
        assert recall.access.edges == {step.edge for one in recall for step in one.path}


@pytest.mark.parametrize(
    "text", ["What did we do?", "What is it that you do?", "What did we do? Where were you and what was it?"]
)
def test_a_question_of_common_words_only_asks_for_no_empty_text(text: str) -> None:
    assert all(one.strip() for one in with_questions(text))
    with NeuroGraphMemory(CONFIG) as memory:
        for note in TOLD:
            memory.add(note)
        assert not [note for note in memory.recall("What did we do?").notes if "questions of the text" in note]


@pytest.mark.parametrize(
    ("text", "questions"),
    rows(__file__, "questions"),
)
def test_questions_in_a_text(text: str, questions: list[str]) -> None:
    assert with_questions(text) == [text, *questions]


@given(st.text(alphabet='a ?？.。“”"\n问题车'))
def test_questions_are_parts_of_the_text(text: str) -> None:
    whole, *questions = with_questions(text)
    assert whole == text
    assert all(character in text for question in questions for character in question)


NOTES = (
    "You told me that the trip to the lake begins at noon.",
    "The surgeon operates at the clinic on Monday.",
    "The dentist of Ana works in Riga.",
)


@pytest.fixture(scope="module")
def noted() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as noted:
        for note in NOTES:
            noted.add(note)
        yield noted


@pytest.mark.parametrize(
    "request_",
    [
        "Sorry to bother you, but could you please tell me, if you don't mind, ",
        "I need your help with something odd: ",
        "Kannst du mir kurz helfen, ",
        "有个小问题要请教你，",
        "hey assistant can you look something up for me ",
        "so basically i keep forgetting this and need a hint ",
    ],
)
def test_a_question_scores_the_same_with_a_request_before_it(noted: NeuroGraphMemory, request_: str) -> None:
    question = "where does the surgeon operate?"
    plain, wrapped = noted.recall(question), noted.recall(request_ + question)
    assert wrapped.ids == plain.ids
    assert [one.score for one in wrapped] == pytest.approx([one.score for one in plain])


@pytest.mark.parametrize(
    "question",
    rows(__file__, "subjects"),
)
def test_what_a_question_is_about_stays(question: str) -> None:
    held = {"lake": (1,), "trip": (1,), "singer": (1,)}
    assert (
        without_request(question, lambda words: {word: held[word] for word in words if word in held}, _clara)
        == question
    )


def _clara(tags: Iterable[str]) -> list[str]:
    """Return the tags of a subject with the name "Clara"."""
    return [tag for tag in tags if tag.endswith("clara")]


@given(st.text(alphabet="you whatİß，,:？?你ab3A "))
def test_the_end_of_a_text_stays(text: str) -> None:
    assert text.endswith(without_request(text, lambda _: {}, lambda _: ()).rsplit("?")[-1])


class Fixed:
    """Gives every question the same judgement."""

    def __init__(self, kind: QuestionKind, strength: float) -> None:
        self.judgement = QuestionJudgement(kind, strength, "because")

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        assert query or vector is not None
        return self.judgement


class Broken:
    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        raise LLMError(f"no answer to {query!r}, {vector is None}")


@pytest.mark.parametrize("kind", list(QuestionKind))
def test_a_clear_question_gets_the_kernel_of_its_kind(kind: QuestionKind) -> None:
    config = MemoryConfig()
    kernel = KernelGenerator(config, judge=Fixed(kind, 1.0)).generate("?")
    (text,) = re.findall(rf"{kind.value}: (.*?)\s*(?:;|$)", DEFAULT_KERNELS)
    expected = Kernel.parse(text, "")
    for edge_type in EdgeType:
        assert kernel[edge_type] == pytest.approx(expected[edge_type])
        assert kernel.backwards(edge_type) == pytest.approx(expected.backwards(edge_type))
    assert dict(kernel.tags) == dict(expected.tags)
    assert kind.value in kernel.justification


@pytest.mark.parametrize(("strength", "along", "against"), [(0.0, 0.5, 0.5), (0.5, 1.25, 0.75), (1.0, 2.0, 1.0)])
def test_the_less_clear_the_nearer_to_a_plain_fact(strength: float, along: float, against: float) -> None:
    config = MemoryConfig(retrieval=RetrievalSettings(kernels="Why: CAUSE=2.0/1.0, @time=0.5; fact: CAUSE=0.5;"))
    kernel = KernelGenerator(config, judge=Fixed(QuestionKind.WHY, strength)).generate("?")
    assert kernel[EdgeType.CAUSE] == pytest.approx(along)
    assert kernel.backwards(EdgeType.CAUSE) == pytest.approx(against)
    assert kernel.tags["time"] == pytest.approx(strength / 2)


def test_a_failing_judge_is_replaced_and_the_kernel_says_so() -> None:
    generator = KernelGenerator(MemoryConfig(), judge=Broken(), fallback=Fixed(QuestionKind.WHEN, 1.0))
    kernel = generator.generate("when?")
    assert kernel.tags["time"] == 1.0
    assert "no answer to 'when?'" in kernel.note


SURGEON, TRAIN = "The surgeon Kowalski operated on Monday.", "The train leaves from Vancouver at nine."


@pytest.fixture(scope="module")
def two_users() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as two_users:
        two_users.add(SURGEON, id="surgeon", user_id="ana")
        two_users.add(TRAIN, id="train", user_id="ana")
        two_users.add("The carpenter mends chairs.", id="carpenter", user_id="bob")
        yield two_users


@pytest.mark.parametrize(
    "question", ["When did the surgoen operate?", "When did the surgeeon operate?", "When did the surgon operate?"]
)
def test_a_misspelt_question_finds_what_the_right_one_finds(two_users: NeuroGraphMemory, question: str) -> None:
    right = two_users.recall("When did the surgeon operate?", user_id="ana")
    found = two_users.recall(question, user_id="ana")
    assert found.query == question
    assert found.ids == right.ids
    assert [one.score for one in found] == pytest.approx([one.score for one in right])
    assert any("surgeon" in note for note in found.notes)


@pytest.mark.parametrize(
    "question",
    [
        "When did the surgeon operate?",
        "Does the drain leave from Vancouver?",
        "Who is Kowalsky-Meier of surgoen@example.com?",
        "谁做了手术？",
        "Who is the surgeo\u0301n?",
        "What is at https://example.com/?q=surgoen&page=operatte or C:\\surgoen\\notes?",
    ],
)
def test_right_words_rare_words_and_addresses_stay(two_users: NeuroGraphMemory, question: str) -> None:
    assert not two_users.recall(question, user_id="ana").notes


@pytest.mark.parametrize("name", ["Vancuover", "Vancouvver", "VANCUVER"])
def test_a_misspelt_name_is_corrected_where_its_memory_has_the_words_beside_it(
    two_users: NeuroGraphMemory, name: str
) -> None:
    right = two_users.recall("Which train leaves from Vancouver?", user_id="ana")
    found = two_users.recall(f"Which train leaves from {name}?", user_id="ana")
    assert [one.parts["keywords"] for one in found] == [one.parts["keywords"] for one in right]


def test_a_question_is_not_corrected_by_the_words_of_another_user(two_users: NeuroGraphMemory) -> None:
    misspelt = "What does the carpentre mend?"
    assert two_users.recall(misspelt, user_id="bob").notes
    assert not two_users.recall(misspelt, user_id="ana").notes


@given(st.text(alphabet="abcdeéÄ ?.@-'问题İß"))
def test_only_words_that_memories_have_replace_others(text: str) -> None:
    assert corrected(text, lambda _: frozenset(), lambda texts: [len(one) for one in texts], lambda _: False) == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Um, so like, you know, what did Ana do? lol", "what did Ana do?"),
        ("What did Ana do?", "What did Ana do?"),
        ("嗨，谁做了手术？", "谁做了手术?"),
        ("Um, who is Ana (the nurse)?", "who is Ana (the nurse)?"),
        ("Hi! I like tea :)", "Hi! I like tea"),
        ("(Honestly,) I moved to Springfield (Illinois).", "I moved to Springfield (Illinois)."),
        ("OK", "OK"),
        ("  \n", "  \n"),
        ("", ""),
    ],
)
def test_a_question_loses_only_its_courtesies(text: str, plain: str) -> None:
    assert plain_question(text) == plain


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
