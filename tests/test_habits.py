"""Calls as in other libraries are refused in a sentence with the right name."""

from collections.abc import Callable
from typing import Any

import pytest

import neurogated
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ConfigError, InputError, UnknownIdError


def at_odds(memory: Any) -> Any:  # noqa: ANN401 - as in the calls
    for city in ("Lyon", "Oslo"):
        memory.facts.add("Ana", "home", city)
    return memory.conflicts.list()[0]


Call = Callable[[Any], object]

CALLS: list[tuple[Call, type[Exception], str]] = [
    (lambda memory: memory.search("tea", user_id="ana"), AttributeError, r"call recall\(query, user_id=…\)"),
    (lambda memory: memory.reset(), AttributeError, "force_index_from_scratch"),
    (lambda memory: memory.history("id"), TypeError, r"history\.of\(id\)"),
    (lambda _: NeuroGraphMemory(save_dir="x"), TypeError, r"NeuroGraphMemory\(MemoryConfig\(save_dir=…\)\)"),  # type: ignore[arg-type]
    (lambda _: NeuroGraphMemory(path="x"), TypeError, "unknown setting 'path'; did you mean 'save_dir'"),  # type: ignore[arg-type]
    (lambda _: MemoryConfig(model="x"), TypeError, "did you mean 'llm_name'"),  # type: ignore[call-arg]
    (lambda _: MemoryConfig.from_mapping({"path": "x"}), ConfigError, "did you mean 'save_dir'"),
    (lambda memory: type(memory).from_config({}), AttributeError, r"call NeuroGraphMemory\(MemoryConfig\("),
    (lambda _: neurogated.Memory, ImportError, r"call NeuroGraphMemory\(MemoryConfig\(save_dir=…\)\)"),  # type: ignore[attr-defined]
    (lambda memory: memory.save(), AttributeError, "on disk when add returns"),
    (lambda memory: memory.add(messages=[]), TypeError, r"write add\(content, \*, .*; the text or the messages"),
    (lambda memory: memory.add("x", "ana"), TypeError, r"write add\(content, \*, user_id=…, \*\*details\)$"),
    (lambda memory: memory.list(limt=3), InputError, r"unknown argument limt; did you mean limit\?"),
    (lambda memory: memory.recall(question="x"), TypeError, "the question comes first"),
    (lambda memory: memory.list("ana"), TypeError, r"write list\(\*, limit=…, cursor=…, user_id=…, \*\*filters\)"),
    (lambda memory: memory.recall("x", limit=3), InputError, "unknown argument limit; did you mean top_n"),
    (lambda memory: memory.recall("x", filters={}), InputError, "filters are user_id, session_id, tags and where"),
    (lambda memory: memory.delete(run_id="r"), InputError, "unknown argument run_id; did you mean session_id"),
    (lambda memory: memory.facts.add("a", "b", "c", agent_id="x"), TypeError, "an agent is agent_id in add and recall"),
    (lambda memory: memory.admin.drop_namespace("x"), UnknownIdError, "there is no namespace 'x'; there are: default$"),
    (lambda memory: memory.answer(memory.recall("x")), ConfigError, "no language model is configured.*llm='auto'"),
    (lambda memory: memory.recall("x")["results"], TypeError, r"for one in recall: one\.content, one\.score"),
    (lambda memory: memory.add("x").results, AttributeError, "the list of the ids"),
    (lambda memory: memory.get(memory.add("x")[0])["memory"], TypeError, r"read \.content"),
    (lambda memory: memory.recall(*memory.add("x") and "x")[0]["memory"], TypeError, r"read \.content"),
    (
        lambda memory: memory["x"],
        TypeError,
        r"NeuroGraphMemory has no key 'x'; call recall\(query\), list\(\) or get\(id\)",
    ),
    (lambda memory: memory.facts["x"], TypeError, "Facts has no key 'x'; its calls are add, list"),
    (lambda memory: memory.get_context("x")["text"], TypeError, r"Context has no key 'text'; read \.text"),
    (lambda memory: memory.feedback([])["x"], TypeError, r"the number of edges, with .*\.gone"),
    (lambda memory: at_odds(memory)["question"], TypeError, r"read \.question"),
    (lambda memory: memory.conflicts.resolve("x"), TypeError, r"write resolve\(conflict_id, keep, \*, because=…"),
    (
        lambda memory: memory.conflicts.resolve(at_odds(memory).id, "none"),
        InputError,
        "keep is 'none', but must be 'both'",
    ),
    (lambda memory: memory.wrong, AttributeError, "^NeuroGraphMemory has no 'wrong'$"),
]


@pytest.mark.parametrize(("call", "kind", "told"), CALLS, ids=[told for _, _, told in CALLS])
def test_the_right_name_is_told(call: Call, kind: type[Exception], told: str) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory, pytest.raises(kind, match=told):
        call(memory)


def test_a_recalled_memory_has_the_fields_of_its_node_that_one_reads_first() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        said = {"role": "user", "name": "Ann", "content": "I like tea.", "timestamp": "2026-05-04T09:00:00Z"}
        memory.add(said, session_id="s", title="Drinks")
        found = memory.recall("tea")[0]
        assert (found.role, found.speaker, found.title) == ("user", "Ann", "Drinks")
        assert found.timestamp == found.node.timestamp is not None
        assert "I like tea." in repr(found)


def test_results_show_themselves_as_tables_in_a_notebook_and_no_text_becomes_markup() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        (name,) = memory.add(
            {"role": "user", "name": "Ann", "content": "Ann likes <b>tea</b>."}, timestamp="2026-05-04"
        )
        memory.add("Tea grows in Assam.")
        recall, context = memory.recall("What does Ann like?"), memory.get_context("What does Ann like?")
        for one in (recall, context, memory.get(name)):
            shown = one._repr_html_()
            assert shown.startswith("<table>")
            assert "Ann likes &lt;b&gt;tea&lt;/b&gt;." in shown
            assert "<b>" not in shown
        assert "4 May 2026" in recall._repr_html_()
        assert "2 memories" in memory.manifest.get()._repr_html_()
