"""Models for a part that is built without them, as in `NeuroRetriever(store, config)`.

The composition root builds them, but the rooms of the parts lie below it and cannot import it. The package itself tells
this module how to reach it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, KernelSource, QuestionJudge

__all__ = ["DefaultModels", "default_models", "set_default_models"]


class DefaultModels(Protocol):
    """The models that some settings name."""

    @property
    def config(self) -> Any:  # noqa: ANN401 - a MemoryConfig, which this room does not know
        """The settings."""

    @property
    def embedder(self) -> Embedder:
        """Makes vectors of texts."""

    @property
    def kernel_source(self) -> KernelSource:
        """Shapes questions into kernels."""

    @property
    def question_judge(self) -> QuestionJudge:
        """Tells the kind of a question; by a language model where the settings ask for one."""

    @property
    def offline_question_judge(self) -> QuestionJudge:
        """Tells the kind of a question without a language model."""

    @property
    def causal_judge(self) -> CausalJudge:
        """Tells whether one text causes another."""

    @property
    def entity_finder(self) -> EntityFinder:
        """Finds names in texts."""


_builders: list[Callable[[Any], DefaultModels]] = []


def set_default_models(build: Callable[[Any], DefaultModels]) -> None:
    """Let `default_models` call `build`."""
    _builders[:] = [build]


def default_models(config: Any = None) -> DefaultModels:  # noqa: ANN401 - see `DefaultModels.config`
    """Return the models that a `MemoryConfig` names; without one, the environment and the defaults count.

    Raises:
        ConfigError: a chosen model lacks a setting.
    """
    return _builders[-1](config)
