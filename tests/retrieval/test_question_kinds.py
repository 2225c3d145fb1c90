"""Offline judgement of questions: its accuracy on invented questions, and its promises."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.ports import Embedder, QuestionJudge
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
from neurogated.errors import ConfigError, InputError
from neurogated.retrieval import question_kinds
from neurogated.retrieval.question_cues import read_question
from neurogated.retrieval.question_kinds import FITTED, OfflineQuestionJudge, QuestionExample, load_examples
from neurogated.retrieval.question_learning import LearnedKinds, learn

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDS = 5
# Typical words of each kind. A fact has no such words.
USUAL_CUES = {
    QuestionKind.WHY: r"\b(why|reasons?|causes?|caused|because|how come|led to)\b|为什么|为何|原因|怎么会|何以",
    QuestionKind.CONSEQUENCE: r"\b(results?|consequences?|effects?|affect\w*|impact|outcome|lead to|happens)\b"
    r"|结果|后果|影响|导致|带来",
    QuestionKind.WHEN: r"\b(when|what time|date|year|how long|what day|month)\b|什么时候|何时|哪一?年|几点|多久|先后",
    QuestionKind.NEXT: r"\b(next|after|afterwards|then|follow\w*)\b|接下来|接着|然后|之后|下一步",
    QuestionKind.LIKE: r"\b(like|similar\w*|resembl\w+|compar\w+|remind\w*|analog\w+|alike|in common)\b"
    r"|类似|相似|像|好比|一样",
    QuestionKind.FACT: r"\b(who|where|how many|how much)\b|谁|哪里|多少",
}


@dataclass(frozen=True)
class Asked:
    kind: QuestionKind
    language: str
    has_cue: bool
    text: str


def _read(name: str) -> list[Asked]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [Asked(QuestionKind(kind), language, cue == "yes", text) for kind, language, cue, text in rows]


LABELLED = _read("questions_labelled.tsv")
PARAPHRASES = _read("questions_paraphrases.tsv")
EXAMPLES = load_examples()


class CountingEmbedder(HashEmbedder):
    """Records how many texts it was given at a time."""

    def __init__(self) -> None:
        # A fit belongs to the name of its embedder, and lasts as long as the process.
        self.name = f"counting-{uuid4()}"
        self.calls: list[int] = []

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        return super().embed_queries(texts)


@pytest.fixture(scope="module")
def minilm() -> Iterator[SentenceTransformersEmbedder]:
    embedder = SentenceTransformersEmbedder("all-MiniLM-L6-v2", batch_size=32)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def judge(minilm: SentenceTransformersEmbedder) -> OfflineQuestionJudge:
    return OfflineQuestionJudge(minilm)


def test_the_fit_of_the_package_is_that_of_its_examples(minilm: SentenceTransformersEmbedder) -> None:
    packaged = LearnedKinds.load(Path(question_kinds.__file__).with_name(FITTED), minilm.name, EXAMPLES)
    learned = learn(EXAMPLES, minilm)
    assert np.abs(packaged.vectors - learned.vectors).max() < 0.01
    assert np.abs(packaged.weights - learned.weights).max() < 0.01 * np.abs(learned.weights).max()


@pytest.fixture(scope="module")
def wordy() -> OfflineQuestionJudge:
    """Return the judge with the embedder that needs no model."""
    return OfflineQuestionJudge(HashEmbedder())


def _judged(judge: QuestionJudge, embedder: Embedder, asked: Sequence[Asked]) -> list[QuestionKind]:
    vectors = embedder.embed_queries([one.text for one in asked])
    return [judge.judge(one.text, vector).kind for one, vector in zip(asked, vectors, strict=True)]


def _accuracy(judge: QuestionJudge, embedder: Embedder, asked: Sequence[Asked]) -> float:
    kinds = _judged(judge, embedder, asked)
    wrong = [
        f"{one.kind.value} taken for {kind.value}: {one.text}"
        for one, kind in zip(asked, kinds, strict=True)
        if kind is not one.kind
    ]
    # Pytest shows this if the next assertion fails.
    print(*wrong, sep="\n")  # noqa: T201
    return 1 - len(wrong) / len(asked)


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


# The questions themselves


def test_labelled_questions_are_many_of_every_kind_and_in_both_languages() -> None:
    assert len(LABELLED) >= 360
    assert min(Counter(one.kind for one in LABELLED).values()) >= 60
    assert 0.3 <= sum(one.language == "zh" for one in LABELLED) / len(LABELLED) <= 0.4


def test_paraphrases_are_many_of_every_kind() -> None:
    english = [one for one in PARAPHRASES if one.language == "en"]
    assert len(english) >= 120
    assert min(Counter(one.kind for one in english).values()) >= 18
    assert len(PARAPHRASES) - len(english) >= 24


def test_paraphrases_do_without_the_usual_cue_words() -> None:
    with_cue = [
        one.text
        for one in PARAPHRASES
        if one.kind is not QuestionKind.FACT and re.search(USUAL_CUES[one.kind], one.text.lower())
    ]
    assert with_cue == []


def test_examples_of_the_package_are_no_test_questions() -> None:
    shipped = {_plain(example.text) for example in EXAMPLES}
    tested = {_plain(one.text) for one in [*LABELLED, *PARAPHRASES]}
    assert len(shipped) == len(EXAMPLES)
    assert len(tested) == len(LABELLED) + len(PARAPHRASES)
    assert not shipped & tested
    for text in shipped:
        words = set(text.split())
        near = [other for other in tested if len(words & set(other.split())) > 0.8 * len(words | set(other.split()))]
        assert near == []


def test_examples_of_the_package_are_no_questions_of_the_bundled_data_set() -> None:
    asked = {_plain(record["question"]) for record in _sample()}
    assert not asked & {_plain(example.text) for example in EXAMPLES}


def test_examples_of_the_package_are_spread_over_kinds_and_languages() -> None:
    chinese = Counter(example.kind for example in EXAMPLES if re.search(r"[\u4e00-\u9fff]", example.text))
    english = Counter(example.kind for example in EXAMPLES)
    english.subtract(chinese)
    assert min(chinese[kind] for kind in QuestionKind) >= 12
    assert min(english[kind] for kind in QuestionKind) >= 30


# Accuracy


def test_learner_holds_on_questions_it_was_not_fitted_to(minilm: SentenceTransformersEmbedder) -> None:
    shuffled = random.Random(0).sample(LABELLED, len(LABELLED))
    # In order of kind, every fifth question gives folds with equal shares of the kinds.
    asked = sorted(shuffled, key=lambda one: one.kind.value)
    right = 0.0
    for fold in range(FOLDS):
        held_out = asked[fold::FOLDS]
        examples = [QuestionExample(one.text, one.kind) for one in asked if one not in held_out]
        right += _accuracy(OfflineQuestionJudge(minilm, examples), minilm, held_out) * len(held_out)
    assert right / len(LABELLED) >= 0.9


@pytest.mark.parametrize(("language", "least"), [("en", 0.9), ("zh", 0.88)])
def test_labelled_questions_are_told_apart(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder, language: str, least: float
) -> None:
    assert _accuracy(judge, minilm, LABELLED) >= 0.9
    assert _accuracy(judge, minilm, [one for one in LABELLED if one.language == language]) >= least


@pytest.mark.parametrize("language", ["en", "zh"])
def test_paraphrases_without_cue_are_told_apart(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder, language: str
) -> None:
    assert _accuracy(judge, minilm, [one for one in PARAPHRASES if one.language == language]) >= 0.75


def test_causes_are_hardly_ever_taken_for_consequences(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder
) -> None:
    pair = {QuestionKind.WHY, QuestionKind.CONSEQUENCE}
    asked = [one for one in [*LABELLED, *PARAPHRASES] if one.kind in pair]
    kinds = _judged(judge, minilm, asked)
    swapped = [one.text for one, kind in zip(asked, kinds, strict=True) if kind is not one.kind and kind in pair]
    assert len(swapped) <= 0.04 * len(asked), swapped


def test_cues_carry_the_judgement_where_the_embedder_knows_no_meanings(wordy: OfflineQuestionJudge) -> None:
    assert _accuracy(wordy, HashEmbedder(), [one for one in LABELLED if one.has_cue]) >= 0.8


def test_questions_of_the_bundled_data_set_are_told_apart(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder
) -> None:
    # Those that name a place or a feeling may ask for anything.
    kinds = {kind.value: kind for kind in QuestionKind} | {"two-hop": QuestionKind.FACT}
    asked = [Asked(kinds[one["kind"]], "en", False, one["question"]) for one in _sample() if one["kind"] in kinds]
    assert _accuracy(judge, minilm, asked) >= 0.8


def test_strength_is_about_how_often_the_judge_is_right(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder
) -> None:
    vectors = minilm.embed_queries([one.text for one in PARAPHRASES])
    judged = [judge.judge(one.text, vector) for one, vector in zip(PARAPHRASES, vectors, strict=True)]
    right = np.array([one.kind is given.kind for one, given in zip(PARAPHRASES, judged, strict=True)])
    strengths = np.array([given.strength for given in judged])
    assert strengths[right].mean() > strengths[~right].mean()
    assert right[strengths >= 0.9].mean() >= 0.9


def _sample() -> list[dict[str, str]]:
    records: list[dict[str, str]] = json.loads((ROOT / "dataset" / "sample.json").read_text(encoding="utf-8"))
    return records


# Misleading words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What led to the strike?", "why"),
        ("What did the strike lead to?", "consequence"),
        ("As a result of what was the strike called?", "why"),
        ("What was the result of the strike?", "consequence"),
        ("What could cause the fan to stop?", "why"),
        ("What could the fan cause?", "consequence"),
        ("When did the dam burst?", "when"),
        ("What happened when the dam burst?", "consequence"),
        ("Who was at home when the dam burst?", "fact"),
        ("Why don't we go to the dam?", "fact"),
        ("What is the next eclipse visible from here?", "next"),
        ("When is the next eclipse?", "when"),
        ("Who lives next door?", "fact"),
        ("Does Ira like plums?", "fact"),
        ("Which plums are like these?", "like"),
        ("What does the hut look like?", "fact"),
        ("Can you tell me why the hut is empty?", "why"),
        ("I wonder when the hut was built.", "when"),
        ("这场罢工的原因是什么？", "why"),
        ("这场罢工的结果是什么？", "consequence"),
        ("是什么导致了罢工？", "why"),
        ("罢工导致了什么？", "consequence"),
        ("罢工是什么时候开始的？", "when"),
        ("罢工的时候谁在厂里？", "fact"),
        ("墙上是谁的画像？", "fact"),
        ("墙上的人长得像谁？", "like"),
    ],
)
def test_words_that_mislead_do_not(judge: OfflineQuestionJudge, text: str, kind: str) -> None:
    assert judge.judge(text).kind.value == kind


def test_reason_and_result_differ_by_one_word_in_chinese_too(wordy: OfflineQuestionJudge) -> None:
    assert wordy.judge("比赛取消的原因是什么？").kind is QuestionKind.WHY
    assert wordy.judge("比赛取消的结果是什么？").kind is QuestionKind.CONSEQUENCE


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


def test_reason_quotes_the_cue_and_the_nearest_example(wordy: OfflineQuestionJudge) -> None:
    judged = wordy.judge("How come the soup turns bitter?")
    assert judged.reason == 'says "how come"; nearest example: Why does the soup turn bitter?'


def test_strength_lies_between_0_and_1_and_cues_are_surer_than_none(judge: OfflineQuestionJudge) -> None:
    sure, unsure = judge.judge("Why did the mill close?"), judge.judge("What gives with the mill?")
    assert 0 < unsure.strength < sure.strength <= 1


def test_two_judges_agree_to_the_last_digit(judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder) -> None:
    other = OfflineQuestionJudge(minilm)
    for one in PARAPHRASES[::10]:
        assert other.judge(one.text) == judge.judge(one.text)


def test_vector_of_the_caller_changes_nothing(
    judge: OfflineQuestionJudge, minilm: SentenceTransformersEmbedder
) -> None:
    for one in LABELLED[::40]:
        assert judge.judge(one.text, minilm.embed_queries([one.text])[0]) == judge.judge(one.text)


def test_vector_of_the_caller_saves_embedding() -> None:
    embedder = CountingEmbedder()
    judge = OfflineQuestionJudge(embedder)
    assert embedder.calls == []
    vector = HashEmbedder().embed_queries(["Why?"])[0]
    judge.judge("Why?", vector)
    judge.judge("Why?", vector)
    assert embedder.calls == [len(EXAMPLES)]
    judge.judge("Why?")
    assert embedder.calls == [len(EXAMPLES), 1]


def test_vector_of_another_embedder_is_refused(wordy: OfflineQuestionJudge) -> None:
    with pytest.raises(InputError):
        wordy.judge("Why?", np.ones(3, dtype=np.float32))


def test_threads_share_one_fit_and_agree() -> None:
    embedder = CountingEmbedder()
    judge = OfflineQuestionJudge(embedder)
    texts = [one.text for one in LABELLED[::20]] * 4
    with ThreadPoolExecutor(8) as pool:
        judged = list(pool.map(judge.judge, texts))
    assert judged == [judge.judge(text) for text in texts]
    assert embedder.calls.count(len(EXAMPLES)) == 1


def test_examples_of_two_kinds_suffice() -> None:
    why, when = QuestionKind.WHY, QuestionKind.WHEN
    judge = OfflineQuestionJudge(
        HashEmbedder(), [QuestionExample("Why is it cold?", why), QuestionExample("When was it cold?", when)]
    )
    assert judge.judge("Why did it snow?").kind is why
    assert judge.judge("When did it snow?").kind is when


def test_examples_of_one_kind_are_refused() -> None:
    with pytest.raises(ConfigError):
        OfflineQuestionJudge(HashEmbedder(), [QuestionExample("Why?", QuestionKind.WHY)])
