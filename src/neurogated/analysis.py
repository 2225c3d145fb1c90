"""Two judgements as plain functions, under the names of the specification."""

from typing import Any

from neurogated.core.kernel import EdgeWeights
from neurogated.core.ports import CausalJudge, KernelSource
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.retrieval.kernel_generator import KernelGenerator


def extract_causal_edges(first: str, second: str, *, judge: CausalJudge | None = None) -> tuple[bool, float]:
    """Return whether one of two texts causes the other, and the weight of the link, 0–1.

    Args:
        first: the earlier text.
        second: the later text.
        judge: the judge; the offline judge when left out.
    """
    judgement = (judge or OfflineCausalJudge()).judge(first, second)
    return judgement.is_causal, judgement.weight


def generate_kernel(query: str, *, source: KernelSource | None = None) -> dict[str, Any]:
    """Return the kernel of a question as `{"weights": {EdgeType: 0–2}, "justification": text}`.

    Args:
        query: the question.
        source: the kernel source; built from the environment and the defaults when left out.
    """
    kernel = (source or KernelGenerator()).generate(query)
    return {"weights": EdgeWeights(kernel.weights), "justification": kernel.justification}
