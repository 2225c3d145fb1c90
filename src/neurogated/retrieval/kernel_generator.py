"""Chooses the modulation kernel of a question by its kind.

Cues in five languages, a trained judge or a language model tell the kind, and how sure it is.
"""

from __future__ import annotations

import dataclasses
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from itertools import groupby, repeat
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.defaults import default_models
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.kernel import DIMENSIONS, Kernel
from neurogated.core.outage import answer_within
from neurogated.core.ports import Embedder, LanguageModel, QuestionJudge
from neurogated.core.rendering import TIME
from neurogated.errors import ConfigError, InputError, LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import Language, language_of
from neurogated.text.strings import table_of
from neurogated.text.times import MONTHS, WEEKDAYS, any_of

_KINDS = tuple(QuestionKind)
_TABLE = table_of(__package__, "question_cues")
_PARTS = {
    **_TABLE["parts"],
    "WEEKDAY": f"(?:{any_of(WEEKDAYS['en'])})",
    "PART_OF_YEAR": f"(?:{_TABLE['parts']['PART_OF_YEAR']}|{any_of(MONTHS['en'])})",
}
# Cues are at the beginning or the end of a question. A long text between them would only cost time.
_LONGEST_END = 300
# Replaces each letter of hidden words. For the patterns it is a letter of an unknown word.
_HIDDEN = "_"
_WORD_START = r"\b"
# A token of a pattern: an escape, a set of characters, or one character.
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]])*\]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of a question that indicate its kind."""

    kind: QuestionKind
    text: str
    """The words of the question, in lower case."""
    is_strong: bool
    """Whether nearly all questions with these words have this kind; else only most of them."""


@dataclass(frozen=True)
class QuestionReading:
    """The cues of a text."""

    part: str
    """The sentences that ask, or else the whole text, in lower case."""
    language: Language
    has_scene: bool
    """Whether other sentences stand beside that part."""

    @property
    def is_question(self) -> bool:
        """Whether the text asks or requests something; a statement and a list of keywords do not."""
        asks = _ASKING.get(self.language, _ASKS_OR_REQUESTS)
        return bool(_QUESTION_MARK.search(self.part) or asks.search(self.part))

    @cached_property
    def cues(self) -> tuple[Cue, ...]:
        """In the order of the rules; the first takes precedence."""
        part = self.part
        latin = _matches(part, _GROUPS[self.language]) if _LATIN.search(part) else ()
        return (*latin, *(_matches(part, _GROUPS["zh"]) if _HAN.search(part) else ()))

    @property
    def features(self) -> NDArray[np.float32]:
        """0–1: strong and weak cues of each kind, opening, lack of cues, Chinese, sentences before the question."""
        counts, kinds = [0.0] * (2 * len(_KINDS)), len(_KINDS)
        for cue in self.cues:
            place = _KINDS.index(cue.kind) + (0 if cue.is_strong else kinds)
            counts[place] = min(1.0, counts[place] + 0.5 + 0.5 * cue.is_strong)
        heads = [head.search(self.part) is not None for head in _HEADS[self.language]]
        states = not any(counts[:kinds]), not self.cues, _HAN.search(self.part) is not None, self.has_scene
        return np.array([*counts, *heads, *states], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: QuestionKind | None
    """None hides the words."""
    is_strong: bool
    pattern: re.Pattern[str]


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"@([A-Z_]+)", lambda name: _PARTS[name[1]], pattern.replace("\n", "")))


class _Group(NamedTuple):
    """Consecutive rules, and one pattern that matches if one of theirs does."""

    rules: tuple[_Rule, ...]
    any_of: re.Pattern[str]

    @classmethod
    def of(cls, rules: Iterable[_Rule]) -> _Group:
        """Return the group of some rules.

        Alternatives that begin with a word are joined, so that they are tried only where a word begins.
        """
        group = tuple(rules)
        ways = [way for rule in group for way in _alternatives(rule.pattern.pattern)]
        words = [way.removeprefix(_WORD_START) for way in ways if way.startswith(_WORD_START)]
        others = [way for way in ways if not way.startswith(_WORD_START)]
        return cls(group, re.compile("|".join([*others, *([rf"{_WORD_START}(?:{'|'.join(words)})"] if words else [])])))


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the outermost alternatives of a pattern."""
    begin = depth = 0
    for token in _TOKEN.finditer(pattern):
        depth += (token[0] == "(") - (token[0] == ")")
        if token[0] == "|" and not depth:
            yield pattern[begin : token.start()]
            begin = token.end()
    yield pattern[begin:]


