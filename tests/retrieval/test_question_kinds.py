"""Offline judgement of questions."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig
from neurogated.compose import build_text_embedder
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.ports import Embedder
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import InputError
from neurogated.retrieval import question_cues
from neurogated.retrieval.question_cues import read_question
from neurogated.retrieval.question_kinds import OfflineQuestionJudge, fitted_kinds
from neurogated.text.language import language_of

HERE = Path(__file__).parent
ASKED = [tuple(line.split("\t")) for line in (HERE / "questions.tsv").read_text(encoding="utf-8").splitlines()[1:]]
"""Kind, language and question; a third has no usual cue word, none was fitted to."""


class CountingEmbedder(HashEmbedder):
    """Bears the name of the bundled embedder, has its dimension, and records how many texts it was given at a time."""

    def __init__(self) -> None:
        self.name = fitted_kinds().embedder
        self.calls: list[int] = []

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        return np.ones((len(texts), fitted_kinds().mean.size), dtype=np.float32)


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


def test_languages_are_told_apart() -> None:
    latin = [(language, question) for _, language, question in ASKED if language != "zh"]
    assert [language_of(question) for _, question in latin] == [language for language, _ in latin]
    assert language_of("") == language_of("北京的天气") == language_of("Zoë Moor, 1984") == "en"


# Misleading words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What led to the strike?", "why"),
        ("What did the strike lead to?", "consequence"),
        ("As a result of what was the strike called?", "why"),
        ("What happened when the dam burst?", "consequence"),
        ("Who was at home when the dam burst?", "fact"),
        ("Why don't we go to the dam?", "fact"),
        ("What is the next eclipse visible from here?", "next"),
        ("When is the next eclipse?", "when"),
        ("Who lives next door?", "fact"),
        ("What does the hut look like?", "fact"),
        ("Can you tell me why the hut is empty?", "why"),
        ("是什么导致了罢工？", "why"),
        ("罢工导致了什么？", "consequence"),
        ("墙上是谁的画像？", "fact"),
        ("墙上的人长得像谁？", "like"),
    ],
)
def test_words_that_mislead_do_not(judge: OfflineQuestionJudge, text: str, kind: str) -> None:
    assert judge.judge(text).kind.value == kind


def test_only_the_sentence_that_asks_is_read_for_cues() -> None:
    reading = read_question("They left because of the rain, and a year later returned. Where did they live?")
    assert {cue.kind for cue in reading.cues} == {QuestionKind.FACT}


# Behaviours


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!", "……", "？"])
def test_text_without_words_is_a_fact_of_no_strength(wordy: OfflineQuestionJudge, text: str) -> None:
    assert wordy.judge(text) == QuestionJudgement(QuestionKind.FACT, 0.0, "it has no words")


@pytest.mark.parametrize(
    "text",
    [
        "Ana went to the market and bought pears.",
        "When the rain stopped, they went home.",
        "The reason was simple.",
        "harbour ice winter 1912",
        "What a lovely day!",
        "他们下午去了河边。",
        "灯塔 建造",
    ],
)
def test_statements_and_keywords_are_facts_of_low_strength(wordy: OfflineQuestionJudge, text: str) -> None:
    judged = wordy.judge(text)
    assert judged.kind is QuestionKind.FACT
    assert judged.strength <= 0.2


@pytest.mark.parametrize("filler", ["word ", "what ", "没有标点", "a.b ", "! "])
def test_very_long_text_is_judged_by_its_ends(wordy: OfflineQuestionJudge, filler: str) -> None:
    judged = wordy.judge(filler * 30_000 + ". Why did they leave?")
    assert judged.kind is QuestionKind.WHY


def test_reason_quotes_the_cue(wordy: OfflineQuestionJudge) -> None:
    assert '"how come"' in wordy.judge("How come the soup turns bitter?").reason


def test_strength_lies_between_0_and_1_and_cues_are_surer_than_none(judge: OfflineQuestionJudge) -> None:
    sure, unsure = judge.judge("Why did the mill close?"), judge.judge("What gives with the mill?")
    assert 0 < unsure.strength < sure.strength <= 1


def test_vector_of_the_caller_changes_nothing(judge: OfflineQuestionJudge, bundled: Embedder) -> None:
    for _, _, question in ASKED[::10]:
        assert judge.judge(question, bundled.embed_queries([question])[0]) == judge.judge(question)


def test_vector_of_the_caller_saves_embedding() -> None:
    embedder = CountingEmbedder()
    judge = OfflineQuestionJudge(embedder)
    judge.judge("Why?", np.ones(fitted_kinds().mean.size, dtype=np.float32))
    assert embedder.calls == []
    judge.judge("Why?")
    assert embedder.calls == [1]


def test_vector_of_another_embedder_is_refused(judge: OfflineQuestionJudge) -> None:
    with pytest.raises(InputError):
        judge.judge("Why?", np.ones(3, dtype=np.float32))


def test_threads_agree(judge: OfflineQuestionJudge) -> None:
    texts = [question for _, _, question in ASKED[::6]] * 4
    with ThreadPoolExecutor(8) as pool:
        judged = list(pool.map(judge.judge, texts))
    assert judged == [judge.judge(text) for text in texts]


@pytest.mark.parametrize("text", ["Die Pumpe war kaputt.", "La pompe est en panne.", "La bomba no funciona."])
def test_a_foreign_statement_asks_nothing(text: str) -> None:
    assert not read_question(text).is_question


def test_the_cues_of_a_statement_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(question_cues, "_cues")
    assert OfflineQuestionJudge(HashEmbedder()).judge("Ann lives in Bergen.").strength < 0.5


@pytest.mark.parametrize("text", ["Sag mir, wann er fährt.", "Dis-moi où est la clé.", "Dime dónde está."])
def test_a_foreign_request_asks(text: str) -> None:
    assert read_question(text).is_question
