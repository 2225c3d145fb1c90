"""A server of a language model that reads a few plain sentences, for memories whose messages say facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from neurogated import MemoryConfig
from tests.knowledge.model_server import ModelServer, Pair, serving

_VALUE = r"(?P<value>\d+ euros|\w+(?: [A-Z]\w+)*)"
_END = re.compile(r"[.!;,。]\s*(?:and )?|\s+and (?=I\b)")
_LEFT_OUT = re.compile(r"[^.!?]*\?|If [^.]*")
_STATE = "(?P<state>no longer |used to |quit )?"
_BEGINS = re.compile(r"\bnow\b|\bmoved\b|现在")
_PATTERNS: Mapping[str, str] = {
    "home": rf"(?P<who>\w+) (?:now )?{_STATE}(?:lives? in|moved to) {_VALUE}|(?:住在)(?P<han>\w+)",
    "employer": rf"(?P<who>\w+) {_STATE}(?:works? (?:at|for) )?(?<=quit |..at |.for ){_VALUE}",
    "job": r"(?P<who>\w+) works? as an? (?P<value>\w+)",
    "allergy": rf"(?P<who>I)'m (?P<state>not )?allergic to {_VALUE}",
    "diet": rf"(?P<who>I) (?P<state>don't )?eat {_VALUE}",
    "phone_number": r"(?P<who>My) phone number is (?P<value>[\d ]+)",
    "birthday": r"(?P<who>My) birthday is on (?P<value>[\w ]+)",
    "pet": r"(?P<who>My) \w+ is called (?P<value>\w+)",
    "like": r"(?P<who>I) like (?P<value>\w+(?: \w+)*)",
    "instrument": rf"(?P<who>I) play the {_VALUE}",
    "capital": rf"The capital of (?P<who>\w+) is {_VALUE}",
    "rent": rf"(?P<who>My) rent is {_VALUE}",
}
_STATES = {"no longer ": "ends", "quit ": "ends", "used to ": "past", "not ": "denied", "don't ": "denied"}


def plainly_read(message: Pair) -> list[dict[str, Any]]:
    """Return the claims of a message of plain sentences."""
    clauses = _END.split(_LEFT_OUT.sub("", message["text"]))
    return [claim for clause in clauses for claim in _read(message, clause)]


def _read(message: Pair, clause: str) -> Iterator[dict[str, Any]]:
    for attribute, pattern in _PATTERNS.items():
        if found := re.search(pattern, clause):
            parts = {"state": "", **found.groupdict()}
            state = _STATES.get(parts["state"] or "", "begins" if _BEGINS.search(clause) else "holds")
            who = parts["who"] or "I"
            yield {
                "message": message["message"],
                "subject": "user" if who in {"I", "My"} else who,
                "attribute": attribute,
                "value": parts["value"] or parts["han"],
                "state": state,
                "since": "",
                "until": "",
                "quote": clause.strip(),
            }


@contextmanager
def reading() -> Iterator[Mapping[str, Any]]:
    """Run the server; yield the settings of memories that it reads, and that judges no pairs."""
    with serving() as server:
        server.claims = plainly_read
        yield settings_for(server)


def settings_for(server: ModelServer) -> Mapping[str, Any]:
    """Return the settings with which a memory asks a server what its messages say."""
    return {
        "embedding_name": "hash",
        "llm_base_url": server.url,
        "cache_bytes": 0,
        "llm.wait": True,
        "metabolism.knowledge": "claims, slots",
    }


def flags_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the address of the model, for which writes wait, as flags of a command."""
    return ["--llm_base_url", settings["llm_base_url"], "--set", "llm.wait=true"]


def config_of(settings: Mapping[str, Any], **others: Any) -> MemoryConfig:  # noqa: ANN401 - the settings have many types
    """Return the configuration of a memory with these settings."""
    return MemoryConfig.from_mapping({**settings, **others})
