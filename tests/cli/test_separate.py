"""The command `separate`, and the groups that `list` shows."""

import json
from collections.abc import Callable

Run = Callable[..., str]


def test_list_shows_a_group_and_separate_ends_it(run: Run) -> None:
    texts = ("I live in Leeds.", "I do live in Leeds!", "The gate is green.")
    first, second, third = (run("add", text, "--user", "ana").strip() for text in texts)
    shown = run("list", "--user", "ana")
    assert f"{first}\n    I live in Leeds.\n    the same as: {second}\n" in shown
    assert f"{third}\n    The gate is green.\n3 of 3 memories" in shown
    titled = run("add", "A new valve was fitted.", "--title", "Repairs").strip()
    assert f"{titled}\n    Repairs\n    A new valve was fitted.\n" in run("list")
    listed = json.loads(run("list", "--user", "ana", "--json"))["memories"]
    assert [one["same_as"] for one in listed] == [[second], [first], [], []]
    assert run("separate", second) == f"separated from {first}\n"
    assert "the same as" not in run("list", "--user", "ana")
    assert json.loads(run("separate", second, "--json")) == {"id": second, "separated": False, "from": []}
    run("undo")
    assert "the same as" in run("list", "--user", "ana")


def test_an_unknown_memory_is_refused(run: Run) -> None:
    run("add", "I live in Leeds.")
    told = run("separate", "nowhere", code=1)
    assert told.startswith("error: ")
    assert "nowhere" in told
