"""Charts are complete files, deterministic, and safe for any text."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest

from neurogated.evaluation.charts import ablation_chart, learning_chart, recall_chart
from neurogated.evaluation.metrics import Table, recall_table

ODD_WORDS = [
    "为什么 ？",
    "🙂 why",
    "cost $5 and $6",
    "_hidden",
    "a < b & c",
    "two\nlines\x00\x07",
    "x" * 300,
    "\ud800 lone",
]


def _curve(kinds: list[str]) -> Table:
    rankings = [[place, 1, 2, 3] for place in range(len(kinds))]
    return recall_table(rankings, [{place, 3} for place in range(len(kinds))], kinds, range(1, 21))


def _differences(labels: list[str]) -> pd.DataFrame:
    rows = [
        {"label": label, "k": k, "difference": place - 2.0, "low": place - 3.0, "high": place - 1.5}
        for place, label in enumerate(labels)
        for k in (2, 5)
    ]
    return pd.DataFrame(rows)


def _summary(groups: list[str]) -> pd.DataFrame:
    rows = [
        {"group": group, "k": k, "before": 50.0, "after": 50.0 + place, "difference": place, "low": -1.0, "high": 2.0}
        for place, group in enumerate(groups)
        for k in (2, 5)
    ]
    return pd.DataFrame(rows)


CHARTS: dict[str, Callable[[list[str], str, Path], None]] = {
    "recall": lambda words, title, stem: recall_chart(_curve(words), title, stem),
    "ablation": lambda words, title, stem: ablation_chart(_differences(words), title, stem),
    "learning": lambda words, title, stem: learning_chart(_summary(words), title, stem),
}


def _size_of_png(path: Path) -> tuple[int, int]:
    """Return width and height after checking every chunk of the file."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    place, kinds, pixels = 8, [], b""
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        kinds.append(kind)
        pixels += body if kind == b"IDAT" else b""
        place += 12 + length
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")
    width, height = struct.unpack(">II", data[16:24])
    assert len(zlib.decompress(pixels)) == height * (1 + 4 * width)
    return width, height


def _texts(path: Path) -> list[str]:
    tree = ET.parse(path)  # noqa: S314 - a file of our own
    assert tree.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(text.itertext()) for text in tree.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("chart", CHARTS)
def test_both_files_are_whole_and_hold_the_words(chart: str, tmp_path: Path) -> None:
    CHARTS[chart](["why", "when", "next"], "A title", tmp_path / "it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it.png", "it.svg"]
    width, height = _size_of_png(tmp_path / "it.png")
    assert width > 600
    assert height > 300
    texts = " | ".join(_texts(tmp_path / "it.svg"))
    for word in ("why", "when", "next", "A title", "recall"):
        assert word in texts


@pytest.mark.parametrize("chart", CHARTS)
def test_any_words_are_drawn_as_they_are(chart: str, tmp_path: Path) -> None:
    CHARTS[chart](ODD_WORDS, "为什么 $x$ \x00 🙂", tmp_path / "odd")
    _size_of_png(tmp_path / "odd.png")
    texts = _texts(tmp_path / "odd.svg")
    for shown in ("为什么 ？", "🙂 why", "cost $5 and $6", "_hidden", "a < b & c", "two lines", "x" * 39 + "…", "lone"):
        assert any(text.startswith(shown) for text in texts), shown
    assert "为什么 $x$ 🙂" in texts


@pytest.mark.parametrize("chart", CHARTS)
def test_same_figures_give_the_same_files_to_the_byte(chart: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        CHARTS[chart](["why", "when"], "A title", tmp_path / name)
    for ending in (".svg", ".png"):
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()
    assert not re.search(r"\d{4}-\d\d-\d\dT", (tmp_path / "one.svg").read_text(encoding="utf-8"))


def test_many_kinds_get_lines_that_differ_in_colour_or_marker(tmp_path: Path) -> None:
    kinds = [f"kind {number}" for number in range(20)]
    recall_chart(_curve(kinds), "Many", tmp_path / "many")
    assert {kind.split(" (")[0] for kind in _texts(tmp_path / "many.svg")} >= {*kinds, "all"}


def test_a_single_kind_is_drawn_as_all(tmp_path: Path) -> None:
    recall_chart(_curve(["all", "all"]), "One", tmp_path / "one")
    assert "all (2)" in _texts(tmp_path / "one.svg")


def test_drawing_leaves_the_librarys_settings_and_pyplot_alone(tmp_path: Path) -> None:
    # A query for the library's backend would select one, so it is left out.
    names = [name for name in mpl.rcParams if not name.startswith("backend")]
    before = {name: mpl.rcParams[name] for name in names}
    recall_chart(_curve(["why"]), "One", tmp_path / "one")
    assert {name: mpl.rcParams[name] for name in names} == before
    script = (
        "import sys; from neurogated.evaluation import charts; "
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("module", ["neurogated", "neurogated.cli.parser", "neurogated.evaluation.learning"])
def test_the_library_is_imported_on_use_only(module: str) -> None:
    script = f"import sys, {module}; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
