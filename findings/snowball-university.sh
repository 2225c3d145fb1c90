#!/bin/sh
# Package: snowballstemmer 3.1.1
# Behaviour: The English stems of 'university' and 'universe' differ, against every textbook on Porter's stemmer.
# Guess: X24: they share 'univers' (0.95).
# Seen: 'universiti' and 'univers'; 'organization' and 'organ' differ too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: snowballstemmer==3.1.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from snowballstemmer import stemmer

got = [stemmer("english").stemWord(word) for word in ("university", "universe", "universal", "organization", "organ")]
assert got == ["universiti", "univers", "universal", "organiz", "organ"], got
END
