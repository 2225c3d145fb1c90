"""The commands `context` and `record`."""

import json
from collections.abc import Callable

Run = Callable[..., str]


def test_a_context_is_printed_with_its_reasons(run: Run) -> None:
    name = run("add", "The pump stands by the river.", "--user_id", "ana", "--timestamp", "2026-05-04").split()[0]
    shown = run("context", "Where is the pump?", "--user_id", "ana", "--token_budget", "200", "--explain")
    assert "- (4 May 2026): The pump stands by the river.\n" in shown
    assert "of 200 tokens\n" in shown
    assert f"{name}\n    rank 1; score " in shown
    found = json.loads(run("context", "Where is the pump?", "--user_id", "ana", "--explain", "--json"))
    assert found["memories"] == list(found["choices"]) == [name]
    assert "nothing found" in run("context", "Where is the pump?")
    assert "no memory fits into 9 tokens; the best one needs " in run(
        "context", "pump", "--user_id", "ana", "--token_budget", "9"
    )
    assert "'token_budget'" in run("context", "pump", "--token_budget", "many", code=2)


def test_an_event_is_recorded_with_its_outcome(run: Run) -> None:
    used = run("add", "The pump stands by the river.").split()[0]
    told = json.loads(run("record", "Oiled the pump.", "--outcome", "success", "--used", used, "--json"))
    (event,) = told["ids"]
    assert event.startswith("event-")
    assert event in run("list")
    assert run("record", "Painted the pump.").startswith("event-")
    assert "'success', 'fail' or a number" in run("record", "Oiled it.", "--outcome", "good", code=2)
