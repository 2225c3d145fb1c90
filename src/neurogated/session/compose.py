"""From settings to built parts: the only module that names concrete adapters and reads the environment."""

import functools
import json
import logging
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from neurogated.communities.algorithms import IgraphMeasures, LeidenCommunities
from neurogated.config.memory_config import MemoryConfig
from neurogated.consolidation.consolidator import Consolidator, Summariser
from neurogated.core.abilities import SupportsClear, SupportsNamespaces
from neurogated.core.clock import Clock, utc_now
from neurogated.core.defaults import Models
from neurogated.core.extras import import_extra
from neurogated.core.files import UnusedCache
from neurogated.core.ports import Embedder, GraphStorePort, LanguageModel, QuestionJudge
from neurogated.core.projections import FactProjection, SharedCanvases, remove_file
from neurogated.core.sentiment import SentimentScale
from neurogated.embedding.cache import CachedEmbedder
from neurogated.embedding.cross_encoder import CrossEncoder
from neurogated.embedding.registry import build_embedder
from neurogated.errors import ConfigError
from neurogated.ingestion.analysers import Encoder, LLMImportanceJudge, OfflineEntityFinder, OfflineImportanceJudge
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.knowledge.judging import CrossEncoderJudge, ModelJudge, TextJudge
from neurogated.llm.base import AUTO, OFF, BaseLLM
from neurogated.llm.factory import get_llm, llm_is_configured, with_limits
from neurogated.llm.structured import StructuredLLM
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.kernel_generator import KernelGenerator, LLMQuestionJudge, OfflineQuestionJudge
from neurogated.session import subscribers
from neurogated.session.fallback import reachable
from neurogated.session.runtime import Parts, Runtime
from neurogated.session.session import Session, Subscriber
from neurogated.storage.files import ProcessLock
from neurogated.storage.registry import open_store
from neurogated.tiers.canvas import CANVAS_HALF_LIFE, WorkingCanvas
from neurogated.tiers.facts import FactFollower

FACTS_FILE = "facts.db"
"""The table of facts in the folder of a memory."""
OFFLINE_NOTICE = "no language model is configured: questions, causes and names are judged by rules"

_EMBEDDING_CACHE = "embedding_cache.db"
_OFF = "off"
_LLM = "llm"
# By then, the relevance on an unused canvas has faded to 2^-24.
_CANVAS_HALF_LIVES = 24
_CANVAS_SECONDS = 0.25  # that a call waits for the server of the canvas
FACTS_SECONDS = 5.0
"""Seconds that a call waits for the database of the facts."""
_KERNEL_SECONDS = 2.0  # that the language model has to judge a question, independent of llm.timeout
_LLM_CACHE = "llm_cache.db"
_READING_LOCK = "reading.lock"
_OPENAI_KEY = "OPENAI_API_KEY"

_log = logging.getLogger(__name__)


def build(
    config: MemoryConfig, clock: Clock = utc_now, embedder: Embedder | None = None, llm: BaseLLM | None = None
) -> Parts:
    """Build the parts that `config` names.

    The configured language model judges questions; without one, the offline analysers do. They also find names and
    causes of new texts, which a language model reads later. A given
    `embedder` or `llm` takes the place of the one that `config` names.

    Raises:
        StorageError: the memory cannot be opened; see its subclasses.
        EmbedderMismatchError: the memory was built with another embedder.
        ConfigError: a chosen part lacks a setting.
    """
    embedder = build_text_embedder(config) if embedder is None else embedder
    store = open_store(config, clock)
    try:
        facts, canvas = _fact_follower(config), _working_canvas(config, store)
        store.bind_embedder(embedder.name, None)
        if facts is not None and not config.read_only:
            facts.resume(store, config.namespace)
        _log.info("opened a memory: %s, namespace %r, embedder %s", config.place, config.namespace, embedder.name)
        answers = None
        if config.storage != "memory" and not config.read_only:
            embedder = cached(embedder, config)
            answers = Path(config.save_dir) / _LLM_CACHE
        own = llm if config.llm.use != OFF else None
        llm = build_language_model(config, answers) if own is None else with_limits(own, config, answers)
        models = _models(config, embedder, llm)
        # The memory may have answers of an earlier language model.
        unused = UnusedCache(answers) if answers is not None and llm is None else None
        return Parts(
            store=store,
            embedder=embedder,
            kernel_source=models.kernel_source,
            causal_judge=models.causal_judge,
            entity_finder=models.entity_finder,
            language_model=models.language_model,
            clock=clock,
            caches=tuple(one for one in (embedder, llm, unused, canvas) if isinstance(one, SupportsClear)),
            encoder=models.encoder,
            facts=facts,
            canvas=canvas,
            text_judge=_text_judge(config, models.language_model),
            reranker=None if (name := config.retrieval.reranker) is None else CrossEncoder(name, "retrieval.reranker"),
            graph_algorithms=IgraphMeasures if find_spec("igraph") else None,
        )
    except BaseException:
        store.close()
        raise


