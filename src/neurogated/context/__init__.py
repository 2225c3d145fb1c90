"""Context for the prompt of a language model: memories that are worth their tokens."""

from neurogated.context.builder import ContextBuilder
from neurogated.context.model import Choice, Context

__all__ = ["Choice", "Context", "ContextBuilder"]
