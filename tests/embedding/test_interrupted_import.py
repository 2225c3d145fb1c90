"""An interrupt during the import of OpenVINO does not break it."""

import os
import subprocess
import sys
from pathlib import Path

_PACKAGE = """
import os, signal, time
print("start", flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(0.1)
print("end", flush=True)
"""
_PROGRAM = """
import signal
from neurogated.embedding.openvino_runtime import import_openvino
# A process that was started in the background ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    import_openvino()
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(import_openvino().__name__)
"""


def test_an_interrupt_does_not_stop_an_import_that_has_begun(tmp_path: Path) -> None:
    (tmp_path / "openvino.py").write_text(_PACKAGE, "utf-8")
    paths = os.pathsep.join((str(tmp_path), *sys.path))
    program = [sys.executable, "-c", _PROGRAM]
    environment = {**os.environ, "PYTHONPATH": paths}
    ended = subprocess.run(program, check=False, env=environment, capture_output=True, text=True, timeout=60)
    *told, last = ended.stdout.split()
    assert (sorted(told), last) == (["end", "interrupted", "start"], "openvino"), ended.stderr