def open_session(
    config: MemoryConfig,
    parts: Parts | None = None,
    followers: tuple[Subscriber, ...] = (),
    llm: BaseLLM | None = None,
) -> Session:
    """Return the session of the graph that `config` names, over `parts`, or else over the parts that it names.

    `followers` are notified after all other subscribers. `llm` takes the place of the language model that it names.
    Raises ConfigError if a setting does not fit. Other errors are those of `build`.
    """
    if parts is None:
        config = reachable(config)
    built, turn = build(config, llm=llm) if parts is None else parts, None
    asks = built.language_model is not None or built.text_judge is not None
    if asks and not config.read_only and config.storage != "memory":
        turn = ProcessLock(Path(config.save_dir) / _READING_LOCK, "asks the language model about new memories")
    try:
        session = Session(
            config,
            built,
            Runtime(config, built.clock, built.store, built.caches, turn),
            (
                subscribers.update_canvas,
                subscribers.follow_facts,
                subscribers.tell,
                subscribers.log_access,
                subscribers.find_conflicts,
                subscribers.follow_manifests,
                *followers,
            ),
        )
    except ConfigError:
        if parts is None:
            built.store.close()
        raise
    if any(backlog.waiting for backlog in session.backlogs):
        subscribers.read_later(session, 0)
    return session


def _fact_follower(config: MemoryConfig) -> FactFollower | None:
    """Return the projection of facts that the settings name; without them, the file of the memory."""
    url = config.metabolism.facts_url
    file = Path(config.save_dir) / FACTS_FILE
    if (config.force_index_from_scratch or url == _OFF) and not config.read_only and config.storage != "memory":
        # Without its follower, the file would keep erased words.
        remove_file(file)
    if url == _OFF or (url is None and (config.storage == "memory" or not find_spec("sqlalchemy"))):
        return None
    # SQLAlchemy is imported only if the memory has facts.
    opened = functools.cache(lambda: open_facts(file if url is None else url))
    if url is not None:
        opened()
    return FactFollower(opened, file if url is None else None)


def _working_canvas(config: MemoryConfig, store: GraphStorePort) -> WorkingCanvas:
    """Return the working canvas, on the server that the settings name."""
    settings = config.metabolism
    if settings.canvas_url is None:
        return WorkingCanvas(settings)
    shared = canvases_of(settings.canvas_url, store)
    if isinstance(store, SupportsNamespaces) and shared.place not in store.copies():
        if config.read_only:
            # An erasure could not find what a reader leaves on a server that no writer uses.
            return WorkingCanvas(settings)
        store.record_copy(shared.place)
    return WorkingCanvas(settings, shared)


def canvases_of(url: str, store: GraphStorePort) -> SharedCanvases:
    """Return the canvases of a memory on a server, which is reached at the first call.

    Raises:
        ConfigError: the URL is of another kind, or the store has no identity.
        MissingExtraError: a package is not installed.
    """
    if not isinstance(store, SupportsNamespaces):
        raise ConfigError(f"a {type(store).__name__} has no identity; leave metabolism.canvas_url out")
    module = import_extra("neurogated.projections.redis_canvases", "redis")
    lifetime = _CANVAS_HALF_LIVES * CANVAS_HALF_LIFE.total_seconds()
    found: SharedCanvases = module.RedisCanvases(url, store.identity[0], seconds=_CANVAS_SECONDS, lifetime=lifetime)
    return found


def default_models(config: MemoryConfig | None = None) -> Models:
    """Return the models that settings name, for parts that are built without them; they write nothing to disk.

    The settings are those of the environment and the defaults when left out. The models of the last settings stay
    loaded. Raises ConfigError if a chosen model lacks a setting.
    """
    return _shared_models(load_config() if config is None else config)


@functools.lru_cache(maxsize=1)
def _shared_models(config: MemoryConfig) -> Models:
    return _models(config, build_text_embedder(config), build_language_model(config))


if hasattr(os, "register_at_fork"):
    # A forked child cannot run the parent's model.
    os.register_at_fork(after_in_child=_shared_models.cache_clear)


def _models(config: MemoryConfig, embedder: Embedder, llm: BaseLLM | None) -> Models:
    """Return the models over an embedder and a language model."""
    offline, rules = OfflineQuestionJudge(embedder), OfflineImportanceJudge()
    judge: QuestionJudge = offline
    importance = rules
    model, prompts = None if llm is None else StructuredLLM(llm), PromptTemplateManager()
    if model is None:
        _log.info("%s", OFFLINE_NOTICE)
    else:
        importance = LLMImportanceJudge(model, prompts, config)
        if config.retrieval.asks_model:
            judge = LLMQuestionJudge(model, prompts, config, deadline=_KERNEL_SECONDS)
    chosen = {"equal": None, "offline": rules, "model": importance}[config.metabolism.importance]
    return Models(
        config,
        embedder,
        KernelGenerator(config, judge=judge, fallback=offline, concurrency=config.llm.concurrency if model else 1),
        judge,
        offline,
        # A write waits for no model; the model reads names and causes later, with what is said.
        OfflineCausalJudge(),
        OfflineEntityFinder(),
        Encoder(chosen, SentimentScale.of_embedder(embedder.name)),
        model,
    )


