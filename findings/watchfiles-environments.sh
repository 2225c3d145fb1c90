#!/bin/sh
# Package: watchfiles 1.3.0
# Behaviour: The default filter drops `.venv` and `node_modules`, and lets `venv` and `site-packages` through.
# Guess: W5: site-packages is dropped (0.7); W6: venv is (0.6).
# Seen: Both pass.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: watchfiles==1.3.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from watchfiles import Change, DefaultFilter

drops = DefaultFilter()
passed = [name for name in (".venv", "node_modules", "venv", "site-packages", ".git") if drops(Change.added, f"/n/{name}/x.py")]
assert passed == ["venv", "site-packages"], passed
END
