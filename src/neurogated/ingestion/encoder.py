"""The encoder: importance, sentiment and place of new memories, and the energy they start with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.found import Found
from neurogated.core.model import MemoryNode, checked_unit
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.sentiment import SentimentScale
from neurogated.core.speakers import place_of
from neurogated.ingestion.importance import ImportanceJudge, Remark
from neurogated.text.strings import checked_name

# Share of its missing energy that a new memory gets if it is about the present task.
_FOCUS_GAIN = 0.5

Vector = NDArray[np.float32]


class Focus:
    """The present tasks of agents. Nothing of it is stored."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str | None, str | None], Vector] = {}
        self._lock = Lock()

    def set(self, task: Vector | None, user_id: str | None, session_id: str | None) -> None:
        """Set the vector of the task of a user's session, or clear it."""
        with self._lock:
            if task is None:
                self._tasks.pop((user_id, session_id), None)
            else:
                self._tasks[user_id, session_id] = task

    def relevance(self, node: MemoryNode) -> float:
        """Return the cosine of a node with its task, 0–1; 0 without one."""
        task = self.task_of(node.scope.user_id, node.scope.session_id)
        if task is None or node.embedding is None:
            return 0.0
        return min(1.0, max(0.0, float(np.dot(task, np.asarray(node.embedding)))))

    def task_of(self, user_id: str | None, session_id: str | None) -> Vector | None:
        """Return the vector of the task of a session, else of its user, else of all users."""
        with self._lock:
            keys = ((user_id, session_id), (user_id, None), (None, None))
            return next((self._tasks[key] for key in keys if key in self._tasks), None)


class Encoder:
    """Sets importance, energy, sentiment and place of new nodes.

    Args:
        judge: judges the importance of texts for which the caller gives none; None leaves the default.
        settings: of the metabolism.
        scale: reads the sentiment from vectors; None if the embedder has none.
    """

    def __init__(
        self,
        judge: ImportanceJudge | None = None,
        settings: MetabolismSettings | None = None,
        scale: SentimentScale | None = None,
    ) -> None:
        self._judge = judge
        self._settings = settings or MetabolismSettings()
        self._scale = scale

    def encode(
        self, nodes: Sequence[MemoryNode], texts: Mapping[str, str], store: GraphStorePort, focus: Focus
    ) -> list[MemoryNode]:
        """Return the new nodes with importance and energy.

        Args:
            nodes: new nodes with their vectors.
            texts: the texts to judge by the ids of their nodes: of a piece of a message, the whole message. The others
                have an importance that the caller gave.
            store: the graph.
            focus: the present tasks.
        """
        judged = [node for node in nodes if node.id in texts]
        found: dict[str, float] = {}
        if self._judge is not None and judged:
            values = self._judge.judge(_remarks(judged, texts, store))
            found = dict(zip((node.id for node in judged), values, strict=True))
        return [self._encoded(node, found.get(node.id, node.importance), focus) for node in nodes]

    def read(self, node: MemoryNode) -> MemoryNode:
        """Return the node with the sentiment and the place of its text."""
        return node.changed(found=self._found(node))

    def _found(self, node: MemoryNode) -> Found:
        sentiment = None
        if self._scale is not None and node.embedding is not None:
            sentiment = self._scale.sentiment(np.asarray(node.embedding))
        place = place_of(node.metadata, node.content, node.found.entities)
        if place is not None:
            checked_name("found place", place)
        return node.found.changed(sentiment=sentiment, place=place)

    def _encoded(self, node: MemoryNode, importance: float, focus: Focus) -> MemoryNode:
        """Return the node with the energy it starts with: its importance, and more if it is relevant to the task."""
        importance = checked_unit("importance of node", node.id, importance)
        gain = _FOCUS_GAIN * focus.relevance(node)
        energy = importance + (1.0 - importance) * gain
        return node.changed(found=self._found(node), importance=importance, base_energy=energy)


def _remarks(nodes: Sequence[MemoryNode], texts: Mapping[str, str], store: GraphStorePort) -> list[Remark]:
    """Return the texts to judge. A piece of a message is judged by the whole message."""
    chatting = {node.scope.user_id for node in nodes if node.role is not None and node.speaker is None}
    earlier = Counter({user_id: _stored(store, user_id) for user_id in chatting})
    remarks = []
    for node in nodes:
        remarks.append(Remark(texts[node.id], node.role, node.speaker, earlier[node.scope.user_id]))
        earlier[node.scope.user_id] += 1
    return remarks


def _stored(store: GraphStorePort, user_id: str | None) -> int:
    """Return the number of memories of a user."""
    view = store.view()
    rows = view.rows_of_scopes(ScopeFilter(user_id, alone=True))
    return view.node_count if rows is None else rows.size