def _rules(table: str) -> Iterator[_Rule]:
    kind: QuestionKind | None = None
    is_strong = False
    for line in table.replace("|\n", "|").strip().splitlines():
        if line.startswith("= "):
            heading = line.removeprefix("= ").split()
            kind = None if heading == ["hide"] else QuestionKind(heading[0])
            is_strong = heading[-1] == "strong"
        else:
            yield _Rule(kind, is_strong, _compile(line))


_GROUPS = {
    language: tuple(_Group.of(rules) for _, rules in groupby(_rules(table), key=attrgetter("kind", "is_strong")))
    for language, table in _TABLE["rules"].items()
}

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]")
_SENTENCE = re.compile(r"[^.!?。！？]*(?:[.!](?!\s)[^.!?。！？]*)*[.!?。！？]*")
_QUESTION_MARK = re.compile(r"[?？]\W*$")
_INTERROGATIVE, _ASKS_OR_REQUESTS = _compile(_TABLE["interrogative"]), _compile(_TABLE["asks_or_requests"])

_MOST_HEADS = max(map(len, _TABLE["heads"].values()))
_NEVER = re.compile(r"(?!)")
_HEADS: dict[Language, tuple[re.Pattern[str], ...]] = {
    language: (
        *(_compile(head if language != "en" else f"@OPENING{head}") for head in heads),
        *repeat(_NEVER, _MOST_HEADS - len(heads)),
    )
    for language, heads in _TABLE["heads"].items()
}
_ASKING: dict[Language, re.Pattern[str]] = {
    language: re.compile(pattern) for language, pattern in _TABLE["asking"].items()
}


def has_interrogative(text: str) -> bool:
    """Return whether a text has a word that asks, such as "who"."""
    return bool(interrogatives_of(text))


def interrogatives_of(text: str) -> list[int]:
    """Return where the words that ask begin, ascending."""
    lower = text.lower()
    return [found.start() for found in _ASKING.get(language_of(lower), _INTERROGATIVE).finditer(lower)]


def read_question(text: str) -> QuestionReading:
    """Return the cues of a text."""
    whole = " ".join(text.replace("’", "'").lower().split())
    if len(whole) > 2 * _LONGEST_END:
        whole = f"{whole[:_LONGEST_END]} {whole[-_LONGEST_END:]}"
    asking = " ".join(s.strip() for s in _SENTENCE.findall(whole) if _QUESTION_MARK.search(s))
    language = language_of(whole)
    part = asking if _ASKING.get(language, _INTERROGATIVE).search(asking) else whole
    # Many questions for the next event begin with a sentence that describes the scene.
    return QuestionReading(part, language, has_scene=len(part) < len(whole))


def _matches(part: str, groups: tuple[_Group, ...]) -> Iterator[Cue]:
    left = part
    for group in groups:
        # If the pattern of the group does not match, no rule of the group matches or hides words.
        for rule in group.rules if group.any_of.search(left) else ():
            found = rule.pattern.search(left)
            while found and found.group().strip(_HIDDEN + " "):
                start, end = found.span()
                if rule.kind is not None:
                    yield Cue(rule.kind, part[start:end].strip(), rule.is_strong)
                # Hidden words keep their length, so that positions and distances stay correct for later patterns.
                left = left[:start] + _HIDDEN * (end - start) + left[end:]
                found = rule.pattern.search(left)


# A text that is no question is judged as one for a fact, with a low strength.
_STATEMENT_STRENGTH = 0.1

FITTED = "question_kinds.npz"
"""The file of the weights, written by `tools/fit_questions.py`."""


class FittedKinds(NamedTuple):
    """Logistic regressions of the kinds: over cues and the vectors of one embedder, and over cues alone."""

    embedder: str
    """Name of the embedder."""
    kinds: tuple[QuestionKind, ...]
    mean: NDArray[np.float32]
    """Mean of the examples' vectors (dimension,). Many models put all texts into one corner of their space."""
    weights: NDArray[np.float64]
    """(kinds, dimension + cue features)"""
    biases: NDArray[np.float32]
    cue_weights: NDArray[np.float64]
    """(kinds, cue features)"""
    cue_biases: NDArray[np.float32]

    def probabilities(self, cues: NDArray[np.float32], vector: NDArray[np.float32] | None) -> NDArray[np.float64]:
        """Return the probability of each kind (kinds,) for a question with these cue features; None: by cues alone."""
        logits: NDArray[np.float64]
        if vector is None:
            logits = self.cue_weights @ cues + self.cue_biases
        else:
            logits = self.weights @ np.concatenate([vector - self.mean, cues]) + self.biases
        powers = np.exp(logits - np.maximum.reduce(logits))
        probabilities: NDArray[np.float64] = powers / np.add.reduce(powers)
        return probabilities


