"""Who reads pages: rules, which only describe them, or a language model."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from neurogated.core.facts import USER, Change, Claim, Slot
from neurogated.core.found import READ_BY_MODEL
from neurogated.core.ports import LanguageModel
from neurogated.dialogue.long_term import ProfileDimension, ProfileLearned, Trait
from neurogated.dialogue.model import ASSISTANT_KNOWLEDGE, USER_KNOWLEDGE, DialoguePage
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import fold, split_keywords, split_words
from neurogated.text.sentences import split_sentences

ASSISTANT = "assistant"
_NEAR = 0.45
"""Cosine of two pages from which the later one continues the earlier one."""
_PAUSE = timedelta(hours=1)
"""A page after a longer pause continues nothing by its cue alone."""
_CUE = re.compile(
    r"(?:and|but|so|also|then|it|that|those|what about|how about|why not|yes|no|und|aber|et|mais|y|pero)\b|[那还但而]",
    re.IGNORECASE,
)
"""How pages begin that say something only after the page before."""
_KEYWORDS, _LONGEST_WORD = 8, 24
_SUMMARY, _TEXT = 240, 4_000
"""Characters of a summary at most, and of a page that a model reads."""
_STATES = {"begins": Change.BEGINS, "ends": Change.ENDS}


class Description(NamedTuple):
    """What is said of a page beside its words."""

    continues: bool
    """Whether it goes on with the page before it in its session."""
    summary: str
    keywords: Sequence[str]


class Analyst:
    """Describes pages by rules: cues, keywords, and the sentence with most of them. It learns nothing from them."""

    def describe(self, page: DialoguePage, previous: DialoguePage | None, similarity: float) -> Description:
        """Describe a page, given the one before it in its session and their cosine."""
        keywords = keywords_of(page.text)
        cue = _CUE.match(page.user or page.assistant)
        continues = previous is not None and (
            similarity >= _NEAR or (page.said - previous.said <= _PAUSE and cue is not None)
        )
        return Description(continues, summary_of(page.text, keywords), keywords)

    def knowledge(self, pages: Sequence[DialoguePage]) -> Mapping[str, Sequence[ProfileLearned]]:  # noqa: ARG002 - see the class
        """Return what pages say about the user, and what the assistant says, by kind of record: nothing by rules."""
        return {USER_KNOWLEDGE: [], ASSISTANT_KNOWLEDGE: []}

    def traits(self, pages: Sequence[DialoguePage], allowed: Mapping[str, ProfileDimension]) -> Sequence[Trait]:  # noqa: ARG002
        """Return what pages say of their user in some dimensions: nothing by rules."""
        return []


class ModelAnalyst(Analyst):
    """Asks a language model, in structured calls. What it says must be in the pages.

    Its errors leave the work undone, so that it is tried again.
    """

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager) -> None:
        self._model = model
        self._prompts = prompts

    def describe(self, page: DialoguePage, previous: DialoguePage | None, similarity: float) -> Description:  # noqa: ARG002
        """Describe a page, given the one before it in its session; the model needs no cosine."""
        answer = self._ask("dialogue_page", previous=previous.text[:_TEXT] if previous else "", page=page.text[:_TEXT])
        keywords = [str(word) for word in answer["keywords"]][:_KEYWORDS]
        summary = str(answer["summary"]).strip()[:_SUMMARY]
        return Description(previous is not None and answer["continues"], summary, keywords)

    def knowledge(self, pages: Sequence[DialoguePage]) -> Mapping[str, Sequence[ProfileLearned]]:
        """Return what pages say about the user, and what the assistant says, by kind of record."""
        return {
            USER_KNOWLEDGE: self._claims([(page, page.user) for page in pages if page.user], USER),
            ASSISTANT_KNOWLEDGE: self._claims([(page, page.assistant) for page in pages if page.assistant], ASSISTANT),
        }

    def traits(self, pages: Sequence[DialoguePage], allowed: Mapping[str, ProfileDimension]) -> Sequence[Trait]:
        """Return what pages say of their user in some dimensions."""
        told = [page for page in pages if page.user]
        if not told:
            return []
        named = "\n".join(f"{one.name}: {one.description}" for one in allowed.values())
        answer = self._ask("dialogue_traits", dimensions=named, messages=_lines([page.user for page in told]))
        found = []
        for entry in answer["traits"]:
            place, value = entry["message"] - 1, " ".join(entry["value"].split())
            if entry["dimension"] in allowed and value and 0 <= place < len(told):
                page = told[place]
                if _is_quoted(entry["quote"], page.user):
                    found.append(Trait(entry["dimension"], value, entry["confidence"], page.key, page.said))
        return found

    def _claims(self, told: Sequence[tuple[DialoguePage, str]], speaker: str) -> list[ProfileLearned]:
        if not told:
            return []
        messages = _lines([text for _, text in told], speaker)
        asked = self._prompts.render("claims", attributes="as you name them", messages=messages)
        schema = self._prompts.schema("claims")
        # The names and causes of a page are of no use here.
        answer = self._model.infer_json(asked, schema, accepts={**schema, "required": ["claims"]})
        found = []
        for entry in answer["claims"]:
            place, parts = entry["message"] - 1, [" ".join(entry[name].split()) for name in ("attribute", "value")]
            if not all(parts) or not 0 <= place < len(told) or not _is_quoted(entry["quote"], told[place][1]):
                continue
            page, subject = told[place][0], entry["subject"].strip() or speaker
            claim = Claim(Slot(subject, parts[0].casefold()), parts[1], said=page.said, quote=entry["quote"].strip())
            state = entry["state"]
            claim = replace(
                claim, is_denied=state == "denied", is_past=state == "past", change=_STATES.get(state),
                confidence=READ_BY_MODEL,
            )  # fmt: skip
            found.append(ProfileLearned(claim, page.key))
        return found

    def _ask(self, prompt: str, **values: str) -> dict[str, Any]:
        return self._model.infer_json(self._prompts.render(prompt, **values), self._prompts.schema(prompt))


def keywords_of(text: str) -> list[str]:
    """Return the most frequent keywords of a text as it writes them; of equally frequent ones, the longer first."""
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for word in split_words(text):
        for stem in split_keywords(word) if len(word) <= _LONGEST_WORD else ():
            written.setdefault(stem, word)
            counts[stem] += 1
    best = sorted(counts, key=lambda stem: (-counts[stem], -len(stem), stem))
    return [written[stem] for stem in best[:_KEYWORDS]]


def summary_of(text: str, keywords: Sequence[str]) -> str:
    """Return the sentence of a text that has most of its keywords, cut to 240 characters."""
    words = {fold(word) for word in keywords}
    sentences = split_sentences(text) or [text]
    best = max(sentences, key=lambda one: len(words.intersection(split_words(one))) / (len(one) + 80) ** 0.5)
    return " ".join(best.split())[:_SUMMARY]


def _lines(texts: Sequence[str], speaker: str | None = None) -> str:
    who = {"speaker": speaker} if speaker == ASSISTANT else {}
    return "\n".join(
        json.dumps({"message": number, **who, "text": text[:_TEXT]}, ensure_ascii=False)
        for number, text in enumerate(texts, 1)
    )


def _is_quoted(quote: str, text: str) -> bool:
    words = " ".join(fold(quote).split())
    return bool(words) and words in " ".join(fold(text).split())
