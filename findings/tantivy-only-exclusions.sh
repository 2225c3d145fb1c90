#!/bin/sh
# Package: tantivy 0.27.0
# Behaviour: A query that only excludes words is an error rather than an empty result or all others.
# Guess: X72: '-b' alone finds nothing (0.8).
# Seen: ValueError; with a star before it, it finds the others.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: tantivy==0.27.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import tantivy

schema = tantivy.SchemaBuilder()
schema.add_text_field("t", stored=True)
index = tantivy.Index(schema.build())
writer = index.writer(15_000_000, 1)
for text in ("cats bark", "dogs sleep"):
    document = tantivy.Document()
    document.add_text("t", text)
    writer.add_document(document)
writer.commit()
index.reload()
try:
    index.searcher().search(index.parse_query("-bark", ["t"]), 10)
except ValueError as error:
    assert "xcluding" in str(error), error
else:
    raise AssertionError("the query ran")
assert len(index.searcher().search(index.parse_query("* -bark", ["t"]), 10).hits) == 1
END
