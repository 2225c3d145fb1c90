"""`Manifest`: what a memory holds, as a value and as a text that a model reads before it asks."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict, Unpack

from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.habits import renamed
from neurogated.core.model import checked_count
from neurogated.core.scope import ScopeFilter, UserChoice
from neurogated.core.tokens import prompt_tokens
from neurogated.errors import InputError
from neurogated.manifest.model import Community, GraphManifest
from neurogated.retrieval.queries import checked_query
from neurogated.session.session import Component

BUDGET = 500
"""Tokens of a text."""


class Owners(TypedDict, total=False):
    """Whose memories; see `FilterOptions`."""

    user_id: UserChoice
    agent_id: str | None
    session_id: str | None
    path: Sequence[str]


class Manifest(Component):
    """The calls about the shape of a memory, as `memory.manifest`.

    Manifests are cached by scope. They are rebuilt in the background after `manifest.update_threshold` new memories,
    or after `manifest.cache_ttl_ms` if anything has changed.
    """

    def get(self, **owners: Unpack[Owners]) -> GraphManifest:
        """Return what the memories of an owner are about and how they are linked; see `Owners`."""
        return self._session.manifests.get(self._filter(owners), self._session.runtime.threads)

    @renamed(budget="token_budget")
    def text(self, *, token_budget: int = BUDGET, **owners: Unpack[Owners]) -> str:
        """Return the manifest as lines, the useful first, in at most 2,048 characters.

        Recalls do not change it. It changes with the first memory, after `manifest.update_threshold` new ones, and
        after a memory was deleted or rewritten. Raises InputError if the budget is not a number from 1 on.

        Args:
            token_budget: at most this many tokens.
            **owners: whose memories; see `Owners`.
        """
        if not checked_count("token_budget", token_budget):
            raise InputError("the budget is 0 tokens, but must be at least 1")
        session = self._session
        return session.manifests.text(self._filter(owners), session.runtime.threads, token_budget, prompt_tokens)

    def route(
        self, query: str, *, limit: int = 3, by: Literal["meaning", "words"] = "meaning", **owners: Unpack[Owners]
    ) -> tuple[Community, ...]:
        """Return the communities that may answer a question, best first.

        Raises InputError if the query is blank, or `by` is unknown.

        Args:
            query: the question.
            limit: at most this many.
            by: `meaning` compares the vectors of memories; `words` reads only the keywords of the manifest, so it needs
                no model.
            **owners: whose memories; see `Owners`.
        """
        query = checked_query(query)
        session, wanted = self._session, self._filter(owners)
        router = session.manifests.router(wanted, session.runtime.threads)
        checked_count("limit", limit)
        if by == "words":
            return router.by_words(query, limit)
        if by != "meaning":
            raise InputError(f"by is {by!r}, but must be 'meaning' or 'words'")
        vector = session.parts.embedder.embed_queries([query])[0]
        return router.by_vector(query, vector, session.store, session.store.view(filters=wanted), limit)

    def on_change(self, callback: Callable[[ScopeFilter], None]) -> Callable[[], None]:
        """Call `callback` with a scope when its text may have changed; return a function that unregisters it."""
        return self._session.manifests.register(callback)

    def _filter(self, owners: Owners) -> Filter:
        self._session.of_user(owners.get("user_id"))
        scope = ScopeFilter(**owners, own_session=owners.get("session_id") is not None)
        return Filter(scope=scope, except_kinds=NO_MEMORIES)
