"""The commands about facts, conflicts and memories that say the same."""

import json
from collections.abc import Callable

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


def test_a_fact_that_was_said_later_ends_the_earlier_one(run: Run) -> None:
    first = run("facts", "--add", "user", "home", "Leeds", "--timestamp", "2026-01-01T00:00:00+00:00").strip()
    run("facts", "--add", "user", "home", "York", "--timestamp", "2026-03-01T00:00:00+00:00")
    assert run("conflicts").startswith("conflicts: 0\n")
    assert f"{first}\n    user home: Leeds  (to 2026-03-01)" in run("facts")


def test_a_conflict_is_listed_and_resolved(run: Run) -> None:
    first = run("facts", "--add", "Ana", "city", "Lyon", "--user_id", "ana").strip()
    run("facts", "--add", "Ana", "city", "Paris", "--user_id", "ana")
    assert run("conflicts") == "conflicts: 0\nthe conflicts of a user are listed only with --user_id NAME\n"
    listed = run("conflicts", "--user_id", "ana")
    assert f"    {first}  “Ana city: Lyon”\n" in listed
    assert "Which of them is right?" in listed
    (found,) = json.loads(run("conflicts", "--user_id", "ana", "--json"))["conflicts"]
    assert (found["first"], found["status"], found["user_id"]) == (first, "open", "ana")
    run("resolve", found["id"], "--keep", first, "--because", "She said so.")
    assert run("conflicts", "--user_id", "ana") == "conflicts: 0\n"
    (resolved,) = json.loads(run("conflicts", "--user_id", "ana", "--status", "all", "--json"))["conflicts"]
    assert (resolved["outcome"], resolved["loser"], resolved["because"]) == ("wrong", found["second"], "She said so.")


def test_resolve_tells_the_changes(run: Run) -> None:
    first, second = (
        run("facts", "--add", "Ana", "city", city, "--valid_from", f"{year}-01-01T00:00:00+00:00").strip()
        for city, year in (("Lyon", 2020), ("Paris", 2022))
    )
    (found,) = json.loads(run("conflicts", "--status", "resolved", "--json"))["conflicts"]
    assert run("resolve", found["id"], "--keep", first, "--timezone", "UTC").splitlines() == [
        f"{found['id']}: {second} is wrong",
        f"{first} “Ana city: Lyon” was valid from 2020-01-01 until 2022-01-01; now it is valid from 2020-01-01",
        f"{second} “Ana city: Paris” was valid from 2022-01-01; now it is valid at no time",
    ]
    assert run("resolve", found["id"], "--keep", first).splitlines()[1:] == ["no valid time changed"]
    told = json.loads(run("resolve", found["id"], "--keep", "both", "--json"))
    assert told["changes"] == {
        "valid": {second: [["2022-01-01T00:00:00+00:00"] * 2, ["2022-01-01T00:00:00+00:00", None]]},
        "removed": [],
        "opened": [],
    }
    assert (told["outcome"], told["status"]) == ("contested", "resolved")


def test_ask_marks_memories_in_a_conflict(run: Run) -> None:
    ids = [run("facts", "--add", "Ana", "city", city).strip() for city in ("Lyon", "Paris")]
    (found,) = json.loads(run("conflicts", "--json"))["conflicts"]
    told = run("ask", "In which city does Ana live?")
    assert told.count("   in a conflict: contested\n") == 2
    assert told.endswith(f"\n{found['id']}: {found['question']}\n")
    told = json.loads(run("ask", "In which city does Ana live?", "--json"))
    assert told["states"] == dict.fromkeys(ids, "contested")
    assert told["conflicts"] == [{"id": found["id"], "question": found["question"]}]
    assert f"tokens\n{found['id']}: {found['question']}\n" in run("context", "In which city does Ana live?")
    assert json.loads(run("context", "In which city does Ana live?", "--json"))["conflicts"] == told["conflicts"]
