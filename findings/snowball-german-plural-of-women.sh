#!/bin/sh
# Package: snowballstemmer 3.1.1
# Behaviour: German joins 'Lehrerinnen', 'Lehrerin' and 'Lehrer', and parts 'Freundinnen' from 'Freundin'.
# Guess: X16: 'Freundinnen' and 'Freundin' share a stem (0.5).
# Seen: Stems 'freundinn' and 'freundin'; 'lehr' for the three.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: snowballstemmer==3.1.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from snowballstemmer import stemmer

german = stemmer("german")
teachers = {german.stemWord(word) for word in ("lehrer", "lehrerin", "lehrerinnen")}
friends = [german.stemWord(word) for word in ("freundin", "freundinnen", "ärztin", "ärztinnen")]
assert teachers == {"lehr"}, teachers
assert friends == ["freundin", "freundinn", "arztin", "arztinn"], friends
END
