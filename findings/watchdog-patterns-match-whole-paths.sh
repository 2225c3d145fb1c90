#!/bin/sh
# Package: watchdog 7.1.0
# Behaviour: The pattern `*.md` matches no file in a folder any more; `**/*.md` does.
# Guess: W9: a handler for *.md sees a move of a file to a.md (0.8).
# Seen: It sees nothing; with two stars it does.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: watchdog==7.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from watchdog.events import FileMovedEvent, PatternMatchingEventHandler

seen = []

class Handler(PatternMatchingEventHandler):
    def on_moved(self, event):
        seen.append(self.patterns)

for pattern in ("*.md", "**/*.md"):
    Handler(patterns=[pattern]).dispatch(FileMovedEvent("/notes/a.tmp", "/notes/a.md"))
assert [list(one) for one in seen] == [["**/*.md"]], seen
END
