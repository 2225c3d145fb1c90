"""Chooses the modulation kernel of a question."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.defaults import default_models
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.core.kernel import DIMENSIONS, Kernel
from neurogated.core.outage import answer_within
from neurogated.core.ports import LanguageModel, QuestionJudge
from neurogated.core.rendering import TIME
from neurogated.errors import ConfigError, InputError, LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager

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
