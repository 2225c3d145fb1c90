"""Anthropic's memory tool over a memory, beside their own tool over a folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.anthropic_memory import AsyncMemoryTool, MemoryFiles, MemoryTool
from tests.llm.conftest import Server, server

__all__ = ["server"]

TEXT = "# Ana\n\nHer heron is called Ada.\nShe likes tea.\n"


@pytest.fixture
def tool(memory: NeuroGraphMemory) -> MemoryTool:
    return MemoryTool(memory, user_id="ana")


def _call(tool: Any, command: str, **given: object) -> str:  # noqa: ANN401
    return str(tool.call({"command": command, **given}))


def test_a_file_is_created_changed_viewed_and_recalled(memory: NeuroGraphMemory, tool: MemoryTool) -> None:
    path = "/memories/people/ana.md"
    _call(tool, "create", path=path, file_text=TEXT)
    assert _call(tool, "view", path=path).splitlines()[1:4] == [
        "     1\t# Ana",
        "     2\t",
        "     3\tHer heron is called Ada.",
    ]
    assert "     4\tShe likes coffee." in _call(tool, "str_replace", path=path, old_str="tea", new_str="coffee")
    _call(tool, "insert", path=path, insert_line=0, insert_text="First.\n")
    assert _call(tool, "view", path=path, view_range=[1, 2]).splitlines()[1:] == ["     1\tFirst.", "     2\t# Ana"]
    (found,) = memory.recall("What does Ana drink?", user_id="ana", path=["memories", "people"])
    assert "coffee" in found.content
    assert "tea" not in found.content
    _call(tool, "rename", old_path="/memories/people", new_path="/memories/known")
    assert "/memories/known/ana.md" in _call(tool, "view", path="/memories")
    with pytest.raises(ToolError):
        _call(tool, "view", path=path)
    _call(tool, "delete", path="/memories/known")
    assert memory.count(user_id="ana") == 0


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "/memories/../etc/passwd", "/memories/a/../../etc", "memories/a", "/memoriesx/a", "",
        "/memories/./a", "/memories/a\0b", "~/memories/a", "/memories\\..\\a",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_memories(tool: MemoryTool, memory: NeuroGraphMemory, path: str) -> None:
    for command, given in (
        ("view", {}), ("create", {"file_text": "x"}), ("delete", {}),
        ("insert", {"insert_line": 0, "insert_text": "x"}),
        ("str_replace", {"old_str": "x", "new_str": "y"}),
    ):  # fmt: skip
        with pytest.raises(ToolError):
            _call(tool, command, path=path, **given)
    _call(tool, "create", path="/memories/real", file_text="x")
    for old, new in ((path, "/memories/b"), ("/memories/real", path)):
        with pytest.raises(ToolError):
            _call(tool, "rename", old_path=old, new_path=new)
    assert memory.count(user_id="ana") == 1


def test_two_users_and_two_agents_never_see_each_other(memory: NeuroGraphMemory, tool: MemoryTool) -> None:
    tools = [
        tool,
        MemoryTool(memory, user_id="bob"),
        MemoryTool(memory),
        MemoryTool(memory, user_id="ana", agent_id="a"),
    ]
    for number, one in enumerate(tools):
        assert len(_call(one, "view", path="/memories").splitlines()) == 2
        _call(one, "create", path="/memories/a", file_text=f"file {number}")
    for number, one in enumerate(tools):
        assert _call(one, "view", path="/memories/a").endswith(f"\tfile {number}")
        one.clear_all_memory()
        assert len(_call(one, "view", path="/memories").splitlines()) == 2


def test_of_two_that_change_a_file_at_once_none_loses_its_change(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as other, ThreadPoolExecutor(4) as pool:
        tools = [MemoryTool(one, user_id="ana") for one in (memory, other)]
        _call(tools[0], "create", path="/memories/a", file_text="")
        given = {"path": "/memories/a", "insert_line": 0}
        list(pool.map(lambda number: _call(tools[number % 2], "insert", insert_text=str(number), **given), range(12)))
        lines = [line.split("\t")[1] for line in _call(tools[0], "view", path="/memories/a").splitlines()[1:]]
    assert sorted(filter(None, lines)) == sorted(map(str, range(12)))


def test_a_folder_is_renamed_in_one_change(memory: NeuroGraphMemory, tool: MemoryTool) -> None:
    texts = {name: f"Note {name}. " + "The heron of Ana stands in the lake. " * 200 * (name == "c") for name in "abc"}
    for name, text in texts.items():
        _call(tool, "create", path=f"/memories/old/{name}", file_text=text)
    before = memory.view().sequence
    _call(tool, "rename", old_path="/memories/old", new_path="/memories/new")
    assert memory.view().sequence == before + 1
    files = MemoryFiles(memory, "ana", None)
    assert files.below(("memories", "old")) == {}
    assert {path[-1]: text for path, text in files.below(("memories", "new")).items()} == texts


def test_the_tool_for_event_loops_does_the_same(memory: NeuroGraphMemory) -> None:
    tool = AsyncMemoryTool(memory, user_id="ana")

    async def use() -> str:
        await tool.call({"command": "create", "path": "/memories/a", "file_text": "one\n"})
        await tool.call({"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "1"})
        with pytest.raises(ToolError):
            await tool.call({"command": "view", "path": "/memories/../a"})
        return str(await tool.call({"command": "view", "path": "/memories/a"}))

    assert "1\t1" in asyncio.run(use())


class _BesideTheirs(RuleBasedStateMachine):
    """Does the same with their tool on a folder. Both succeed, or both refuse; and all files stay equal."""

    folders: Iterator[Path]
    opened: NeuroGraphMemory
    names = st.sampled_from(
        ["/memories/a", "/memories/b", "/memories/d/a", "/memories/d/b", "/memories/d", "/memories/d/e/f"]
    )
    texts = st.text("ab\n", max_size=6)

    def __init__(self) -> None:
        super().__init__()
        self.opened.delete(ids) if (ids := [one.id for one in self.opened.list(user_id="ana")]) else None
        self.ours, self.theirs = (
            MemoryTool(self.opened, user_id="ana"),
            BetaLocalFilesystemMemoryTool(str(next(self.folders))),
        )

    def _both(self, command: str, **given: object) -> None:
        done = []
        for tool in (self.ours, self.theirs):
            try:
                _call(tool, command, **given)
                done.append(True)
            except (ToolError, OSError):
                done.append(False)
        assert done[0] == done[1], (command, given)
        root = self.theirs.memory_root
        files = {f"/memories/{one.relative_to(root)}": one.read_text() for one in root.rglob("*") if one.is_file()}
        below = self.ours._files.below(("memories",))
        assert {f"/{'/'.join(path)}": text for path, text in below.items()} == files
        # A folder without files exists on a disk only.
        for folder in sorted((one for one in root.rglob("*") if one.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()

    @rule(path=names, text=texts)
    def create(self, path: str, text: str) -> None:
        self._both("create", path=path, file_text=text)

    @rule(path=names, old=st.sampled_from(["a", "b", "ab", "aa", "\n"]), new=texts)
    def replace(self, path: str, old: str, new: str) -> None:
        self._both("str_replace", path=path, old_str=old, new_str=new)

    @rule(path=names, line=st.integers(-1, 4), text=st.sampled_from(["a", "b\n", "a\nb"]))
    def insert(self, path: str, line: int, text: str) -> None:
        self._both("insert", path=path, insert_line=line, insert_text=text)

    @rule(path=names)
    def delete(self, path: str) -> None:
        self._both("delete", path=path)

    @rule(old=names, new=names)
    def rename(self, old: str, new: str) -> None:
        self._both("rename", old_path=old, new_path=new)


def test_files_are_those_that_their_own_tool_writes(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    class Machine(_BesideTheirs):
        folders = (tmp_path / f"theirs {number}" for number in range(10_000))
        opened = memory

    run_state_machine_as_test(Machine, settings=settings(max_examples=15, stateful_step_count=15, deadline=None))


def test_the_tool_runner_of_their_client_runs_it(memory: NeuroGraphMemory, tool: MemoryTool, server: Server) -> None:
    create = {"command": "create", "path": "/memories/ana.md", "file_text": TEXT}
    server.script.append(lambda handler: handler.send(200, handler.called(create, "memory")))
    view = {"command": "view", "path": "/memories/../etc/passwd"}
    server.script.append(lambda handler: handler.send(200, handler.called(view, "memory")))
    server.says("Done.")
    client = Anthropic(api_key="none", base_url=server.url.removesuffix("/v1"))
    said: Any = [{"role": "user", "content": "Remember my heron."}]
    client.beta.messages.tool_runner(model="m", max_tokens=9, tools=[tool], messages=said).until_done()
    assert {"type": "memory_20250818", "name": "memory"} in server.requests[0]["tools"]
    created, refused = (one["messages"][-1]["content"][0] for one in server.requests[1:])
    assert not created.get("is_error")
    assert refused["is_error"]
    assert "passwd" in json.dumps(refused)
    assert memory.recall("heron", user_id="ana")[0].metadata["original"] == json.dumps(TEXT)
