"""The file of keys: two commands that write it, and a server that follows it."""

import json
from pathlib import Path

from neurogated.server import Grant, Keys


def test_two_commands_at_once_both_keep_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    one, other = Keys.read(file), Keys.read(file)
    made = [one.create(file, Grant("default", "ana")), other.create(file, Grant("default", "ben"))]
    users = [Keys.read(file).grant_of(f"Bearer {key}") for key in made]
    assert [grant and grant.user_id for grant in users] == ["ana", "ben"]


def test_a_server_refuses_a_removed_key_and_takes_a_new_one_for_a_namespace_that_it_serves(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    ana = Keys.read(file).create(file, Grant("default", "ana"))
    serving = Keys.read(file)
    assert serving.grant_of(f"Bearer {ana}")
    ben, elsewhere = (Keys.read(file).create(file, Grant(name, "ben")) for name in ("default", "other"))
    assert serving.grant_of(f"Bearer {ben}")
    assert serving.grant_of(f"Bearer {elsewhere}") is None
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({digest: grant for digest, grant in stored.items() if grant["user_id"] == "ben"}))
    assert serving.grant_of(f"Bearer {ana}") is None
    file.write_text("{half")
    assert serving.grant_of(f"Bearer {ben}")
    file.unlink()
    assert serving.grant_of(f"Bearer {ben}") is None
