"""Without a configured language model or server, the library sends nothing over a network."""

import os
import subprocess
import sys
from pathlib import Path

# An audit hook sees every connection and every look-up of a name, also those that packages make in threads.
SCRIPT = """
import os, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        os.write(2, f"{event} {arguments}".encode())
        os._exit(7)

sys.addaudithook(refuse)
from neurogated import MemoryConfig, NeuroGraphMemory
with NeuroGraphMemory(MemoryConfig(save_dir="agent")) as memory:
    memory.add(["The pump failed.", "Because the pump failed, the field was flooded."], session_id="s")
    memory.feedback(memory.recall("Why was the field flooded?"))
    memory.maintenance()
from neurogated.cli import main
main(["doctor", "--save_dir", "agent"])
assert main(["demo", "--no-browser"]) == 0
assert sys.modules.get("openvino_telemetry") is None
print("silent")
"""


def test_nothing_is_sent_and_no_consent_is_stored(tmp_path: Path) -> None:
    """OpenVINO brings a telemetry package, which would store a client id in the folder `intel` of the home folder."""
    silent = {name: value for name, value in os.environ.items() if name not in ("CI", "TF_BUILD", "JENKINS_URL")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={**silent, "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("silent\n")
    assert not (tmp_path / "home" / "intel").exists()
