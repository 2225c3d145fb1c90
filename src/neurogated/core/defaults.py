"""The models for a part that is built without them, as in `NeuroRetriever(store, config)`.

The composition root builds these models. The parts lie in lower layers and cannot import it, so the package registers
a builder here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, KernelSource, QuestionJudge


class DefaultModels(Protocol):
    """The models that a configuration names."""

    @property
    def config(self) -> Any:  # noqa: ANN401 - a MemoryConfig, which core cannot import
        """The configuration."""

    @property
    def embedder(self) -> Embedder:
        """Computes the vectors of texts."""

    @property
    def kernel_source(self) -> KernelSource:
        """Computes the kernel of a question."""

    @property
    def question_judge(self) -> QuestionJudge:
        """Classifies a question; uses a language model if the configuration names one."""

    @property
    def offline_question_judge(self) -> QuestionJudge:
        """Classifies a question without a language model."""

    @property
    def causal_judge(self) -> CausalJudge:
        """Decides whether one text causes another."""

    @property
    def entity_finder(self) -> EntityFinder:
        """Finds names in texts."""


_builders: list[Callable[[Any], DefaultModels]] = []


def set_default_models(build: Callable[[Any], DefaultModels]) -> None:
    """Register `build` as the function that `default_models` calls."""
    _builders[:] = [build]


def default_models(config: Any = None) -> DefaultModels:  # noqa: ANN401 - see `DefaultModels.config`
    """Return the models that a `MemoryConfig` names; without one, the environment and the defaults apply.

    Raises:
        ConfigError: a chosen model lacks a setting.
    """
    return _builders[-1](config)
