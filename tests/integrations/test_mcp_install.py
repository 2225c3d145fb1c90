"""The configuration of clients."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from neurogated import MemoryConfig
from neurogated.cli import main
from neurogated.cli.opening import Flags
from neurogated.errors import StorageError
from neurogated.integrations.mcp import clients


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_a_dry_run_writes_nothing_and_a_written_entry_keeps_the_others(client: str, home: Path) -> None:
    find, key = clients.CLIENTS[client]
    file = find()
    words = ["mcp", "install", "--client", client, "--save_dir", "mine", "--user_id", 'Ana "A" Núñez']
    assert main(words) == 0
    assert not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".toml":
        file.write_text('model = "x"\n\n[mcp_servers.other]\ncommand = "other"\n', encoding="utf-8")
    else:
        file.write_text(json.dumps({"theme": "dark", key: {"other": {"command": "other"}}}), encoding="utf-8")
    for _ in range(2):
        assert main([*words, "--write"]) == 0
    text = file.read_text(encoding="utf-8")
    written = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    assert written[key]["other"] == {"command": "other"}
    assert written.keys() - {key}
    arguments = written[key]["neurogated"]["args"]
    assert arguments[:3] == ["-m", "neurogated", "mcp"]
    assert str(home / "mine") in arguments
    assert 'Ana "A" Núñez' in arguments


def test_the_client_opens_the_memory_that_was_named_without_the_environment_or_the_settings_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    monkeypatch.setenv("NEUROGATED_FORCE_INDEX_FROM_SCRATCH", "true")
    (home / "settings.yaml").write_text("storage: postgresql://localhost/memories\nretrieval: {energy_weight: 0.5}\n")
    given = ["--config", "settings.yaml", "--require_user", "--namespace", "pond", "--user_id", "ana"]
    assert main(["mcp", "install", "--client", "claude-code", "--write", *given]) == 0
    monkeypatch.delenv("NEUROGATED_EMBEDDING_NAME")
    monkeypatch.delenv("NEUROGATED_FORCE_INDEX_FROM_SCRATCH")
    opened: list[MemoryConfig] = []

    def refuse(flags: Flags, **_: object) -> None:
        opened.append(flags.memory_config())
        raise StorageError("enough")

    monkeypatch.setattr(Flags, "open", refuse)
    (server,) = json.loads((home / ".claude.json").read_text())["mcpServers"].values()
    assert main(server["args"][2:]) == 1
    (config,) = opened
    assert (config.storage, config.embedding_name) == ("postgresql://localhost/memories", "hash")
    assert (config.namespace, config.require_user, config.retrieval.energy_weight) == ("pond", True, 0.5)
    assert not config.force_index_from_scratch


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_changed_file_and_its_backup_are_as_private_as_before(mode: int, home: Path) -> None:
    file, kept = home / ".claude.json", home / "kept.json"
    kept.write_text('{"password": "secret"}', encoding="utf-8")
    kept.chmod(mode)
    file.symlink_to(kept)
    home.joinpath("kept.json.backup").write_text("of an earlier day", encoding="utf-8")
    assert main(["mcp", "install", "--client", "claude-code", "--write"]) == 0
    assert file.is_symlink()
    assert json.loads(file.read_text(encoding="utf-8")).keys() == {"password", "mcpServers"}
    written = {one.name: one for one in home.iterdir()}
    assert written.keys() == {".claude.json", "kept.json", "kept.json.backup", "kept.json.backup1"}
    assert {stat.S_IMODE(written[one].stat().st_mode) for one in ("kept.json", "kept.json.backup1")} == {mode}
    assert written["kept.json.backup"].read_text(encoding="utf-8") == "of an earlier day"
    assert written["kept.json.backup1"].read_text(encoding="utf-8") == '{"password": "secret"}'


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        '[mcp_servers."neurogated"]\ncommand = "other"\n',
        'mcp_servers = {other = {command = "x"}}\n',
        'note = """\n[mcp_servers.neurogated]\n"""\n',
    ],
)
def test_a_toml_file_of_which_other_entries_would_change_stays(text: str, home: Path) -> None:
    file = home / "config.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["mcp", "install", "--client", "codex", "--write"]) != 0
    assert file.read_text(encoding="utf-8") == text
    assert list(home.iterdir()) == [file]


def test_without_the_package_the_command_to_install_it_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mcp", "install", "--client", "claude-code"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("neurogated.cli.serving.find_spec", lambda _: None)
    assert main(words) == 0
    assert "pip install 'neurogated[mcp]'" in capsys.readouterr().err


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_an_entry_keeps_its_environment_and_that_of_others_is_not_shown(
    client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    find, key = clients.CLIENTS[client]
    env = {"other": {"PASSWORD": "secret"}, "neurogated": {"TOKEN": "t"}}
    text = json.dumps({key: {name: {"command": "old", "env": one} for name, one in env.items()}})
    if find().suffix == ".toml":
        text = f"[{key}.other]\ncommand = 'old'\nenv = {{ PASSWORD = 'secret' }}\n\n"
        text += f"[{key}.neurogated]\ncommand = 'old'\n[{key}.neurogated.env]\nTOKEN = 't'\n"
    find().write_text(text, encoding="utf-8")
    assert main(["mcp", "install", "--client", client, "--write"]) == 0
    assert "secret" not in capsys.readouterr().out
    text = find().read_text(encoding="utf-8")
    written = tomllib.loads(text) if find().suffix == ".toml" else json.loads(text)
    assert {name: one["env"] for name, one in written[key].items()} == env
