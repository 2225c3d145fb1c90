"""Prompt: the kind of a question. The kind determines the kernel; the model is not asked for weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neurogated.core.judgements import QuestionKind
from neurogated.prompts.prompt_template import STRENGTHS, few_shot, role_pairs

VERSION = "2"

SYSTEM = """\
You tell what a question is after, so that a memory knows which of its links to follow. You do not answer the question.

Kinds of question:
- why: it asks for the reason or cause of something. "why", "what caused", "what led to"; 为什么, 原因, 怎么会
- consequence: it asks what something led to. "what happened because of", "effect", "result", "impact"; 结果, 影响, 后果
- when: it asks for a time, a date, a duration or an order. "when", "what year", "how long"; 什么时候, 哪一年, 多久
- next: it asks for the step or event that follows another. "then", "after that", "next step"; 接下来, 然后, 下一步
- like: it asks what resembles something, for comparisons or analogies. "similar", "alike", "reminds of"; 类似, 相似, 像
- fact: it asks for anything else: who, what, where, which, how many; 谁, 什么, 哪里, 多少

Go by what is asked for, not by the first word: "What caused the fire?" is why, "What did the fire cause?" is \
consequence, and "What did she say when she left?" is fact.

Strength, how clearly the question is of its kind:
- strong: it says so outright
- medium: it can well be read so
- weak: it is little more than a guess

Answer with one JSON object and nothing else:
{"kind": "why" or "consequence" or "when" or "next" or "like" or "fact", "strength": "weak" or "medium" or "strong", \
"reason": a few words}"""

USER = "Question: $query"

KERNEL_GENERATION_TEMPLATE = role_pairs(SYSTEM, USER)
"""System text and request for `str.format`."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": [kind.value for kind in QuestionKind]},
        "strength": {"type": "string", "enum": list(STRENGTHS)},
        "reason": {"type": "string", "maxLength": 160},
    },
    "required": ["kind", "strength", "reason"],
    "additionalProperties": False,
}

EXAMPLES = few_shot(
    USER,
    [
        (
            {"query": "Why did the bridge close in March?"},
            {"kind": "why", "strength": "strong", "reason": "asks for the reason of the closing"},
        ),
        (
            {"query": "Who wrote the report about the bridge?"},
            {"kind": "fact", "strength": "strong", "reason": "asks for a person"},
        ),
        (
            {"query": "这次停电的结果是什么？"},
            {"kind": "consequence", "strength": "strong", "reason": "asks what the power cut led to"},
        ),
        (
            {"query": "What did Maria do after she had signed the contract?"},
            {"kind": "next", "strength": "strong", "reason": "asks for the event that follows the signing"},
        ),
        (
            {"query": "What was behind the sudden drop in sales?"},
            {"kind": "why", "strength": "strong", "reason": "'what was behind' asks for the cause"},
        ),
        (
            {"query": "In what year was the museum founded?"},
            {"kind": "when", "strength": "strong", "reason": "asks for a year"},
        ),
        (
            {"query": "Which of our trips was most like the one to Lisbon?"},
            {"kind": "like", "strength": "strong", "reason": "asks for what resembles the trip to Lisbon"},
        ),
        (
            {"query": "How did the new tax change the lives of farmers?"},
            {"kind": "consequence", "strength": "medium", "reason": "asks for effects of the tax"},
        ),
        (
            {"query": "服务器崩溃的原因是什么？"},
            {"kind": "why", "strength": "strong", "reason": "asks for the cause of the crash"},
        ),
        (
            {"query": "Where does Tom like to go when it rains?"},
            {"kind": "fact", "strength": "strong", "reason": "asks for a place, not for a time or a likeness"},
        ),
        (
            {"query": "Tell me about the outage."},
            {"kind": "fact", "strength": "weak", "reason": "asks for nothing in particular"},
        ),
    ],
)
