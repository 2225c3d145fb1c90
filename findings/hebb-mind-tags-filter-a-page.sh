#!/bin/sh
# Package: hebb-mind 0.3.0
# Behaviour: A list of memories with a tag looks only at one page of the newest ones, and its total counts only those.
# Guess: A list with a tag finds the memory among 300 others, and its total is 1.
# Seen: Nothing, and a total of 0; a total of 50 for the tag that 300 memories have.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: hebb-mind==0.3.0 pysqlite3==0.6.1 torch==2.13.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import logging, pathlib
from hebb import HebbMind
from hebb.config.settings import Settings

logging.disable(logging.CRITICAL)
memory = HebbMind(Settings(home_dir=pathlib.Path.cwd(), embedding_enabled=False))
memory.add("heron 0 stands in the water", tags=["rare"])
for number in range(1, 301):
    memory.add(f"heron {number} stands in the water", tags=["common"])
assert memory.list()[1] == 301
assert memory.list(tags=["rare"]) == ([], 0), memory.list(tags=["rare"])
assert memory.list(tags=["common"])[1] == 50, memory.list(tags=["common"])[1]
memory.close()
END
