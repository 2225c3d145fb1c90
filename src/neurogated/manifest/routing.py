"""`Router`: the communities of a question."""

from __future__ import annotations

import math
from collections import Counter

from neurogated.core.model import Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.manifest.model import Community, GraphManifest
from neurogated.text.keywords import split_keywords

_NEAREST = 64
"""Memories that are asked for their community. If they name too few, the words decide the rest."""


class Router:
    """Ranks the communities of one manifest for questions."""

    def __init__(self, manifest: GraphManifest) -> None:
        self._communities = manifest.communities
        self._of_node = {name: one.number for one in manifest.communities for name in one.node_ids}
        self._words = [
            Counter(
                {
                    stem: 1 / (1 + place) ** 0.5
                    for place, word in enumerate(one.keywords)
                    for stem in split_keywords(word)
                }
            )
            for one in manifest.communities
        ]
        self._spread = Counter(stem for words in self._words for stem in words)

    def by_words(self, query: str, limit: int) -> tuple[Community, ...]:
        """Return the communities whose keywords have the rarest words of a question; then the most important."""
        stems = set(split_keywords(query))
        rarity = {stem: math.log1p(len(self._words) / self._spread[stem]) for stem in stems & self._spread.keys()}
        scores = [sum(rarity[stem] * words[stem] for stem in rarity.keys() & words.keys()) for words in self._words]
        best = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
        return tuple(self._communities[number] for number in best[:limit])

    def by_vector(
        self, query: str, vector: Vector, store: GraphStorePort, view: GraphView, limit: int
    ) -> tuple[Community, ...]:
        """Return the communities of the memories that are nearest to a question, best first."""
        ((rows, _),) = store.reader(view).nearest([vector], _NEAREST)
        found = dict.fromkeys(self._of_node.get(view.ids[row], -1) for row in rows.tolist())
        numbers = [number for number in found if number >= 0]
        numbers += [one.number for one in self.by_words(query, len(self._communities)) if one.number not in found]
        return tuple(self._communities[number] for number in numbers[:limit])
