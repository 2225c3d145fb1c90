"""From a judgement to weights, and the failure of the judge."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import EdgeType, Kernel, MemoryConfig
from neurogated.config.groups import RetrievalSettings
from neurogated.core.judgements import QuestionJudgement, QuestionKind
from neurogated.errors import LLMError
from neurogated.retrieval.kernel_generator import DEFAULT_KERNELS, KernelGenerator


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