def _text_judge(config: MemoryConfig, model: LanguageModel | None) -> TextJudge | None:
    """Return the judge of pairs of texts that the settings name; None for none."""
    if (encoder := config.metabolism.known_by.get("pairs")) is None:
        return None
    if encoder:
        return CrossEncoderJudge(CrossEncoder(encoder, "metabolism.knowledge='claims, slots, pairs=NAME'"))
    return None if model is None else ModelJudge(model, PromptTemplateManager(), config)


def build_consolidator(config: MemoryConfig, parts: Parts) -> Consolidator:
    """Return the consolidator of a graph. The language model of `parts` writes its texts, if there is one."""
    model = parts.language_model
    summariser = None if model is None else Summariser(model, PromptTemplateManager())
    finder = LeidenCommunities() if parts.community_finder is None else parts.community_finder
    return Consolidator(parts.store, parts.embedder, finder, config, summariser)


def build_text_embedder(config: MemoryConfig) -> Embedder:
    """Return the embedding model that the settings name, without a cache of its vectors."""
    return build_embedder(config, api_key=os.environ.get(_OPENAI_KEY))


def cached(embedder: Embedder, config: MemoryConfig) -> Embedder:
    """Return an embedder with the cache of a memory. Raises StorageError if it can be neither opened nor created."""
    return CachedEmbedder(embedder, Path(config.save_dir) / _EMBEDDING_CACHE, config.cache_bytes)


def build_language_model(config: MemoryConfig, answers: Path | None = None) -> BaseLLM | None:
    """Return the configured language model with its limits, None if there is neither key nor address."""
    openai_key, anthropic_key = (os.environ.get(name) or None for name in (_OPENAI_KEY, "ANTHROPIC_API_KEY"))
    if not llm_is_configured(config, api_key=openai_key, anthropic_api_key=anthropic_key):
        return None
    return with_limits(get_llm(config), config, answers)


def load_config(
    path: str | Path | None = None, environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> MemoryConfig:
    """Gather settings from a YAML or JSON file, then the environment, then `overrides`; the later wins.

    An `llm_name` among them asks for this model, as with `llm="auto"`, unless `llm` says otherwise. Raises ConfigError
    if the file cannot be read, or a setting is unknown or out of range.

    Args:
        path: settings file; its keys are the names of `MemoryConfig`.
        environ: variables named `NEUROGATED_<SETTING>`; those of the process when left out.
        overrides: settings by name.
    """
    values = _read_settings(Path(path)) if path is not None else {}
    environ = os.environ if environ is None else environ
    values |= MemoryConfig.environment_values(environ) | dict(overrides or {})
    group = values.get(_LLM, {})
    if "llm_name" in values and f"{_LLM}.use" not in values and isinstance(group, Mapping) and "use" not in group:
        # Whoever names a model asks for it, also for the one that is the default.
        values[f"{_LLM}.use"] = AUTO
    try:
        return MemoryConfig.from_mapping(values)
    except ConfigError as error:
        for variable, text in environ.items():
            try:
                given = MemoryConfig.environment_values({variable: text}).items()
                MemoryConfig.from_mapping({name: value for name, value in given if values.get(name) == value})
            except ConfigError as own:
                if str(own) == str(error):
                    raise ConfigError(f"the environment variable {variable}: {error}") from None
        raise


def _read_settings(path: Path) -> dict[str, Any]:
    import yaml  # imported here, since few runs read a settings file

    try:
        text = path.read_text(encoding="utf-8-sig")
        values = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"settings file {path} cannot be read ({' '.join(str(error).split())})") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"settings file {path} holds a {type(values).__name__}, but must hold names and values")
    return {str(name): value for name, value in values.items()}


_CANVASES = frozenset({"redis", "rediss", "unix"})


def is_of_canvases(place: str) -> bool:
    """Return whether a URL is that of a server of canvases; otherwise it is a database of facts."""
    return urlsplit(place).scheme in _CANVASES


def open_facts(url: str | Path) -> FactProjection:
    """Return the table of facts in a file or a database, which is opened on its first use.

    Raises:
        ConfigError: the URL is of another kind.
        MissingExtraError: a package is not installed.
    """
    module = import_extra("neurogated.projections.fact_table", "facts")
    table: FactProjection = module.FactTable(url, seconds=FACTS_SECONDS)
    return table
