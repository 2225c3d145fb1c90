"""The scripts, the index and the guesses of `findings/` agree. What the scripts find out, only a run of them tells."""

import os
import re
from pathlib import Path

import pytest

FINDINGS = Path(__file__).parents[1] / "findings"
SCRIPTS = [script for script in sorted(FINDINGS.glob("*.sh")) if script.name != "run.sh"]
HEADERS = ("Package", "Behaviour", "Guess", "Seen")
GUESSES = {
    area: re.findall(r"^\| ([A-Z]+\d+) \|(.*)\|$", area.read_text(), re.MULTILINE)
    for area in FINDINGS.glob("guesses/*")
}
OUTSIDE = (
    r"neurogated|https?://(?!example\.org|www\.w3\.org)|(?<![\w$])/(?:home|opt|root|tmp|Users|work)/|-(?:url|links)"
)


def _said(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+): (.+)$", script.read_text(), re.MULTILINE))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]


def test_the_index_lists_each_finding_with_what_its_script_says() -> None:
    rows = re.findall(r"^\| (.+) \| \[(.+)\]\((.+)\) \| (.+) \|$", (FINDINGS / "INDEX.md").read_text(), re.MULTILINE)
    heads = [(_said(script), script) for script in SCRIPTS]
    listed = [(said["Package"].split(",")[0], of.stem, of.name, said["Behaviour"]) for said, of in heads]
    assert sorted(rows) == sorted(listed)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_keeps_the_form_of_findings(script: Path) -> None:
    text, said = script.read_text(), _said(script)
    assert os.access(script, os.X_OK)
    assert list(said) == list(HEADERS)
    (installed,) = re.findall(r" install (.+)$", text, re.MULTILINE)
    flags = "--quiet --no-compile --disable-pip-version-check --only-binary :all: "
    packages = installed.removeprefix(flags).replace("'", "").split()
    assert installed.startswith(flags)
    assert all(re.fullmatch(r"[\w.-]+(?:\[\w+\])?==[\w.]+", one) for one in packages), packages
    assert {re.sub(r"\[\w+\]", "", one) for one in packages} == {
        one.replace(" ", "==") for one in said["Package"].split(", ")
    }
    assert "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT" in text
    assert "assert " in text
    assert re.findall(OUTSIDE, text) == []
    named = set(re.findall(r"\b[A-Z]{1,2}\d+\b", said["Guess"]))
    assert named & {name for rows in GUESSES.values() for name, _ in rows}


def test_each_guess_has_an_id_of_its_own_a_confidence_and_a_result() -> None:
    names = [name for rows in GUESSES.values() for name, _ in rows]
    assert len(names) == len(set(names))
    for _, row in (one for rows in GUESSES.values() for one in rows):
        *_, confidence, result = _cells(row)
        assert 0 <= float(confidence) <= 1, row
        assert re.match(r"(?:hit|miss|not run|not counted)(?::|$)", result), row


def test_the_table_of_areas_counts_the_guesses() -> None:
    table = (FINDINGS / "README.md").read_text()
    rows = re.findall(r"^\| \[.+\]\(guesses/(.+)\) \| (\d+) \| (\d+) \| (\d+) \|$", table, re.MULTILINE)
    results = {area.name: [_cells(row)[-1].split(":")[0] for _, row in guesses] for area, guesses in GUESSES.items()}
    counts = {name: (len(all_), all_.count("hit"), all_.count("miss")) for name, all_ in results.items()}
    assert {name: tuple(map(int, counted)) for name, *counted in rows} == counts
    total = tuple(map(sum, zip(*counts.values(), strict=True)))
    assert "| all | {:,} | {:,} | {:,} |".format(*total) in table
