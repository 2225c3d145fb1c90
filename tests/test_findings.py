"""The scripts and the index of `findings/` agree. What the scripts find out, only a run of them tells."""

import re
from pathlib import Path

FINDINGS = Path(__file__).parents[1] / "findings"
SCRIPTS = [script for script in sorted(FINDINGS.glob("*.sh")) if script.name != "run.sh"]


def _said(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+): (.+)$", script.read_text(), re.MULTILINE))


def test_the_index_lists_each_finding_with_what_its_script_says() -> None:
    rows = re.findall(r"^\| (.+) \| \[(.+)\]\((.+)\) \| (.+) \|$", (FINDINGS / "INDEX.md").read_text(), re.MULTILINE)
    heads = [(_said(script), script) for script in SCRIPTS]
    listed = [(said["Package"].split(",")[0], of.stem, of.name, said["Behaviour"]) for said, of in heads]
    assert sorted(rows) == sorted(listed)
