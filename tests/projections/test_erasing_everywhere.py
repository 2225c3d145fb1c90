"""Erased words are in no file and on no server, whichever parts of the memory had them."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import NeuroStore
from neurogated.session.compose import build
from neurogated.session.fallback import FallbackWarning
from neurogated.testing import ManualClock
from tests.gate import Gate
from tests.integrations.langgraph.words import plain_chat
from tests.repeating import Repeating

if TYPE_CHECKING:
    from tests.postgres_server import Postgres
    from tests.projections.conftest import Redis

WORD = "swordfish"
USER, SESSION = f"ana of {WORD}", "monday"


def _live(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    """Use every part of a memory for texts with the word."""
    memory.energy.focus(f"Sell the {WORD}", user_id=USER)
    for text in (f"I live in {WORD.title()}.", "I live in York.", f"The {WORD} is red.", f"The {WORD} is red!"):
        memory.add(
            {"role": "user", "content": text}, tags=[WORD], metadata={"place": WORD}, user_id=USER, session_id=SESSION
        )
    memory.facts.add("Ana", "city", WORD.title(), user_id=USER)
    memory.facts.add("Ana", "city", "Rome", user_id=USER)
    for _ in range(6):
        clock.advance(timedelta(hours=1))
        context = memory.get_context(f"Where does Ana live? What about the {WORD}?", user_id=USER, session_id=SESSION)
        memory.feedback(context, "success")
    memory.add({"role": "assistant", "content": f"“The {WORD} is red.”"}, user_id=USER, session_id=SESSION)
    memory.record_event(f"Sold the {WORD}.", outcome="success", used=context, user_id=USER, session_id=SESSION)
    (conflict, *_) = memory.conflicts.list(user_id=USER)
    memory.conflicts.resolve(conflict.id, "both", because=f"She said so of the {WORD}.")
    memory.learning.consolidate()
    memory.energy.canvas(user_id=USER, session_id=SESSION)


def _words_in(folder: Path, server: bytes) -> list[str]:
    files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    contents = {**files, "server": server}
    return sorted(name for name, content in contents.items() if WORD.encode() in content.lower())


def test_erased_words_are_in_no_file_and_on_no_server(
    tmp_path: Path, clock: ManualClock, redis_server: "Redis", postgres: "Postgres"
) -> None:
    client, url = redis_server.client(), postgres.database()
    client.flushall()
    config = MemoryConfig(save_dir=str(tmp_path / "memory"), embedding_name="hash").replace(
        metabolism={"canvas_url": redis_server.url, "facts_url": url, "echoes": "skip"}
    )

    def server() -> bytes:
        keys = client.keys("*")
        return b" ".join([*keys, *(client.dump(key) for key in keys), postgres.dump(url)])

    parts = build(config, clock)
    with closing(parts.store), NeuroGraphMemory(config, parts=parts) as memory:
        (kept,) = memory.add("Bob likes tea.", user_id="bob")
        _live(memory, clock)
        assert {"server"} < set(_words_in(tmp_path, server()))
        memory.delete(user_id=USER)
        memory.admin.compact(history=True)
        assert _words_in(tmp_path, server()) == []
        assert memory.conflicts.list(None, user_id=USER) == []
        assert memory.recall("tea", user_id="bob").ids == (kept,)
    client.close()
    assert _words_in(tmp_path, server=b"") == []


def _converse(memory: NeuroGraphMemory, name: str) -> None:
    """Use a model's cache, facts, canvases, MemoryOS and NeuroStore for texts of Ana with the word, and one of Bob."""
    said = {"role": "user", "content": f"I keep the {WORD} in {name}.", "id": f"{WORD}-{name}"}
    memory.add(said, tags=[WORD], user_id=USER, session_id=SESSION)
    memory.facts.add("Ana", f"pet in {name}", WORD, user_id=USER)
    found = memory.recall(f"Where is the {WORD}?", user_id=USER, session_id=SESSION)
    assert WORD in str(memory.answer(found))
    memory.add(f"Bob likes tea in {name}.", user_id="bob")
    with NeuroStore(memory, user_label=1) as store:
        store.put(("notes", USER), WORD, {"text": f"The {WORD} note."})
        with MemoryOS(plain_chat(), store=store, short_term_max_capacity=1) as conversation:
            for number in range(3):
                conversation.save_memory(USER, SESSION, f"My {WORD} is {number} years old.", f"Dear {WORD}!")
            conversation.flush()
            assert WORD in str(dict(conversation.search_memory(USER, WORD)))


def test_erased_words_are_nowhere_with_a_fallback_a_models_cache_canvases_facts_and_conversations_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis_server: "Redis", postgres: "Postgres"
) -> None:
    redis_server.start()
    client, parts, facts = redis_server.client(), urlsplit(postgres.database()), postgres.database()
    client.flushall()
    gate = Gate(parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432")
    url = f"postgresql://{parts.username}@127.0.0.1:{gate.port}{parts.path}?sslmode=disable&gssencmode=disable"
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("neurogated.session.compose.get_llm", lambda *_, **__: Repeating(WORD))
    config = MemoryConfig(storage=url, save_dir=str(tmp_path / "memory"), embedding_name="hash", fallback=True).replace(
        llm={"use": "auto"}, metabolism={"canvas_url": redis_server.url, "facts_url": facts}
    )

    def server() -> bytes:
        keys = client.keys("*")
        return b" ".join([*keys, *(client.dump(key) for key in keys), postgres.dump(facts), postgres.files()])

    try:
        # The database is away: all is in the folder of the fallback.
        with pytest.warns(FallbackWarning):
            memory = NeuroGraphMemory(config)
        with memory:
            _converse(memory, "Lyon")
            assert {"memory.db-wal", "llm_cache.db-wal", "facts.db-wal"} & set(_words_in(tmp_path, b""))
        gate.open()
        with pytest.warns(FallbackWarning):
            memory = NeuroGraphMemory(config)
        with memory:
            _converse(memory, "Bern")
            assert "server" in _words_in(tmp_path, server())
            memory.delete(user_id=USER)
            memory.admin.compact(history=True)
            assert _words_in(tmp_path, server()) == []
            assert memory.count(user_id=USER) == 0
            assert memory.count(user_id="bob") == 2
        assert _words_in(tmp_path, server()) == []
        with NeuroGraphMemory(config) as memory:
            assert memory.admin.check() == []
            assert sorted(one.content for one in memory.list(user_id="bob"))[1] == "Bob likes tea in Lyon."
    finally:
        gate.shut()
        client.close()
