"""Embeddings and a chat model of LangChain that need no network."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from neurogated.dialogue.analysts import keywords_of, summary_of
from neurogated.text.keywords import split_keywords
from tests.knowledge.plain_reader import plainly_read


class WordEmbeddings(Embeddings):
    """Texts with common words are similar."""

    model = "words"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = np.full(64, 1e-3)
        for word in split_keywords(text):
            vector += np.random.default_rng(list(word.encode())).standard_normal(64)
        return [float(value) for value in vector / np.linalg.norm(vector)]


class ScriptedChat(BaseChatModel):
    """Answers each kind of prompt by a function of its last message; notes the messages."""

    answers: Mapping[str, Callable[[str], Any]]
    """By a word of the system's message."""
    _asked: list[tuple[str, str]] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def asked(self) -> list[tuple[str, str]]:
        return list(self._asked)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        system, last = str(messages[0].content), str(messages[-1].content)
        kind = next(word for word in self.answers if word in system)
        with self._lock:
            self._asked.append((kind, last))
        answer = json.dumps(self.answers[kind](last))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def lines(prompt: str) -> Sequence[dict[str, Any]]:
    """Return the messages of a prompt, each a JSON object on a line of its own."""
    return [json.loads(line) for line in prompt.splitlines() if line.startswith("{")]


_TRAITS = {
    "Living environment": r"I (?:now )?(?:live in|moved to) (?P<value>\w+)",
    "Health": r"I am allergic to (?P<value>\w+)",
    "Age group": r"I am (?P<value>\d+) years old",
    "Music": r"I (?:like|play) (?P<value>\w+(?: \w+)*)",
}


def _page(prompt: str) -> dict[str, Any]:
    text = prompt.partition("\n\nExchange:\n")[2]
    keywords = keywords_of(text)
    return {"continues": False, "summary": summary_of(text, keywords), "keywords": keywords}


def _traits(prompt: str) -> dict[str, Any]:
    found = [
        {"dimension": name, "value": said["value"], "confidence": 0.9, "message": one["message"], "quote": said[0]}
        for one in lines(prompt)
        for name, pattern in _TRAITS.items()
        for said in re.finditer(pattern, one["text"])
    ]
    # What no message says, and what is sensitive, is dropped.
    made_up = {"dimension": "Pets", "value": "a cat", "confidence": 0.9, "message": 1, "quote": "my cat"}
    sensitive = {**made_up, "dimension": "Neuroticism", "quote": lines(prompt)[0]["text"]}
    return {"traits": [*found, made_up, sensitive]}


def _claims(prompt: str) -> dict[str, Any]:
    claims = [claim for one in lines(prompt) for claim in plainly_read(one)]
    return {"claims": [*claims, *({**one, "value": "a cat", "quote": "my cat"} for one in claims)]}


def plain_chat() -> ScriptedChat:
    """Return a chat model that describes pages by rules, and reads plain sentences."""
    return ScriptedChat(answers={"continues": _page, "dimension": _traits, "claim": _claims})
