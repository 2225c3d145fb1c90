#!/bin/sh
# Package: apsw 3.54.1.0
# Behaviour: Vowel signs of Hindi and Thai end a word, so a search for one word finds others with the same consonants.
# Guess: X59: a Hindi word is one token (0.4).
# Seen: The word for day finds the word for gift; with the categories L* N* Co M*, it does not.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: apsw==3.54.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import apsw

base = apsw.Connection(":memory:")

def found(words, query, options=""):
    base.execute(f"create virtual table t using fts5(w{options})")
    base.executemany("insert into t values (?)", [(word,) for word in words])
    rows = base.execute("select w from t where t match ?", (f'"{query}"',)).fetchall()
    base.execute("drop table t")
    return [word for (word,) in rows]

assert found(["दान", "दिन"], "दिन") == ["दान", "दिन"]
assert found(["กิน", "กัน"], "กิน") == ["กิน", "กัน"]
assert found(["दान", "दिन"], "दिन", ", tokenize=\"unicode61 categories 'L* N* Co M*'\"") == ["दिन"]
END
