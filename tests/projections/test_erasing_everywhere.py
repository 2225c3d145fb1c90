"""Erased words are in no file and on no server, whichever parts of the memory had them."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.testing import ManualClock

if TYPE_CHECKING:
    from tests.postgres_server import Postgres
    from tests.projections.conftest import Redis

WORD = "swordfish"
USER, SESSION = "ana", "monday"


def _live(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    """Use every part of a memory for texts with the word."""
    memory.energy.focus(f"Sell the {WORD}", user_id="ana")
    for text in (f"I live in {WORD.title()}.", "I live in York.", f"The {WORD} is red.", f"The {WORD} is red!"):
        memory.add(
            {"role": "user", "content": text}, tags=[WORD], metadata={"place": WORD}, user_id=USER, session_id=SESSION
        )
    memory.facts.add("Ana", "city", WORD.title(), user_id="ana")
    memory.facts.add("Ana", "city", "Rome", user_id="ana")
    for _ in range(6):
        clock.advance(timedelta(hours=1))
        context = memory.get_context(f"Where does Ana live? What about the {WORD}?", user_id=USER, session_id=SESSION)
        memory.feedback(context, "success")
    memory.add({"role": "assistant", "content": f"“The {WORD} is red.”"}, user_id=USER, session_id=SESSION)
    memory.record_event(f"Sold the {WORD}.", outcome="success", used=context, user_id=USER, session_id=SESSION)
    (conflict, *_) = memory.conflicts.list(user_id="ana")
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
        metabolism={"canvas_url": redis_server.url, "facts_url": url, "skip_echoes": True}
    )

    def server() -> bytes:
        keys = client.keys("*")
        return b" ".join([*keys, *(client.dump(key) for key in keys), postgres.dump(url)])

    parts = build(config, clock)
    with closing(parts.store), NeuroGraphMemory(config, parts=parts) as memory:
        (kept,) = memory.add("Bob likes tea.", user_id="bob")
        _live(memory, clock)
        assert {"server"} < set(_words_in(tmp_path, server()))
        memory.delete(user_id="ana")
        memory.admin.compact(history=True)
        assert _words_in(tmp_path, server()) == []
        assert memory.conflicts.list(None, user_id="ana") == []
        assert memory.recall("tea", user_id="bob").ids == (kept,)
    client.close()
    assert _words_in(tmp_path, server=b"") == []