@lru_cache(maxsize=1)
def fitted_kinds() -> FittedKinds:
    """Return the weights that come with the package."""
    with resources.as_file(resources.files(__package__) / FITTED) as path, np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
        arrays |= {name: arrays[name].astype(np.float64) for name in ("weights", "cue_weights")}
    kinds = tuple(map(QuestionKind, arrays.pop("kinds").tolist()))
    return FittedKinds(embedder=str(arrays.pop("embedder")), kinds=kinds, **arrays)


class OfflineQuestionJudge:
    """Logistic regression over embeddings and cue words.

    The weights come with the package. With an embedder other than the bundled one, the cues alone decide. The strength
    is the probability of the kind in the regression. Several threads may use one judge.
    """

    def __init__(self, embedder: Embedder) -> None:
        """Take the embedder that makes the vectors of questions."""
        self._embedder = embedder

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return kind, strength and reason; `vector`: (dimension,), the embedding of `query` by `embed_queries`.

        Raises:
            InputError: `vector` does not have the embedder's dimension.
            EmbeddingError: the embedder failed.
        """
        if not any(character.isalnum() for character in query):
            return QuestionJudgement(QuestionKind.FACT, 0.0, "it has no words")
        reading = read_question(query)
        if not reading.is_question:
            return QuestionJudgement(
                QuestionKind.FACT, _STATEMENT_STRENGTH, "it is no question but a statement or keywords"
            )
        fitted = fitted_kinds()
        probabilities = fitted.probabilities(reading.features, self._vector(query, vector, fitted))
        best = int(probabilities.argmax())
        kind = fitted.kinds[best]
        speaking = sorted((cue for cue in reading.cues if cue.kind is kind), key=lambda cue: not cue.is_strong)
        reason = f'says "{speaking[0].text}"' if speaking else "by its meaning, without a cue word"
        return QuestionJudgement(kind, float(probabilities[best]), reason)

    def _vector(self, query: str, given: NDArray[np.float32] | None, fitted: FittedKinds) -> NDArray[np.float32] | None:
        """Return the vector of a question, or None if the weights belong to another embedder."""
        if self._embedder.name != fitted.embedder:
            return None
        vector = self._embedder.embed_queries([query])[0] if given is None else np.asarray(given, dtype=np.float32)
        if vector.shape != fitted.mean.shape:
            raise InputError(f"the vector of a question has shape {vector.shape}, but must have {fitted.mean.shape}")
        return vector


class LLMQuestionJudge:
    """Asks a language model for the kind of a question and a strength, both as words and never as numbers."""

    def __init__(
        self, llm: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig, *, deadline: float
    ) -> None:
        """Take the model, its prompts and the settings, and the seconds that it has to answer."""
        self._llm, self._prompts, self._config, self._deadline = llm, prompts, config, deadline

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:  # noqa: ARG002 - the port's
        """Return the model's judgement.

        Raises:
            LLMError: the model failed or missed the deadline. The cache keeps a late answer for the next time.
        """
        messages, schema = (
            self._prompts.render("kernel_generation", query=query),
            self._prompts.schema("kernel_generation"),
        )
        try:
            answer = answer_within(self._deadline, lambda: self._llm.infer_json(messages, schema), "kernel")
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the question within {self._deadline:g} seconds; "
                "choose a faster model, or take 'model' out of retrieval.kernels"
            ) from None
        return QuestionJudgement(
            QuestionKind(answer["kind"]), self._config.llm.strength(answer["strength"]), str(answer["reason"])
        )


_log = logging.getLogger(__name__)

DEFAULT_KERNELS = """
    fact: MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0;
    why: CAUSE=2.0, MENTION=2.0, TERM=1.0, SEQ=0.1/0.3, SIM=0.1, ASSOC=1.0, @cause=1.0;
    consequence: CAUSE=1.5, MENTION=2.0, TERM=1.0, SEQ=0.4/0.1, SIM=0.2, ASSOC=1.0, @effect=1.0;
    when: MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0, @time=1.0;
    next: SEQ=0.8/0.1, MENTION=2.0, TERM=1.0, SIM=0.1, CAUSE=0.8, ASSOC=1.0;
    like: SIM=0.4, MENTION=2.0, TERM=1.0, SEQ=0.4, CAUSE=0.2, ASSOC=1.0;
    latest: MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0, @newest=1.0
