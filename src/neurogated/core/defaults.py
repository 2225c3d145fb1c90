"""The models for a part that is built without them, as in `NeuroRetriever(store, config)`.

The composition root builds these models. The parts lie in lower layers and cannot import it, so the package registers
a builder here. `import neurogated` does so, so this module loads neither numpy nor the contracts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, KernelSource, LanguageModel, QuestionJudge


@dataclass(frozen=True, slots=True)
class Models:
    """The models that settings name, and the judges that use them."""

    config: Any
    """The `MemoryConfig`, a class that core cannot import."""
    embedder: Embedder
    kernel_source: KernelSource
    question_judge: QuestionJudge
    """Uses a language model if the settings name one."""
    offline_question_judge: QuestionJudge
    causal_judge: CausalJudge
    entity_finder: EntityFinder
    encoder: Any
    """The `Encoder` of importance and energy."""
    language_model: LanguageModel | None = None


_builders: list[Callable[[Any], Models]] = []


def set_default_models(build: Callable[[Any], Models]) -> None:
    """Register `build` as the function that `default_models` calls."""
    _builders[:] = [build]


def default_models(config: Any = None) -> Models:  # noqa: ANN401 - see `Models.config`
    """Return the models that a `MemoryConfig` names, else the environment and the defaults; raises ConfigError."""
    return _builders[-1](config)
