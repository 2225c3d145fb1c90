#!/bin/sh
# Package: polars 2.1.0
# Behaviour: explode drops a row whose list is empty and keeps one whose list is null; empty_as_null=True keeps both.
# Guess: PF8: an empty list gives a row of null (0.75).
# Seen: Of an empty list, a list of one and null, rows of the last two.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: polars==2.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import polars as pl

notes = pl.DataFrame({"note": ["untagged", "tagged", "unknown"], "tags": [[], ["a"], None]})
assert notes.explode("tags").rows() == [("tagged", "a"), ("unknown", None)], notes.explode("tags").rows()
kept = notes.explode("tags", empty_as_null=True).rows()
assert kept == [("untagged", None), ("tagged", "a"), ("unknown", None)], kept
END
