"""Language models in this process, through transformers."""

import importlib
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.extras import import_extra, no_loading_bar
from neurogated.core.ports import Message
from neurogated.errors import LLMError
from neurogated.llm.base import LENGTH, ConfiguredLLM, Meta, answer_tokens


class LocalLLM(ConfiguredLLM):
    """A causal language model by name or folder. It is loaded at the first question and answers one at a time.

    Torch chooses the device, so `CUDA_VISIBLE_DEVICES` decides. With the package `accelerate`, the model is spread over
    all visible GPUs. A schema only limits the length of an answer.
    """

    def __init__(self, config: MemoryConfig) -> None:
        """Describe the model, a folder or a name on the Hugging Face hub. Nothing is loaded yet."""
        super().__init__(config)
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the model's answer. The schema only limits its length.

        Raises:
            LLMError: the model cannot be loaded, the messages are too long for it, or it misses the deadline.
            MissingExtraError: transformers is not installed.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            tokenizer, model = self._loaded
            encoded = self._encode(tokenizer, messages).to(model.device)
            asked = encoded["input_ids"].shape[-1]
            room = self._room(model, asked, answer_tokens(schema, self._max_new_tokens))
            sampling = (
                {"do_sample": True, "temperature": self._temperature} if self._temperature else {"do_sample": False}
            )
            filler = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
            try:
                made = model.generate(
                    **encoded, max_new_tokens=room, max_time=self._timeout, pad_token_id=filler, **sampling
                )
            except (RuntimeError, ValueError, IndexError) as error:
                raise LLMError(
                    f"language model {self._model!r} failed ({error}); it may need more memory than is available"
                ) from error
            answer: list[int] = made[0].tolist()[asked:]
        ends = model.generation_config.eos_token_id
        is_whole = bool(answer) and answer[-1] in (ends if isinstance(ends, list) else [ends])
        if not is_whole and len(answer) < room:
            raise LLMError(
                f"language model {self._model!r} did not finish within {self._timeout:g} seconds; raise llm.timeout, "
                "or lower max_new_tokens"
            )
        return tokenizer.decode(answer, skip_special_tokens=True), {
            "model": self._model,
            "prompt_tokens": asked,
            "completion_tokens": len(answer),
            "finish_reason": "stop" if is_whole else LENGTH,
            "cached": False,
        }

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[Any, Any]:
        library = import_extra("transformers", "gpu")
        torch = import_extra("torch", "gpu")
        on_gpu = torch.cuda.is_available()
        spread = {"device_map": "auto"} if on_gpu and importlib.util.find_spec("accelerate") else {}
        try:
            with no_loading_bar():
                tokenizer = library.AutoTokenizer.from_pretrained(self._model)
                model = library.AutoModelForCausalLM.from_pretrained(self._model, dtype="auto", **spread)
        except (OSError, ValueError, RuntimeError, ImportError, KeyError) as error:
            said = " ".join(str(error).split())
            raise LLMError(
                f"language model {self._model!r} cannot be loaded in this process ({said}); check llm_name, or set "
                "llm_base_url if a server has the model"
            ) from error
        return tokenizer, model if spread else model.to("cuda" if on_gpu else "cpu")

    def _encode(self, tokenizer: Any, messages: Sequence[Message]) -> Any:  # noqa: ANN401
        if not tokenizer.chat_template:
            turns = [f"{message['role']}: {message['content']}" for message in messages]
            return tokenizer("\n\n".join([*turns, "assistant:"]), return_tensors="pt")
        jinja = importlib.import_module("jinja2")
        try:
            return tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            )
        except jinja.TemplateError as error:
            raise LLMError(
                f"the chat template of language model {self._model!r} refuses the messages ({error}); choose a model "
                "that takes the roles system, user and assistant"
            ) from error

    def _room(self, model: Any, asked: int, most: int) -> int:  # noqa: ANN401
        longest = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        room = most if longest is None else min(most, longest - asked)
        if room < 1:
            raise LLMError(
                f"the messages have {asked} tokens, but language model {self._model!r} takes {longest} together with "
                "its answer; lower indexing.chunk_size or choose a model that takes more"
            )
        return room
