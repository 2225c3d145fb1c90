"""After an interrupt at any moment, as by Ctrl-C, the lock of a store is free for other threads."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.durability.contents import environment

# In the process of the tests, an interrupt may strike the finalizer of an object of another test. Python ignores such
# an interrupt with a warning, which fails the test.
PROGRAM = Path(__file__).parent / "interrupted_by_signals.py"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_an_interrupt_at_any_moment_leaves_the_lock_free(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path / "memory.db"), "300"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
