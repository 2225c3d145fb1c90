"""Unicode has two forms of "é": a user, a tag and a value are one in both, and words stay as they were written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from unicodedata import normalize

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, field
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.dialogue.model import escaped
from neurogated.integrations.conversation import Conversation
from neurogated.server.callers import Grant

JOSE, JOSE_NFD = (normalize(form, "José") for form in ("NFC", "NFD"))


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add("Le café est fermé.", user_id=JOSE_NFD, tags=[JOSE_NFD], metadata={"by": JOSE_NFD}, id="a")
        yield memory


def _learned(memory: NeuroGraphMemory, user: str) -> int:
    before = memory.get("a").importance
    memory.learning.feedback(["a"], user_id=user)
    return int(memory.get("a").importance > before)


READS: dict[str, Callable[[NeuroGraphMemory, str], int]] = {
    "recall": lambda memory, user: len(memory.recall("café fermé", user_id=user)),
    "count": lambda memory, user: memory.count(user_id=user),
    "tags": lambda memory, user: memory.count(user_id=user, tags=[user]),
    "metadata": lambda memory, user: memory.count(user_id=user, where=field("by") == user),
    "one of": lambda memory, user: memory.count(user_id=user, where=field("by").is_in([user])),
    "order": lambda memory, user: memory.count(user_id=user, where=field("by") <= user),
    "history": lambda memory, user: len(memory.history.list(user_id=user)),
    "versions": lambda memory, user: len(memory.history.of_user(user)),
    "canvas": lambda memory, user: len(memory.energy.canvas(user_id=user)),
    "feedback": _learned,
    "undo": lambda memory, user: int(memory.undo(user_id=user) is not None),
    "delete": lambda memory, user: memory.delete(user_id=user),
}


@pytest.mark.parametrize("user", [JOSE, JOSE_NFD], ids=["composed", "decomposed"])
@pytest.mark.parametrize("read", list(READS))
def test_a_user_is_the_same_in_both_forms(memory: NeuroGraphMemory, read: str, user: str) -> None:
    assert READS[read](memory, user) == 1


def test_a_session_is_the_same_in_both_forms(memory: NeuroGraphMemory) -> None:
    told = [{"role": "user", "content": said} for said in ("The garden needs tulips.", "The bus was late.")]
    tulips, bus = memory.add(told, user_id="ana", session_id=JOSE)
    for task, about in (("Plant tulips in the garden", tulips), ("Ask why the bus was late", bus)):
        memory.energy.focus(task, user_id="ana", session_id=JOSE_NFD)
        canvases = [memory.energy.canvas(user_id="ana", session_id=form) for form in (JOSE, JOSE_NFD)]
        assert [canvas[0].id for canvas in canvases] == [about, about]


def test_the_facts_of_a_subject_are_listed_in_both_forms(memory: NeuroGraphMemory) -> None:
    memory.facts.add(JOSE, "équipe", "Lyon")
    memory.facts.add(JOSE_NFD, normalize("NFD", "équipe"), "Lyon")
    for form in ("NFC", "NFD"):
        (fact,) = memory.facts.list(normalize(form, "josé"), normalize(form, "Équipe"))
        assert fact.value == "Lyon"


def test_a_message_of_a_framework_has_one_id_in_both_forms_of_its_owner(memory: NeuroGraphMemory) -> None:
    one, other = (Conversation(memory, form, user_id=form) for form in (JOSE, JOSE_NFD))
    assert one.message_ids(["1"]) == other.message_ids(["1"])


def test_an_export_of_a_user_has_the_memories_of_both_forms(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    memory.add("Le thé est froid.", user_id=JOSE)
    assert memory.admin.export_user(JOSE_NFD, tmp_path / "user.jsonl") == 2
    assert memory.admin.users() == {JOSE: 2}


def test_owners_of_scopes_keys_and_dialogues_are_composed() -> None:
    assert Scope(JOSE_NFD, JOSE_NFD, JOSE_NFD) == Scope(JOSE, JOSE, JOSE)
    assert ScopeFilter(JOSE_NFD).admits(Scope(JOSE))
    assert Grant("default", JOSE_NFD) == Grant("default", JOSE)
    assert escaped(JOSE_NFD) == escaped(JOSE)
