"""`Recalls`: answers to questions, with the notices that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from neurogated.core.clock import checked_version
from neurogated.core.filters import FilterOptions
from neurogated.core.scope import AnyUser
from neurogated.core.trace import Recall
from neurogated.errors import InputError
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.session import Notice, Session
from neurogated.tiers.canvas import Owner


class Recalls:
    """Answers questions and notifies the subscribers."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def answer(self, queries: Sequence[str], options: RecallOptions) -> list[Recall]:
        """Return the recall of each query; all queries are embedded in one batch."""
        with self._session.runtime.work("recalling"):
            recalls = self.read(queries, options)
            for recall in recalls:
                self.hand_out(recall, options)
            return recalls

    def read(self, queries: Sequence[str], options: RecallOptions) -> list[Recall]:
        """Return the recall of each query with the questions of its conflicts; notify nobody."""
        if unknown := options.keys() - RecallOptions.__annotations__.keys() - FilterOptions.__annotations__.keys():
            known = sorted({*RecallOptions.__annotations__, *FilterOptions.__annotations__})
            raise InputError(f"unknown argument {', '.join(sorted(unknown))}; known are {', '.join(known)}")
        self._session.of_user(options.get("user_id"))
        then, store = checked_version(options.get("as_of")), self._session.store
        recalls = []
        for recall in self._session.retriever.recall_batch(queries, **options):
            conflicts = recall.conflicts
            if conflicts:
                told = store if then is None else store.as_of(then)
                conflicts = tuple(self._session.explained(conflicts, told))
            recalls.append(replace(recall, conflicts=conflicts) if conflicts else recall)
        return recalls

    def hand_out(self, recall: Recall, options: RecallOptions) -> None:
        """Notify the subscribers. Recalls from the past leave the canvas and the accesses as they are."""
        user_id = self._session.of_user(options.get("user_id"))
        is_present = options.get("as_of") is None and options.get("valid_at") is None
        has_owner = is_present and not isinstance(user_id, AnyUser)
        owner = Owner(cast("str | None", user_id), options.get("session_id")) if has_owner else None
        self._session.notify(Notice("recalled", (recall,), owner, recall.access if is_present else None, user_id))
