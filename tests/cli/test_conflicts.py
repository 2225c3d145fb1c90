"""The commands `conflicts` and `resolve`."""

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., str]


def test_a_conflict_is_listed_and_resolved(run: Run) -> None:
    first = run("facts", "--add", "Ana", "city", "Lyon", "--user_id", "ana").strip()
    run("facts", "--add", "Ana", "city", "Paris", "--user_id", "ana")
    assert run("conflicts") == "conflicts: 0\nthe conflicts of a user are listed only with --user NAME\n"
    assert run("conflicts", "--user", "ana") == run("conflicts", "--user_id", "ana")
    listed = run("conflicts", "--user_id", "ana")
    assert f"    {first}  “Ana city: Lyon”\n" in listed
    assert "Which of them is right?" in listed
    (found,) = json.loads(run("conflicts", "--user_id", "ana", "--json"))["conflicts"]
    assert (found["first"], found["status"], found["user_id"]) == (first, "open", "ana")
    run("resolve", found["id"], "--keep", first, "--because", "She said so.")
    assert run("conflicts", "--user_id", "ana") == "conflicts: 0\n"
    (resolved,) = json.loads(run("conflicts", "--user_id", "ana", "--status", "all", "--json"))["conflicts"]
    assert (resolved["outcome"], resolved["loser"], resolved["because"]) == ("wrong", found["second"], "She said so.")


def test_an_unknown_choice_is_refused(run: Run) -> None:
    for city in ("Lyon", "Paris"):
        run("facts", "--add", "Ana", "city", city)
    (found,) = json.loads(run("conflicts", "--json"))["conflicts"]
    assert "supersede" in run("resolve", found["id"], "--keep", "neither", code=1)
    assert "conflict-0" in run("resolve", "conflict-0", "--keep", "both", code=1)


def test_resolve_tells_the_changes(run: Run) -> None:
    first, second = (
        run("facts", "--add", "Ana", "city", city, "--valid_from", f"{year}-01-01T00:00:00+00:00").strip()
        for city, year in (("Lyon", 2020), ("Paris", 2022))
    )
    (found,) = json.loads(run("conflicts", "--status", "resolved", "--json"))["conflicts"]
    assert run("resolve", found["id"], "--keep", first).splitlines() == [
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


def test_a_page_shows_the_conflicts_of_one_user(run: Run, tmp_path: Path) -> None:
    for user, city in (("ana", "Lyon"), ("ana", "Paris"), ("bob", "Oslo"), ("bob", "Bergen")):
        run("facts", "--add", "Ana", "city", city, "--user", user)
    page = tmp_path / "conflicts.html"
    told = run("conflicts", "--user", "ana", "--page", str(page))
    assert told.endswith(f"conflicts: 1\nboth sides and the effect of each answer: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "Ana city: Paris" in text
    assert "Oslo" not in text
    assert f"--save_dir={tmp_path}" in text
    assert json.loads(run("conflicts", "--page", str(page), "--json")) == {"conflicts": [], "page": str(page)}
    assert "No open conflict." in page.read_text(encoding="utf-8")
    assert "choose another file" in run("conflicts", "--page", str(tmp_path), code=1)


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
