"""The groups of settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from neurogated.config.setting import Group, setting
from neurogated.errors import ConfigError

# Weights of the labels in a language model's answers. Models judge by words, since their numbers are noise.
_STRENGTHS = {"weak": 0.4, "medium": 0.7, "strong": 1.0}
_MOST = 1000.0
_MONEY = r"\d+(?:\.\d+)?"
_LIMIT = re.compile(
    rf"(?P<calls>\d+) calls?|(?P<tokens>\d+) tokens?|"
    rf"(?P<cost>{_MONEY}) at (?P<prompt_price>{_MONEY})/(?P<answer_price>{_MONEY})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings(Group):
    """How a recall ranks memories. The other numbers of a score are in `retrieval/formula.py`."""

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
        "edge; a name after @ is a tag, with a weight of 0–1. uniform: the same for all questions and types. model: a "
        "language model chooses the kind of each question, within 2 seconds",
    )

    reranker: str | None = setting(
        None,
        "cross-encoder that puts the 30 best memories into order, by name or folder; it must be on this machine; none: "
        "the score alone does",
    )

    @property
    def asks_model(self) -> bool:
        """Whether `kernels` has the word `model`."""
        return "model" in map(str.strip, (self.kernels or "").split(";"))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingSettings(Group):
    """How texts become nodes and edges."""

    chunk_size: int = setting(
        256,
        "maximum length of a document chunk, in tokens of the embedder; an eighth repeats whole sentences of the "
        "previous chunk",
        low=1,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings(Group):
    """How use changes the graph."""

    policies: bool = setting(False, "run the policies that `memory.policies.add` stored")


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMSettings(Group):
    """The language model and its limits."""

    use: str | None = setting(
        None,
        "language model for judgements: 'off', 'auto' (on if llm_base_url or a key in the environment is set), or a "
        "model name; none: on only if llm_base_url or an llm_name other than the default is set",
    )
    wait: bool = setting(False, "a write returns when the model has read what it wrote; otherwise it is read later")
    timeout: float = setting(60.0, "seconds after which a language model call ends, with its retries", low=0.0)
    concurrency: int = setting(4, "concurrent language model calls", low=1)
    budget: str | None = setting(
        None,
        "most calls, tokens and money of a run, as '500 calls, 2000000 tokens, 5.00 at 0.15/0.60' or some of them; "
        "after 'at' stand the prices of a million tokens of prompts and of answers; none: no limit",
    )

    def __post_init__(self) -> None:
        Group.__post_init__(self)
        self.limits  # noqa: B018 - raises if the text cannot be read

    @property
    def limits(self) -> Mapping[str, float]:
        """The numbers of `budget`: `calls`, `tokens` and `cost`, with `prompt_price` and `answer_price`."""
        found = dict[str, float]()
        for part in filter(str.strip, (self.budget or "").split(",")):
            if (limit := _LIMIT.fullmatch(part.strip())) is None:
                told = "must be as '500 calls, 2000000 tokens, 5.00 at 0.15/0.60'"
                raise ConfigError(f"llm.budget is {self.budget!r}, but {told}")
            found |= {name: float(number) for name, number in limit.groupdict().items() if number is not None}
        return found

    def strength(self, label: str) -> float:
        """Return the number for `weak`, `medium` or `strong`; numbers of models themselves are noise."""
        return _STRENGTHS[label]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings(Group):
    """How the embedding model runs."""

    base_url: str | None = setting(None, "address of an OpenAI-compatible embedding server")
    backend: str = setting(
        "auto",
        "library that runs a local model; auto: openvino for the bundled model on a CPU and multilingual, else torch",
        choices=("auto", "openvino", "onnx", "torch"),
    )
    batch_size: int = setting(32, "texts in a batch, except for models that openvino runs", low=1)
    prompts: str | None = setting(
        None,
        "prompts before a question and before a passage, with | between them, as 'query: |passage: '; none or an empty "
        "one: the model's own",
    )
    trust_remote_code: bool = setting(False, "let an embedding model run code from its own folder")

    def __post_init__(self) -> None:
        Group.__post_init__(self)
        if self.prompts is not None and self.prompts.count("|") != 1:
            raise ConfigError(f"embedding.prompts is {self.prompts!r}, but must have one |, as 'query: |passage: '")

    @property
    def query_prompt(self) -> str | None:
        """The prompt before a question; None for the model's own."""
        return (self.prompts or "").partition("|")[0] or None

    @property
    def document_prompt(self) -> str | None:
        """The prompt before a passage; None for the model's own."""
        return (self.prompts or "").partition("|")[2] or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSettings(Group):
    """When and how the manifest is built."""

    update_threshold: int = setting(100, "new memories after which a manifest and its text are rebuilt", low=1)
    cache_ttl_ms: int = setting(
        30_000,
        "milliseconds after which a manifest is rebuilt if anything has changed; its text waits for update_threshold",
        low=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings(Group):
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


_SHORTEST, _LONGEST = 0.001, 3_650_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetabolismSettings(Group):
    """How memories gain and lose energy, move between tiers, and become facts."""

    # Importance and duplicates
    importance: str = setting(
        "offline",
        "who says how important a memory is if the caller does not; offline: a regression; model: the language model, "
        "else the regression; equal: nobody, so all memories are alike, and none dormant",
        choices=("offline", "model", "equal"),
    )

    temporal_neighbors: int = setting(
        0, "active memories of its user to which a new memory gets a temporal edge, those with most energy first", low=0
    )

    find_duplicates: bool = setting(
        True, "link memories of one owner with equal texts, and recall only the first of them"
    )

    # Energy
    half_lives: str = setting(
        "180, fact=3650, profile=3650, turn=15",
        "half-lives in days of the energy of memories without access: one for all kinds (180 if left out) and others "
        "by kind, separated by commas",
    )

    # Tiers
    canvas_size: int = setting(100, "memories on the canvas of all and on that of each session", low=0)

    # Facts
    facts_url: str | None = setting(
        None,
        "SQL database that shows the facts as rows, as sqlite:///FILE or postgresql://HOST/DATABASE; off: no rows; "
        "none: the file facts.db in save_dir, if the extra 'facts' is installed",
    )

    # Working canvas
    canvas_url: str | None = setting(
        None, "Redis server whose canvases processes share, as redis://HOST or unix://PATH; none: in the process"
    )

    # Consolidation: facts of one subject become profiles, and memories that are used together become one text.
    consolidate_seconds: float = setting(
        0.0, "seconds between two consolidations in the background; 0: none there", low=0.0, high=31_536_000.0
    )
    consolidation_uses: int = setting(3, "a memory enters a cluster after this many uses", low=0)

    # Facts from speech need a language model (ADR 47), and so do pairs of memories that no slot connects.
    knowledge: str = setting(
        "claims, slots, pairs",
        "what is done with what memories say, some of: claims: the language model reads the facts in messages; slots: "
        "facts of one slot are compared; pairs: pairs that no slot connects are judged by the language model, or with "
        "pairs=NAME by a cross-encoder, given by name or folder, one of whose classes is contradiction. off: none. "
        "Without a model, claims and pairs do nothing; facts that somebody states are known in any case",
    )

    # Echoes
    echoes: str = setting(
        "link",
        "link: messages of the assistant are linked to recalled memories that they repeat; skip: memories that a "
        "message repeats as a block of `get_context` or `as_text` are not stored again, either; off: neither",
        choices=("link", "skip", "off"),
    )

    def __post_init__(self) -> None:
        Group.__post_init__(self)
        self.half_life_of_kinds, self.known_by  # noqa: B018 - raise if a text cannot be read

    @property
    def known_by(self) -> Mapping[str, str]:
        """The words of `knowledge`; that of `pairs` is the name of its cross-encoder, or "" for the language model."""
        found = dict[str, str]()
        for part in "" if self.knowledge == "off" else self.knowledge.split(","):
            word, named, name = map(str.strip, part.partition("="))
            found[word] = name
            if word not in {"claims", "slots", "pairs"} or bool(named) != bool(name) or (name and word != "pairs"):
                raise ConfigError(
                    f"metabolism.knowledge has {part.strip()!r}, but must be off, or some of claims, slots and pairs, "
                    "or pairs=NAME with a cross-encoder"
                )
        if "pairs" in found and "slots" not in found:
            raise ConfigError(
                f"metabolism.knowledge is {self.knowledge!r}, but pairs are judged only if slots are compared"
            )
        return found

    @property
    def dormant_energy(self) -> float:
        """A dormant memory has less energy than this; half-lives say when."""
        return 0.0 if self.importance == "equal" else 0.1

    @property
    def half_life_of_kinds(self) -> Mapping[str, float]:
        """The half-lives of `half_lives` by kind, in days; that of all other kinds has the name ""."""
        found = {"": 180.0}
        for part in filter(str.strip, self.half_lives.split(",")):
            kind, named, text = (word.strip() for word in part.rpartition("="))
            try:
                days = float(text)
            except ValueError:
                days = 0.0
            if bool(kind) != bool(named) or not _SHORTEST <= days <= _LONGEST:
                raise ConfigError(
                    f"metabolism.half_lives has {part.strip()!r}, but must have days, or a kind and its days, such "
                    "as 180, fact=3650"
                )
            found[kind] = days
        return found
