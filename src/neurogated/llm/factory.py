"""Construction of the configured language model, with its limits and its cache."""

import logging
from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.llm.anthropic_llm import AnthropicLLM
from neurogated.llm.base import OFF, BaseLLM, model_name
from neurogated.llm.local_llm import LocalLLM
from neurogated.llm.openai_llm import OpenAILLM
from neurogated.llm.wrappers import CachedLLM, LimitedLLM

_log = logging.getLogger(__name__)

_OPENAI_PREFIX = "gpt"
_ANTHROPIC_PREFIX = "claude"


def get_llm(config: MemoryConfig) -> BaseLLM:
    """Return the configured model. Nothing is loaded or sent yet.

    With `llm_base_url`, that server has the model of any name. Without it, OpenAI has gpt*, Anthropic has claude*, and
    any other name is a model in this process. The keys are the environment variables `OPENAI_API_KEY` and
    `ANTHROPIC_API_KEY`.

    Raises:
        ConfigError: the key of the model is missing.
        MissingExtraError: the package of the model is not installed.
    """
    name = model_name(config)
    if config.llm_base_url or name.startswith(_OPENAI_PREFIX):
        return OpenAILLM(config)
    return AnthropicLLM(config) if name.startswith(_ANTHROPIC_PREFIX) else LocalLLM(config)


def with_limits(llm: BaseLLM, config: MemoryConfig, cache_path: Path | None = None) -> BaseLLM:
    """Return a model with the configured limits, and with a cache if it has a path, whose hits use no budget."""
    most = config.llm.limits
    limited = LimitedLLM(
        llm,
        concurrency=config.llm.concurrency,
        max_calls=most.get("calls"),
        max_tokens=most.get("tokens"),
        max_cost=most.get("cost"),
        prices=(most.get("prompt_price", 0.0), most.get("answer_price", 0.0)),
    )
    return limited if cache_path is None else CachedLLM(limited, cache_path, config.cache_bytes)


def llm_is_configured(config: MemoryConfig, api_key: str | None = None, anthropic_api_key: str | None = None) -> bool:
    """Return whether the settings allow a model and one is available: a server's address, a key, or a model's folder.

    A key alone does not enable paid calls; then the log names the setting that does.
    """
    if config.llm.use == OFF:
        return False
    name = model_name(config)
    if config.llm_base_url:
        return True
    if name.startswith((_OPENAI_PREFIX, _ANTHROPIC_PREFIX)):
        key = api_key if name.startswith(_OPENAI_PREFIX) else anthropic_api_key
        if key and config.llm.use is None and name == MemoryConfig().llm_name:
            _log.info("a key for %s exists, but no setting enables a language model; llm='auto' enables it", name)
            return False
        return bool(key)
    return bool(name) and Path(name).is_dir()
