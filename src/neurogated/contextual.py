"""`Contextual`: the calls by which an agent reads its memory for a task and records the outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack, cast

from neurogated.context.builder import ContextBuilder, token_counter
from neurogated.context.model import CONTEXT_TOKENS, Context
from neurogated.core.arguments import names_arguments
from neurogated.core.model import checked_count
from neurogated.core.quoting import TokenCounter
from neurogated.errors import InputError
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.wired import Wired

__all__ = ["Contextual"]


@names_arguments
class Contextual(Wired):
    """Base of `NeuroGraphMemory` with the calls of an agent at work."""

    def get_context(
        self,
        task: str,
        token_budget: int = CONTEXT_TOKENS,
        *,
        explain: bool = False,
        count_tokens: TokenCounter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Context:
        """Return the memories that help with a task as text for a prompt, within a budget of tokens.

        Facts come first, then other memories by time, under headings with date and title. Memories that repeat others
        give way to new ones. No memory is cut. If every memory is longer than the budget, the text has the sentences
        of the best one that fit. The memories in the text count as accesses, as those of `recall` do.

        Args:
            task: the question or the work at hand, in words.
            token_budget: maximum tokens of the text.
            explain: fill `choices`, which says why each memory is there.
            count_tokens: returns the number of tokens of each of several texts for your model. Default: the tokenizer
                of the embedder, or an upper estimate if it has none.
            **options: the options of `recall`; `top_n` is the number of memories to choose from.

        Raises:
            InputError: the task is blank, the budget is less than 1, or an option is invalid.
        """
        if not checked_count("token_budget", token_budget):
            raise InputError(f"token_budget is {token_budget}, but must be at least 1")
        settings, embedder, as_of = self.config.metabolism, self._parts.embedder, options.get("as_of")
        given = dict(options)
        if given.get("top_n") is None:
            given["top_n"] = max(self.config.retrieval.candidates, token_budget // settings.context_depth)
        with self._runtime.work("recalling"):
            recall = self.retriever.recall(task, **cast("RecallOptions", given))
            view = (self.store if as_of is None else self.store.as_of(as_of)).view()
            builder = ContextBuilder(settings, embedder, count_tokens or token_counter(embedder))
            context = builder.build(recall, view, token_budget, explain=explain)
        self._recalled(replace(recall, memories=context.memories), options)
        return context
