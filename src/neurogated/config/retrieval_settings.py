"""How a recall ranks memories: similarity, spreading activation, trust in the graph, kernels."""

from __future__ import annotations

from dataclasses import dataclass

from neurogated.config.setting import check, group, setting

_MOST = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSwitches:
    """Parts of the recall that an ablation turns off."""

    damp_hubs: bool = setting(True, "a node divides its activation among its edges of a type instead of copying it")
    never_back: bool = setting(True, "activation does not return over the edge by which it came")
    uniform_kernel: bool = setting(False, "give every edge type the same weight and ignore tags")
    keep_best_first: bool = setting(
        True, "activation lifts no memory above those that are most similar to the question"
    )
    keywords_for_like_vectors: bool = setting(
        True, "keywords count up to twice as much if the vectors of a memory are similar, as of a language not read"
    )
    notes_need_no_context: bool = setting(
        True, "turns around a turn and generic turns count less if many turns repeat rare words of those around"
    )

    def __post_init__(self) -> None:
        check(self, "retrieval.switches.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """How a recall ranks memories."""

    candidates: int = setting(100, "candidate nodes from vector search, and again from keyword search", low=1)

    # Parts of the similarity of a question and a memory. It is their weighted mean; the cosine has weight 1.
    keyword_weight: float = setting(
        0.4, "weight of keywords in common: BM25 divided by the best BM25 of all nodes", low=0.0, high=_MOST
    )
    subject_weight: float = setting(
        0.5, "weight if the question names the subject or the speaker of a memory", low=0.0, high=_MOST, listed=False
    )
    tag_weight: float = setting(
        0.2, "weight if a memory has a tag of the kernel, such as a time", low=0.0, high=_MOST, listed=False
    )

    # Turns of a conversation: these add to the similarity before the division by the sum of the weights.
    neighbour_weight: float = setting(
        0.6, "weight of the similarity of the turns around a turn", low=0.0, high=_MOST, listed=False
    )
    answer_weight: float = setting(
        0.25,
        "weight of a question's similarity for the turn that follows it; the question itself loses 40 % of it",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    length_cost: float = setting(
        0.1,
        "cost of each doubling of a message's length beyond 48 words, and of a piece's position in it",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    generic_cost: float = setting(
        0.3,
        "cost of a turn per unit of its mean cosine to the turns that the question may find",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    own_words_weight: float = setting(
        0.1, "weight of the user's messages if the question is in the first person", low=0.0, high=_MOST, listed=False
    )

    time_span_weight: float = setting(
        0.25,
        "weight if a memory's timestamp is in the time span that the question names, such as last week",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    place_weight: float = setting(
        0.1, "weight if a memory's event happened at a place that the question names", low=0.0, high=_MOST, listed=False
    )
    sentiment_weight: float = setting(
        0.1,
        "weight of a memory's sentiment if the question names a feeling, such as upset or proud",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    cause_weight: float = setting(
        0.1,
        "weight of the causes of the best matches if a question asks for a reason, or of their effects",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    fact_cost: float = setting(
        0.1,
        "cost of a fact if the question may find all memories that it was made from; it shrinks with their share",
        low=0.0,
        high=_MOST,
        listed=False,
    )
    recency_half_life_days: float = setting(
        30.0, "half-life of recency, in days without access", low=0.0, high=36_500.0
    )

    energy_weight: float = setting(
        0.05, "weight of the energy of a memory, 0–1, which fades with time; uses do not count", low=0.0, high=_MOST
    )

    # Trust: how much of the activation counts.
    trust_floor: float = setting(
        0.5,
        "share of the activation that counts if the best match has no lead; 1: all of it",
        low=0.0,
        high=1.0,
        listed=False,
    )

    # Flow of activation
    max_frontier: int = setting(10, "nodes with the most activation that pass it on in each hop", low=1, listed=False)
    closed_edge_types: str = setting("SAME_AS,ECHO", "edge types without flow, separated by commas, such as SIM,TERM")
    gate_exponent: float = setting(
        0.5, "exponent of the similarity in the gate of a hop; 0: no gate", low=0.0, high=100.0, listed=False
    )

    # A kernel has a weight 0–2 for each edge type, and after a slash the weight against the stored direction.
    # @tag: the weight 0–1 of a tag that a memory should have. If left out, @span, @place and @sentiment are 1.
    kernels: str | None = setting(
        None,
        "other weights of edge types, 0–2, by kind of question (fact, why, consequence, when, next, like, latest), as "
        "in why: CAUSE=2.0/1.0, @cause=1.0; like: SIM=0.5. After a slash stands the weight against the direction of an "
        "edge; a name after @ is a tag, with a weight of 0–1",
    )

    switches: RetrievalSwitches = group(RetrievalSwitches, "parts that an ablation turns off", listed=False)

    def __post_init__(self) -> None:
        check(self, "retrieval.")
