"""A search of all three tiers at once, ranked by one score."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

from neurogated.dialogue.analysts import ModelAnalyst
from neurogated.dialogue.model import ASSISTANT_KNOWLEDGE, KNOWLEDGE, USER_KNOWLEDGE, DialoguePage
from neurogated.dialogue.updater import DialoguePages, DialogueParts

SHORT_TERM, MID_TERM = "short_term", "mid_term"
_DORMANT = 0.5
"""What a dormant segment leaves of the scores of its pages."""
_KNOWN = 0.7
"""A sentence scores higher than the page that says it; this factor levels knowledge and pages."""
_NO_MODEL = "profile and knowledge are empty, because only a chat model fills them; give MemoryOS one as llm="


class Hit(NamedTuple):
    """One result of a search."""

    tier: str
    """`short_term`, `mid_term`, `user_knowledge` or `assistant_knowledge`."""
    key: str
    score: float
    text: str
    evidence: tuple[str, ...]
    """The keys of the pages that it shows: of a page its own."""


class DialogueAnswer(dict[str, str]):
    """What a search returns: texts for a prompt, by the names of MemoryOS.

    Its keys are `short_term_memory`, `mid_term_memory`, `user_background_context`, `assistant_knowledge` and
    `conversation_metadata`. The last two also have the names `assistant_knowledge_text_for_prompt` and
    `meta_data_text_for_prompt`.

    Attributes:
        hits: the merged results, best first.
        reason: why profile and knowledge are empty; "" if they are not, or if a model may fill them.
    """

    _OTHER_NAMES: Mapping[str, str] = {
        "assistant_knowledge_text_for_prompt": "assistant_knowledge",
        "meta_data_text_for_prompt": "conversation_metadata",
    }

    def __init__(self, texts: Mapping[str, str], hits: Sequence[Hit], reason: str = "") -> None:
        super().__init__(texts)
        self.hits = tuple(hits)
        self.reason = reason

    def __missing__(self, key: str) -> str:
        return self[self._OTHER_NAMES[key]]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._OTHER_NAMES.get(str(key), key))

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as in dict
        """Return a text under either name."""
        return super().get(self._OTHER_NAMES.get(key, key), default)


def search(
    parts: DialogueParts,
    threads: Executor,
    conversation: DialoguePages,
    query: str,
    counts: tuple[int, int],
    *,
    session_id: str | None,
    metadata: Mapping[str, Any] | None,
) -> DialogueAnswer:
    """Search the pages, the knowledge and the profile of a user in parallel.

    The first of the `counts` bounds the results of each tier, the second those of all tiers together.
    """
    (most, top_k), user_id, kept = counts, conversation.user_id, parts.kept
    # All pages of the short-term memory may be better than those of the mid-term memory.
    limit = most + parts.settings.short_term_max_capacity
    pages = threads.submit(kept.find_pages, user_id, query, limit, session_id)
    known = threads.submit(kept.find_knowledge, user_id, query, len(KNOWLEDGE) * most)
    profile = threads.submit(parts.profile, user_id)
    recent = [one.key for one in conversation.timeline.newest(parts.settings.short_term_max_capacity, session_id)]
    scored = []
    for key, score in pages.result():
        weight = _DORMANT if conversation.segment_of.get(key) in conversation.asleep else 1.0
        scored.append(Hit(SHORT_TERM if key in recent else MID_TERM, key, score * weight, "", (key,)))
    facts = [
        Hit(one.kind, one.key, one.score * _KNOWN, one.value["text"], tuple(one.value["evidence"]))
        for one in known.result()
        if not one.value.get("until")
    ]
    hits = _cut([*scored, *facts], most, top_k)
    shown = kept.pages(user_id, {*recent, *(one.key for one in hits if one.tier in (SHORT_TERM, MID_TERM))})
    hits = [
        one._replace(text=shown[one.key].text) if one.key in shown else one
        for one in hits
        if one.tier in KNOWLEDGE or one.key in shown
    ]
    topics = {one.key: conversation.segment_of[one.key] for one in hits if one.key in conversation.segment_of}
    conversation.visit(frozenset(topics.values()), parts.instance, parts.clock().timestamp())
    texts = {
        "short_term_memory": "\n\n".join(_page_text(shown[key]) for key in recent if key in shown),
        "mid_term_memory": "\n\n".join(
            _page_text(shown[one.key], conversation.segments[topics[one.key]].summary if one.key in topics else "")
            for one in hits
            if one.tier == MID_TERM
        ),
        "user_background_context": _listed(
            [
                *(f"{name}: {one['value']}" for name, one in profile.result().items()),
                *(one.text for one in hits if one.tier == USER_KNOWLEDGE),
            ]
        ),
        "assistant_knowledge": _listed(one.text for one in hits if one.tier == ASSISTANT_KNOWLEDGE),
        "conversation_metadata": json.dumps(metadata or {}, ensure_ascii=False, default=str),
    }
    knows = profile.result() or known.result()
    return DialogueAnswer(texts, hits, _NO_MODEL if not (knows or isinstance(parts.analyst, ModelAnalyst)) else "")


def _cut(hits: Iterable[Hit], most: int, top_k: int) -> list[Hit]:
    """Return the best hits, at most some of each tier."""
    taken: Counter[str] = Counter()
    chosen = []
    for hit in sorted(hits, key=lambda one: (-one.score, one.key)):
        taken[hit.tier] += 1
        if taken[hit.tier] <= most:
            chosen.append(hit)
    return chosen[:top_k]


def _page_text(page: DialoguePage, topic: str = "") -> str:
    lines = [f"User: {page.user}"] * bool(page.user) + [f"Assistant: {page.assistant}"] * bool(page.assistant)
    lines.append(f"Time: {page.said.isoformat()}")
    lines += [f"Topic: {topic}"] * bool(topic)
    return "\n".join(lines)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
