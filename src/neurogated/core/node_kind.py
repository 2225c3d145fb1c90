"""The open registry of node kinds."""

import re

from neurogated.errors import ConfigError, InputError
from neurogated.text.strings import checked_text

_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MOST_KINDS = 2**15
"""Graph indexes number node kinds in 16 bits."""

DEFAULT_KIND = "episode"
TURN = "turn"
CALL = "call"
PLACEHOLDER = "placeholder"
CLAIM = "claim"
EVENT = "event"
FACT = "fact"
PROFILE = "profile"
SEGMENT = "segment"
ITEM = "item"
NODE_KINDS: dict[str, str] = {
    DEFAULT_KIND: "something that happened or was read: a text, a passage, a message",
    TURN: "a turn of a conversation",
    CALL: "calls of tools in a conversation, a line each",
    PLACEHOLDER: "an entry of a conversation without words, stored for its original; recalls leave it out",
    FACT: "a statement with a subject, an attribute and a value",
    CLAIM: "a fact that was read from a memory",
    "conflict": "a contradiction between memories",
    PROFILE: "what is known of one person or thing, in one line",
    SEGMENT: "memories about one thing: its title and days",
    EVENT: "a decision or an action of the agent, with its outcome",
    "policy": "a rule that the agent follows",
    ITEM: "a value under a key, as in a LangGraph store",
}
"""The registered kinds with their descriptions; `register_kind` adds to them."""
_OF_WORDLESS = frozenset({CALL, PLACEHOLDER})
_MADE_HERE = frozenset({"conflict", CLAIM, ITEM})
"""Only the memory itself makes nodes of these kinds, because it trusts their metadata."""


def register_kind(kind: str, description: str = "") -> str:
    """Register a kind, unless it is, and return it; raises ConfigError for no lower-case word, or too many kinds."""
    if not _WORD.fullmatch(checked_text("a node kind", kind)):
        raise ConfigError(f"node kind {kind!r} must be a lower-case word of at most 64 letters, digits and underscores")
    if kind not in NODE_KINDS and len(NODE_KINDS) >= _MOST_KINDS:
        raise ConfigError(f"{kind!r} would be node kind number {len(NODE_KINDS) + 1}; {_MOST_KINDS} are possible")
    NODE_KINDS.setdefault(kind, description)
    return kind


def checked_kind(kind: str) -> str:
    """Return `kind` if it is registered; raises ConfigError."""
    if checked_text("a node kind", kind) not in NODE_KINDS:
        known = ", ".join(NODE_KINDS)
        raise ConfigError(f"unknown node kind {kind!r}; known are {known}; see register_kind")
    return kind


def kind_of_new_text(kind: str, *, in_session: bool) -> str:
    """Return the kind of a memory whose text is replaced. Kinds that tell what the old text was end with it."""
    return kind if kind not in _OF_WORDLESS else TURN if in_session else DEFAULT_KIND


def given_kind(kind: str | None) -> str | None:
    """Return the kind that a caller gives; raises InputError if only the memory itself makes nodes of this kind."""
    if kind is not None and checked_text("a node kind", kind) in _MADE_HERE:
        raise InputError(f"only the memory itself makes nodes of the kind {kind!r}; choose another kind")
    return kind
