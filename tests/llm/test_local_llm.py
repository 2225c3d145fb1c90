"""With a real, tiny, untrained model, created here."""

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.errors import LLMError
from neurogated.llm.base import LENGTH
from neurogated.llm.local_llm import LocalLLM

pytestmark = pytest.mark.slow

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "what is memory"}]
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
    "{{ m.role }} {{ m.content }} {% endfor %}{% if add_generation_prompt %}assistant{% endif %}"
)
END, UNKNOWN = "<end>", "<unknown>"
WORDS = [END, UNKNOWN, "system", "user", "assistant", "what", "is", "memory", "graph", "energy", "flows"]
POSITIONS = 32


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizers, transformers, torch = map(importlib.import_module, ("tokenizers", "transformers", "torch"))
    rows = {word: row for row, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(rows, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, unk_token=UNKNOWN)
    fast.chat_template = TEMPLATE
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            max_position_embeddings=POSITIONS, eos_token_id=0, bos_token_id=None, pad_token_id=None,
        )
    )  # fmt: skip
    # With any weights, it says words of the list and does not end by itself.
    model.generation_config.suppress_tokens = [WORDS.index(END), WORDS.index(UNKNOWN)]
    folder = tmp_path_factory.mktemp("tiny-model")
    fast.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def local(folder: Path, **changes: Any) -> LocalLLM:  # noqa: ANN401
    timeout = changes.pop("timeout", 600.0)
    return LocalLLM(
        MemoryConfig(llm_name=str(folder), llm=LLMSettings(timeout=timeout), **{"max_new_tokens": 5, **changes})
    )


def test_a_model_of_ones_own_answers_the_same_each_time(folder: Path) -> None:
    llm = local(folder)

    (text, meta), again = llm.infer(ASKED), llm.infer(ASKED)
    llm.close()

    assert (text, meta) == again
    assert len(text.split()) == 5
    assert meta == {
        "model": str(folder), "prompt_tokens": 8, "completion_tokens": 5, "finish_reason": LENGTH, "cached": False,
    }  # fmt: skip


def test_an_answer_that_ends_by_itself_says_so(folder: Path) -> None:
    llm = local(folder)
    llm.infer(ASKED)
    assert llm._loaded
    _, model = llm._loaded
    first = model.generate(**llm._encode(llm._loaded[0], ASKED), max_new_tokens=1, pad_token_id=0)[0, -1].item()
    # From now on its first word is the end token.
    model.generation_config.eos_token_id = [0, first]

    _, meta = llm.infer(ASKED)

    assert (meta["finish_reason"], meta["completion_tokens"]) == ("stop", 1)


def test_a_model_without_chat_template_sees_the_roles_as_words(folder: Path) -> None:
    llm = local(folder)
    llm.infer(ASKED)
    assert llm._loaded
    tokenizer, _ = llm._loaded
    tokenizer.chat_template = None

    encoded = llm._encode(tokenizer, [{"role": "user", "content": "is"}])

    assert tokenizer.decode(encoded["input_ids"][0]).split() == ["<unknown>", "is", "<unknown>"]


def test_messages_that_leave_no_room_for_an_answer_are_refused(folder: Path) -> None:
    with pytest.raises(LLMError):
        local(folder).infer([{"role": "user", "content": "memory " * 51}])


def test_a_model_that_fails_is_an_error(folder: Path) -> None:
    def run_out(**_: object) -> None:
        raise RuntimeError("out of memory")

    llm = local(folder)
    tokenizer, model = llm._load()
    llm._loaded = (tokenizer, SimpleNamespace(device="cpu", config=model.config, generate=run_out))

    with pytest.raises(LLMError):
        llm.infer(ASKED)
