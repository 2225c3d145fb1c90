"""The numbers of a recall's formula, and the parts of it that an ablation turns off.

Their values are those of the measurements in `docs/measurements/recall.md`. No setting changes them: they were fitted
together, on several data sets, and one that fits a single set better is worse on the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from neurogated.core.edge_type import EdgeType

CANDIDATES = 100
"""Candidate nodes from vector search, and again from keyword search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """Weights and switches; a weight of 0 leaves its term out."""

    # Parts of the similarity of a question and a memory. It is their weighted mean; the cosine has weight 1.
    subject_weight: float = 0.5
    """If the question names the subject or the speaker of a memory."""
    tag_weight: float = 0.2
    """If a memory has a tag of the kernel, such as a time."""

    # Turns of a conversation: these add to the similarity before the division by the sum of the weights.
    neighbour_weight: float = 0.6
    """Of the similarity of the turns around a turn."""
    answer_weight: float = 0.25
    """Of a question's similarity for the turn that follows it; the question itself loses 40 % of it."""
    length_cost: float = 0.1
    """Of each doubling of a message's length beyond 48 words, and of a piece's position in it."""
    generic_cost: float = 0.3
    """Of a turn per unit of its mean cosine to the turns that the question may find."""
    own_words_weight: float = 0.1
    """Of the user's messages if the question is in the first person."""

    # Dimensions that a question names.
    time_span_weight: float = 0.25
    """If a memory's timestamp is in the time span of the question, such as last week."""
    place_weight: float = 0.1
    """If a memory's event happened at the place."""
    sentiment_weight: float = 0.1
    """Of a memory's sentiment if the question names a feeling, such as upset or proud."""
    cause_weight: float = 0.1
    """Of the causes of the best matches if a question asks for a reason, or of their effects."""
    fact_cost: float = 0.1
    """Of a fact if the question may find all memories that it was made from; it shrinks with their share."""

    # Activation
    trust_floor: float = 0.5
    """Share of the activation that counts if the best match has no lead; 1: all of it."""
    max_frontier: int = 10
    """Nodes with the most activation that pass it on in each hop."""
    gate_exponent: float = 0.5
    """Exponent of the similarity in the gate of a hop; 0: no gate."""
    closed_edge_types: frozenset[EdgeType] = frozenset({EdgeType.SAME_AS, EdgeType.ECHO})
    """Edge types without flow."""

    damp_hubs: bool = True
    """A node divides its activation among its edges of a type instead of copying it."""
    never_back: bool = True
    """Activation does not return over the edge by which it came."""
    keep_best_first: bool = True
    """Activation lifts no memory above those that are most similar to the question."""
    keywords_for_like_vectors: bool = True
    """Keywords count up to twice as much if the vectors of a memory are similar, as of a language not read."""
    notes_need_no_context: bool = True
    """Turns around a turn and generic turns count less if many turns repeat rare words of those around."""

    @property
    def has_turns(self) -> bool:
        """Whether turns have terms of their own."""
        weights = self.neighbour_weight, self.answer_weight, self.length_cost, self.generic_cost, self.own_words_weight
        return any(weights)

    @property
    def without_turns(self) -> Formula:
        """The formula without the terms of turns."""
        return replace(
            self, neighbour_weight=0.0, answer_weight=0.0, length_cost=0.0, generic_cost=0.0, own_words_weight=0.0
        )

    @property
    def of_cosine(self) -> Formula:
        """The formula whose similarity is the cosine alone, but for keywords, whose weight is a setting."""
        return replace(
            self.without_turns,
            subject_weight=0.0,
            tag_weight=0.0,
            fact_cost=0.0,
            time_span_weight=0.0,
            place_weight=0.0,
            sentiment_weight=0.0,
            cause_weight=0.0,
        )


FORMULA = Formula()
