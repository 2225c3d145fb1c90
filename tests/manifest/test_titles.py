"""Names of communities from a language model: asked once, in the background, by keywords alone."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.llm.structured import StructuredLLM
from neurogated.session.compose import build
from tests.llm.conftest import Handler, Server, server
from tests.manifest.test_manifest import BEES, SAILS
from tests.manifest.test_manifest_cache import rebuilt, settle

__all__ = ["server"]


def names(asked: dict[str, Any]) -> list[str]:
    """Return a name for each group of a request."""
    groups = asked["messages"][-1]["content"].splitlines()[1:]
    return [f"About {group.split(', ')[0]}" for group in groups]


def naming(server: Server) -> list[dict[str, Any]]:
    """Return the requests for names."""
    return [one for one in server.requests if one["messages"][-1]["content"].startswith("Groups:")]


@pytest.fixture
def answers(server: Server) -> Server:
    def act(handler: Handler) -> None:
        handler.send(200, handler.message(json.dumps({"names": names(server.requests[-1])}), None, (7, 3)))

    server.script.append(act)
    return server


@pytest.fixture
def memory(config: MemoryConfig, server: Server) -> Iterator[NeuroGraphMemory]:
    """Return a memory that got its texts when no model was asked."""
    config = config.replace(manifest={"cache_ttl_ms": 0})
    with NeuroGraphMemory(config) as plain:
        plain.add([*SAILS, *BEES])
    parts = replace(build(config), language_model=StructuredLLM(server.llm()))
    with NeuroGraphMemory(config, parts=parts) as opened:
        yield opened


def test_a_language_model_names_communities_once_in_the_background(memory: NeuroGraphMemory, answers: Server) -> None:
    first = memory.manifest.get()
    assert not any(one.name.startswith("About") for one in first.communities)
    text = memory.manifest.text()
    settle(memory)
    named = memory.manifest.get().communities
    assert [one.name for one in named] == [f"About {one.keywords[0]}" for one in named]
    assert memory.manifest.text() == text
    (one, *_) = memory.view().live_edges().tolist()
    memory.store.remove_edge(memory.view().edge_key(one))
    rebuilt(memory)
    settle(memory)
    assert {one.name[:5] for one in memory.manifest.get().communities} == {"About"}
    (asked,) = naming(answers)
    assert not any(text in json.dumps(asked) for text in (*SAILS, *BEES))


@pytest.mark.parametrize("answer", ['{"names": []}', '{"names": ["' + "x" * 61 + '", "y"]}', "no json"])
def test_names_that_do_not_fit_leave_the_keywords(memory: NeuroGraphMemory, server: Server, answer: str) -> None:
    server.says(answer)
    memory.manifest.get()
    settle(memory)
    (entry,) = memory.session.manifests._entries.values()
    assert all(one.title is not None for one in entry.created.named.values())
    for one in memory.manifest.get().communities:
        assert one.name == "y" or {*one.name.split(", ")} < {*one.keywords}
    assert naming(server)
