"""The command line on a plain installation, without extras; `.ci/slim` runs it on a real one."""

import json
import subprocess
import sys
from pathlib import Path

from neurogated.cli.app import COMMANDS


def test_each_command_works_on_a_plain_installation_or_says_on_one_line_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.cli.plain", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=120)
    results = {words: (code, errors) for words, code, errors in json.loads(done.stdout)}
    assert all(results[f"{name} --help"] == (0, "") for name in COMMANDS)
    failed = {words.partition(" --")[0]: errors for words, (code, errors) in results.items() if code}
    assert all(errors.startswith("error: ") and errors.count("\n") == 1 for errors in failed.values())
    assert all(errors.count("package") < 2 for errors in failed.values())
    hints = {name: errors.rpartition("; ")[2].strip() for name, errors in failed.items() if "pip install" in errors}
    extras = {"consolidate": "communities", "mcp": "mcp", "repl": "repl", "serve": "serve"}
    assert hints == {name: f"pip install 'neurogated[{extra}]'" for name, extra in extras.items()}
    code, warning = results[f"mcp install --client claude-code --save_dir {tmp_path}"]
    assert code == 0
    assert (warning.count("\n"), warning.endswith("pip install 'neurogated[mcp]'\n")) == (1, True)
