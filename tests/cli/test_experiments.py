"""`ablate` and `learn`: their output for people and for programs, and their refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from neurogated.cli import main
from neurogated.cli.tables import difference_text, grid_text
from neurogated.evaluation.ablation import VARIANTS
from neurogated.evaluation.learning import GROUPS
from neurogated.evaluation.metrics import signed

ROOT = Path(__file__).parents[2]


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    """Flags of an instant run on the sample. Its results go to a folder of the test."""
    place = ["--dataset_dir", str(ROOT / "dataset"), "--save_dir", str(tmp_path / "out")]
    return ["--dataset", "sample", "--embedding_name", "hash", *place]


def _written(tmp_path: Path, name: str) -> tuple[Path, dict[str, Any]]:
    (path,) = (tmp_path / "out" / "sample").glob(f"*/{name}")
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return path.parent, values


def test_ablate_prints_a_row_a_variant_with_the_figures_it_wrote(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The tables are the same for fewer questions.
    for name in ("sample.json", "sample_corpus.json"):
        rows = json.loads((ROOT / "dataset" / name).read_text(encoding="utf-8"))
        (tmp_path / name).write_text(json.dumps(rows[::4] if name == "sample.json" else rows), encoding="utf-8")
    assert main(["bench", "ablate", *flags, "--dataset_dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    folder, figures = _written(tmp_path, "ablation.json")
    assert shown.endswith(f"Written to {folder}\n")
    for variant in figures["variants"]:
        rows = [row for row in figures["rows"] if row["variant"] == variant["name"] and row["kind"] == "all"]
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{variant['label']}  ")]
        for row in rows:
            assert f" {row['recall']:.1f}" in line
            if variant["name"] != "full":
                assert difference_text(row["difference"], row["low"], row["high"]).strip() in line
    for contrast in figures["contrasts"]:
        table = shown.split(f"\n{contrast['title']}, in points\n")[1]
        for row in contrast["rows"]:
            cell = re.escape(difference_text(row["difference"], row["low"], row["high"]).strip())
            assert re.search(rf"^{row['kind']} +{row['questions']} .*{cell}", table, re.MULTILINE)


def test_ablate_of_named_variants_as_json(flags: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["bench", "ablate", *flags, "--variants", "one_hop, no_activation", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    folder, figures = _written(tmp_path, "ablation.json")
    assert shown == {**figures, "folder": str(folder)}
    assert [variant["name"] for variant in shown["variants"]] == ["full", "no_activation", "one_hop"]


def test_learn_prints_the_figures_it_wrote(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "learn", *flags, "--seeds", "2"]) == 0
    shown = capsys.readouterr().out
    folder, figures = _written(tmp_path, "learning.json")
    assert shown.endswith(f"Written to {folder}\n")
    present = {row["group"] for row in figures["summary"]}
    for group, meaning in GROUPS.items():
        assert f"\n{group}: {meaning}" + ("\n" if group in present else " (there are none)\n") in shown
    for row in figures["summary"]:
        cells = (f"R@{row['k']}", f"{row['before']:.1f}", f"{row['after']:.1f}", re.escape(signed(row["difference"])))
        assert re.search(rf"^{row['group']} +{row['questions']:.0f} +" + " +".join(cells), shown, re.MULTILINE)
    for row in figures["by seed"]:
        cell = re.escape(difference_text(row["difference"], row["low"], row["high"]).strip())
        assert re.search(rf"^half {row['seed']}, {row['group']} +{row['questions']} .*{cell}", shown, re.MULTILINE)


def test_learn_names_the_groups_that_got_worse(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harmful = [
        "--set",
        "learning.assoc_weight=1",
        "--set",
        "retrieval.switches.never_back=false",
        "--set",
        "retrieval.gate_exponent=0",
        "--set",
        "retrieval.selectivity=0",
        "--ACTIVATION_WEIGHT",
        "50",
        "--SIMILARITY_WEIGHT",
        "0",
    ]
    assert main(["bench", "learn", *flags, "--seeds", "2", *harmful]) == 0
    shown = capsys.readouterr().out
    worse = _written(tmp_path, "learning.json")[1]["worse"]
    assert worse
    assert "Nothing got worse" not in shown
    for row in worse:
        said = f"WORSE after feedback: {row['group']}, recall@{row['k']} fell by {-row['difference']:.2f} points"
        (line,) = [line for line in shown.splitlines() if line.startswith(said)]
        assert ("could be chance" in line) == (not row["certain"])


def test_learn_says_when_nothing_got_worse(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    unweighted = ["--ACTIVATION_WEIGHT", "0", "--set", "retrieval.energy_weight=0"]
    assert main(["bench", "learn", *flags, "--seeds", "1", *unweighted]) == 0
    assert "Nothing got worse after feedback.\n" in capsys.readouterr().out


def test_learn_as_json(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "learn", *flags, "--seeds", "1", "--json"]) == 0
    folder, figures = _written(tmp_path, "learning.json")
    assert json.loads(capsys.readouterr().out) == {**figures, "folder": str(folder)}


def test_run_prints_the_spread(flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", *flags]) == 0
    spread = _written(tmp_path, "metrics.json")[1]["spread"]
    cells = [
        f"{mean:.1f} ± {deviation:.1f}"
        for mean, deviation in zip(spread["mean"].values(), spread["standard deviation"].values(), strict=True)
    ]
    assert re.search(rf"^over {spread['over']} +{' +'.join(cells)}$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("command", ["ablate", "learn"])
def test_no_bar_is_drawn_where_there_is_no_terminal(
    command: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"ablate": ["--variants", "one_hop"], "learn": ["--seeds", "1"]}[command]
    assert main(["bench", command, *flags, *words]) == 0
    assert "%|" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bench", "ablate", "--variants", "two_hops"], "there is no variant 'two_hops'; there are no_activation, "),
        (["bench", "ablate", "--MAX_HOPS", "-1"], "MAX_HOPS is -1, but must be at least 0"),
        (["bench", "learn", "--seeds", "0"], "seeds is 0, but must be at least 1"),
        (["bench", "learn", "--dataset", "absent"], f"{ROOT / 'dataset' / 'absent_corpus.json'} does not exist"),
        (["bench", "ablate", "--dataset", "absent"], f"{ROOT / 'dataset' / 'absent_corpus.json'} does not exist"),
    ],
)
def test_an_impossible_request_is_one_line_on_stderr_and_exit_code_2(
    words: list[str], message: str, flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words[:2], *flags, *words[2:]]) == 2
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith(f"error: {message}")
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("command", "own"), [("ablate", "--variants NAMES"), ("learn", "--seeds N")])
def test_help_has_flags_and_examples(
    command: str, own: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as caught:
        main(["bench", command, "--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert own in shown
    assert f"examples:\n  neurogated bench {command} --dataset sample\n" in shown
    if command == "ablate":
        assert all(variant.name in shown for variant in VARIANTS)


def test_numbers_that_round_to_nothing_have_one_sign() -> None:
    assert [signed(points) for points in (-0.04, 0.0, 0.04, -0.06)] == ["+0.0", "+0.0", "+0.0", "-0.1"]


def test_grid_is_aligned_and_has_no_trailing_blanks() -> None:
    assert grid_text(["", "a"], [["one", "1"], ["three", "22"]]) == "        a\none     1\nthree  22"
