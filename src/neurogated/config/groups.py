"""The groups of settings, except those of metabolism."""

from __future__ import annotations

from dataclasses import dataclass

from neurogated.config.setting import check, setting
from neurogated.errors import ConfigError

# Weights of the labels in a language model's answers. Models judge by words, since their numbers are noise.
_STRENGTHS = {"weak": 0.4, "medium": 0.7, "strong": 1.0}
_MOST = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """How a recall ranks memories. The other numbers of a score are in `retrieval/formula.py`."""

    candidates: int = setting(100, "candidate nodes from vector search, and again from keyword search", low=1)
    keyword_weight: float = setting(
        0.4, "weight of keywords in common: BM25 divided by the best BM25 of all nodes", low=0.0, high=_MOST
    )
    recency_half_life_days: float = setting(
        30.0, "half-life of recency, in days without access", low=0.0, high=36_500.0
    )
    energy_weight: float = setting(
        0.05, "weight of the energy of a memory, 0–1, which fades with time; uses do not count", low=0.0, high=_MOST
    )
    # A kernel has a weight 0–2 for each edge type, and after a slash the weight against the stored direction.
    # @tag: the weight 0–1 of a tag that a memory should have. If left out, @span, @place and @sentiment are 1.
    kernels: str | None = setting(
        None,
        "other weights of edge types, 0–2, by kind of question (fact, why, consequence, when, next, like, latest), as "
        "in why: CAUSE=2.0/1.0, @cause=1.0; like: SIM=0.5. After a slash stands the weight against the direction of an "
        "edge; a name after @ is a tag, with a weight of 0–1. uniform: the same for all questions and types",
    )

    def __post_init__(self) -> None:
        check(self, "retrieval.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingSettings:
    """How texts become nodes and edges."""

    chunk_size: int = setting(256, "maximum length of a document chunk, in tokens of the embedder", low=1)
    chunk_overlap: int = setting(
        32, "a chunk repeats whole sentences of the previous chunk, up to this many tokens", low=0
    )
    find_titles: bool = setting(
        True, "find the title of a text without one: a header, a heading, or the subject of its first sentence"
    )
    max_document_chars: int = setting(10_000_000, "longest document, in characters", low=1)

    def __post_init__(self) -> None:
        check(self, "indexing.")
        if self.chunk_overlap >= self.chunk_size:
            raise ConfigError(
                f"indexing.chunk_overlap is {self.chunk_overlap}, but must be less than chunk_size {self.chunk_size}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings:
    """How use changes the graph."""

    policies: bool = setting(False, "run the policies that are stored; see docs/how-to/expressions.md")

    def __post_init__(self) -> None:
        check(self, "learning.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMSettings:
    """The language model and its limits."""

    use: str | None = setting(
        None,
        "language model for judgements: 'off', 'auto' (on if llm_base_url or a key in the environment is set), or a "
        "model name; none: on only if llm_base_url or an llm_name other than the default is set",
    )
    wait: bool = setting(False, "a write returns when the model has read what it wrote; otherwise it is read later")
    timeout: float = setting(60.0, "seconds after which a language model call ends, with its retries", low=0.0)
    retries: int = setting(3, "retries of a failed language model call", low=0)
    concurrency: int = setting(4, "concurrent language model calls", low=1)
    max_calls: int | None = setting(None, "maximum language model calls of a run; none: no limit", low=0)
    max_tokens: int | None = setting(
        None, "maximum tokens of a run, prompts and answers together; none: no limit", low=0
    )
    max_cost: float | None = setting(
        None, "maximum cost of a run, in the currency of the prices; none: no limit", low=0.0
    )
    prompt_price: float = setting(0.0, "price of a million tokens of prompts", low=0.0)
    answer_price: float = setting(0.0, "price of a million tokens of answers", low=0.0)
    cache_bytes: int = setting(
        2**28, "maximum bytes on disk of cached answers; the oldest are evicted; 0: no cache", low=0
    )
    kernel_sure: float = setting(
        0.0,
        "the offline judge alone chooses a kernel from this confidence on, and a recall waits for the model below it; "
        "0: always, above 1: never",
        low=0.0,
    )

    def __post_init__(self) -> None:
        check(self, "llm.")

    def strength(self, label: str) -> float:
        """Return the number for `weak`, `medium` or `strong`.

        Language models distinguish these words; numbers that they choose themselves are noise.
        """
        return _STRENGTHS[label]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """How the embedding model runs."""

    base_url: str | None = setting(None, "address of an OpenAI-compatible embedding server")
    backend: str = setting(
        "auto",
        "library that runs a local model; auto: openvino for the bundled model on a CPU and multilingual, else torch",
        choices=("auto", "openvino", "onnx", "torch"),
    )
    cache_bytes: int = setting(
        2**30, "maximum bytes on disk of cached vectors; the oldest are evicted; 0: no cache", low=0
    )
    batch_size: int = setting(32, "texts in a batch, except for models that openvino runs", low=1)
    query_prompt: str | None = setting(None, "prompt before a question; none: the model's own prompt")
    document_prompt: str | None = setting(None, "prompt before a passage; none: the model's own prompt")
    devices: str | None = setting(
        None, "devices that embed in parallel, such as cuda:0,cuda:1 or cpu,cpu; none: all visible GPUs"
    )
    trust_remote_code: bool = setting(False, "let an embedding model run code from its own folder")

    def __post_init__(self) -> None:
        check(self, "embedding.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSettings:
    """When and how the manifest is built."""

    update_threshold: int = setting(100, "new memories after which a manifest and its text are rebuilt", low=1)
    cache_ttl_ms: int = setting(
        30_000,
        "milliseconds after which a manifest is rebuilt if anything has changed; its text waits for update_threshold",
        low=0,
    )

    def __post_init__(self) -> None:
        check(self, "manifest.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """How the memory shares a machine: threads, locks, checkpoints, warnings."""

    write_lock_seconds: float = setting(
        10.0, "seconds that a write waits for the write lock of another process or another open memory", low=0
    )
    max_open_namespaces: int = setting(
        64,
        "maximum namespaces whose graphs are in memory at the same time; the least recently used is closed first",
        low=1,
    )
    checkpoint_changes: int = setting(
        5_000,
        "write a checkpoint after this many changed nodes and edges, if they exceed 1/30 of the graph; a smaller "
        "number makes opening faster and writes more",
        low=1,
    )
    telemetry: bool = setting(
        False, "send spans and metrics to your application's OpenTelemetry; pip install 'neurogated[otel]'"
    )

    def __post_init__(self) -> None:
        check(self, "runtime.")
