"""The commands about facts, conflicts and memories that say the same."""

import json
from collections.abc import Callable

from tests.knowledge.model_server import serving

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


def test_memories_that_a_model_could_not_read_are_listed_with_the_reason_and_asked_about_again(run: Run) -> None:
    with serving() as model:
        model.text = "I cannot do that."
        flags = ("--llm_base_url", model.url, "--cache_bytes", "0")
        name = run("add", "My hobby is chess.", "--user_id", "ana", *flags, "--set", "llm.wait=true").split()[0]
        assert (
            run("facts", "parked")
            == f"parked: 1\n{name}  (two answers did not fit the schema)\n    My hobby is chess.\n"
        )
        assert "parked: 1\n" in run("facts", "parked", "--retry", *flags)
        model.text = None
        assert run("facts", "parked", "--retry", *flags) == "parked: 0\nsettled: 1\n"
        assert json.loads(run("facts", "parked", "--json")) == {"parked": [], "settled": 0}
