"""The command `facts`."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., str]


def test_a_stated_fact_is_listed(run: Run) -> None:
    fact_id = run("facts", "--add", "Ana", "city", "Lyon", "--valid_from", "2026-05-01T00:00:00+00:00").strip()
    run("facts", "--add", "Bob", "city", "Rome", "--user_id", "bob")
    assert run("facts") == f"{fact_id}\n    Ana city: Lyon  (from 2026-05-01)\nfacts: 1\n"
    listed = json.loads(run("facts", "--user_id", "bob", "--json"))["facts"]
    assert [(fact["value"], fact["user_id"]) for fact in listed] == [("Lyon", None), ("Rome", "bob")]
    assert "facts: 0" in run("facts", "--subject", "Eve")
    assert "facts: 0" in run("facts", "--valid_at", "2020-01-01")
    assert "facts: 1" in run("facts", "--attribute", "CITY")


def test_the_table_is_caught_up(run: Run, tmp_path: Path) -> None:
    run("facts", "--add", "Ana", "city", "Lyon")
    (tmp_path / "facts.db").unlink()
    assert "written or removed" in run("facts", "--catch_up")
    assert run("facts", "--catch_up") == "0 rows written or removed\n"
    with contextlib.closing(sqlite3.connect(tmp_path / "facts.db")) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        assert any("Lyon" in str(database.execute(f'SELECT * FROM "{name}"').fetchall()) for (name,) in tables)  # noqa: S608