"""
"""The kernels of the kinds of questions, in the form of the setting `retrieval.kernels`."""


UNIFORM, MODEL = "uniform", "model"
"""Words of the setting: one kernel with equal weights; a language model chooses the kind (see `asks_model`)."""


class UniformKernelSource:
    """Gives every question the same kernel, with the same weight for every edge type."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:  # noqa: ARG002 - the port's
        """Return the kernel with all weights 1."""
        return Kernel()


class KernelGenerator:
    """Asks a judge for the kind of a question and the strength of this judgement, and derives the kernel.

    There is a kernel for each kind. A judgement of strength *s* gives the weights f + s · (k - f), with the
    weights *k* of its kind and *f* of plain facts. So a question of unclear kind has almost the kernel of plain facts.
    """

    def __init__(
        self,
        config: MemoryConfig | None = None,
        *,
        judge: QuestionJudge | None = None,
        fallback: QuestionJudge | None = None,
        concurrency: int = 1,
    ) -> None:
        """Take the judge to ask.

        Args:
            config: its setting `retrieval.kernels` has other kernels of the kinds. Default: read from the
                environment, or the default values if `judge` is given.
            judge: asked first. Default: the judge that `config` names.
            fallback: asked if `judge` fails with an LLMError; a note in the kernel then says so.
            concurrency: concurrent calls of `judge` for a batch; more than 1 pays if it waits for a server.

        Raises:
            ConfigError: a kernel in the settings cannot be read.
        """
        if judge is None:
            models = default_models(config)
            judge, fallback, config = models.question_judge, models.offline_question_judge, models.config
        config = MemoryConfig() if config is None else config
        self._judge = judge
        self._fallback = fallback
        self._concurrency = concurrency
        text = None if config.retrieval.kernels == UNIFORM else config.retrieval.kernels
        kernels = {}
        for entry in filter(str.strip, ";".join((DEFAULT_KERNELS, text or "")).split(";")):
            if entry.strip() == MODEL:
                continue
            name, _, weights = entry.partition(":")
            try:
                kind = QuestionKind(name.strip().lower())
            except ValueError:
                told = f"{name.strip()!r}, which is no kind of question: {', '.join(one.value for one in QuestionKind)}"
                raise ConfigError(f"retrieval.kernels has {told}") from None
            try:
                kernels[kind] = Kernel.parse(weights.strip(), kind.value)
            except (InputError, ConfigError) as error:
                told = f"a kernel for {name.strip()} that cannot be read: {error}"
                raise ConfigError(f"retrieval.kernels has {told}") from None
        known = {TIME, *DIMENSIONS}
        if unknown := sorted({tag for kernel in kernels.values() for tag in kernel.tags} - known):
            there = ", ".join(f"@{tag}" for tag in sorted(known))
            raise ConfigError(f"retrieval.kernels has @{unknown[0]}, a tag that no memory has; there is {there}")
        self._kernels = kernels

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:
        """Return the kernel for `query`.

        Raises:
            LLMError: the judge failed and there is no fallback.
        """
        try:
            return self._derive(self._judge.judge(query, vector))
        except LLMError as error:
            if self._fallback is None:
                raise
            _log.warning("the language model failed, so the offline judge chooses the kernel: %s", error)
            kernel = self._derive(self._fallback.judge(query, vector))
            return dataclasses.replace(
                kernel, note=f"the language model failed, so the offline judge chose the kernel: {error}"
            )

    def generate_batch(self, queries: Sequence[str], vectors: NDArray[np.float32]) -> list[Kernel]:
        """Return the kernel for each query; `vectors`: (n, dimension), their embeddings.

        Raises:
            LLMError: the judge failed and there is no fallback.
        """
        if self._concurrency == 1 or len(queries) <= 1:
            return list(map(self.generate, queries, vectors))
        with ThreadPoolExecutor(min(self._concurrency, len(queries))) as threads:
            return list(threads.map(self.generate, queries, vectors))

    def _derive(self, judgement: QuestionJudgement) -> Kernel:
        return self._kernels[QuestionKind.FACT].towards(
            self._kernels[judgement.kind],
            judgement.strength,
            f"{judgement.kind.value} question ({judgement.strength:.0%} clear): {judgement.reason}",
        )
