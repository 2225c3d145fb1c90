"""JSON that Python's parser refuses in ways of its own: numbers of too many digits, and lists nested too deeply."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import load_config
from neurogated.errors import ConfigError, DatasetError
from neurogated.evaluation.datasets import load_dataset
from neurogated.integrations.mcp.clients import install
from neurogated.server.keys import Keys

ODD = pytest.mark.parametrize("text", ["9" * 5_000, "[" * 100_000], ids=["digits", "levels"])


def _clients(folder: Path, text: str) -> None:
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "mcp.json").write_text(text)
    install("vscode", [], write=False)


def _settings(folder: Path, text: str) -> None:
    (folder / "settings.json").write_text(text)
    load_config(str(folder / "settings.json"))


def _keys(folder: Path, text: str) -> None:
    (folder / "keys").write_text(text)
    Keys.read(folder / "keys")


def _data(folder: Path, text: str) -> None:
    (folder / "d.json").write_text(text)
    load_dataset("d", folder, "locomo")


@ODD
@pytest.mark.parametrize("read", [_clients, _settings, _keys, _data])
def test_a_file_of_it_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path, str], None], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ConfigError, DatasetError), match=str(tmp_path)):
        read(tmp_path, text)


@ODD
def test_words_and_arguments_that_look_like_it_are_kept(tmp_path: Path, text: str) -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": text}}]}
    said = [{"role": "user", "content": text, "created_at": "2026-01-01T00:00:00Z"}]
    (tmp_path / "letta.af").write_text(json.dumps({"agents": [{"name": "a", "messages": said}], "blocks": []}))
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        (found,) = memory.add(called)
        assert memory.get(found).content.startswith(f"f({text[:300]}")
        memory.admin.import_from("letta", tmp_path / "letta.af")
        assert text[:100] in memory.list()[-1].content


@ODD
def test_a_line_of_it_costs_no_other_line(tmp_path: Path, text: str) -> None:
    lines = [json.dumps({"id": name, "memory": f"Ana likes {name}."}) for name in ("tea", "jam")]
    (tmp_path / "mem0.jsonl").write_text("\n".join([lines[0], f'{{"id": "x", "memory": {text}', lines[1]]))
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.admin.import_from("mem0", tmp_path / "mem0.jsonl")
        assert [one.content for one in memory.list()] == ["Ana likes tea.", "Ana likes jam."]
