"""Snapshots pin each prompt word for word. A changed prompt needs a new version.

After a change of a prompt raise its VERSION and run `.venv/bin/python tests/prompts/test_snapshots.py`. It writes the
snapshot of the new version and removes that of the old one. It overwrites none.
"""

import json
from pathlib import Path

import pytest

from neurogated.prompts.prompt_manager import PromptTemplateManager

SNAPSHOTS = Path(__file__).parent / "snapshots"
MANAGER = PromptTemplateManager()
VALUES = {
    "causal_extraction": {"first": "It rained for days.", "second": "The river {rose}."},
    "consolidation": {"memories": "Ada works.\nAda rests on {Sunday}."},
    "contradiction": {"pairs": '{"pair": 1, "earlier": {"text": "Ada works."}, "later": {"text": "Ada {rests}."}}'},
    "importance": {"texts": "1. Ada moved to London.\n2. Ben: Great!"},
    "kernel_generation": {"query": "Why did the river rise?"},
    "ner": {"text": "Ada Lovelace worked in London."},
    "qa": {"passages": "Ada\nAda worked in London.\n\nBen\nBen did not.", "question": "Where did Ada work?"},
}


def snapshot_path(name: str) -> Path:
    return SNAPSHOTS / f"{name}.v{MANAGER.version(name)}.txt"


def snapshot(name: str) -> str:
    turns = [f"--- {message['role']} ---\n{message['content']}" for message in MANAGER.render(name, **VALUES[name])]
    schema = json.dumps(MANAGER.schema(name), indent=2, ensure_ascii=False)
    return "\n\n".join([*turns, f"--- schema ---\n{schema}\n"])


@pytest.mark.parametrize("name", MANAGER.names())
def test_the_words_of_a_version_never_change(name: str) -> None:
    assert snapshot_path(name).read_text(encoding="utf-8") == snapshot(name)


def test_every_snapshot_is_of_a_prompt() -> None:
    assert {path.name for path in SNAPSHOTS.iterdir()} == {snapshot_path(name).name for name in MANAGER.names()}


def rewrite() -> None:
    for name in MANAGER.names():
        path, text = snapshot_path(name), snapshot(name)
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{name} has changed, but is still version {MANAGER.version(name)}; raise its VERSION")
        path.write_text(text, encoding="utf-8")
    for path in set(SNAPSHOTS.iterdir()) - {snapshot_path(name) for name in MANAGER.names()}:
        path.unlink()


if __name__ == "__main__":
    rewrite()
