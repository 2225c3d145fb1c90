#!/bin/sh
# Package: pysbd 0.3.4
# Behaviour: Without cleaning, pieces joined are the text, except that white space before the first sentence is lost.
# Guess: X26: the pieces joined are the text (0.75).
# Seen: The two leading blanks are missing, so positions shift.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pysbd==0.3.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pysbd

segmenter = pysbd.Segmenter(language="en", clean=False)
inside, before = "One.  Two.\n\nThree.", "  One. Two."
assert "".join(segmenter.segment(inside)) == inside
assert "".join(segmenter.segment(before)) == "One. Two."
END
