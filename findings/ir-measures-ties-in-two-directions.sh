#!/bin/sh
# Package: ir-measures 0.4.3, pytrec-eval-terrier 0.5.11
# Behaviour: Of equal scores, RR takes the larger id for the better and RR@10 the smaller, so that one run has RR@10 of 1 and Success@1 of 0; scores that differ by 1e-9 are equal for all but RR with a cutoff.
# Guess: RM3: nDCG@10 breaks ties as pytrec_eval does, by the larger id (0.8); RM4: it keeps scores in 32 bits (0.6). Both hold, and not for RR with a cutoff.
# Seen: RR 0.5, RR@1 1 and Success@1 0 where 'a' is relevant and 'b' has its score; the reverse where 'b' is; the same for scores 1 and 1 - 1e-9.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: ir-measures==0.4.3 pytrec-eval-terrier==0.5.11
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import ir_measures
from ir_measures import RR, Success, nDCG

def measure(relevant, run):
    found = ir_measures.calc_aggregate([RR, RR @ 10, Success @ 1, nDCG @ 10], {"q": {relevant: 1}}, {"q": run})
    return {str(key): round(value, 2) for key, value in found.items()}

for run in ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}, {"a": 1.0, "b": 1.0 - 1e-9}):
    small, large = measure("a", run), measure("b", run)
    assert small == {"RR": 0.5, "RR@10": 1.0, "Success@1": 0.0, "nDCG@10": 0.63}, small
    assert large == {"RR": 1.0, "RR@10": 0.5, "Success@1": 1.0, "nDCG@10": 1.0}, large
END
