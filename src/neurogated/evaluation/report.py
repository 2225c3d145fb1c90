"""A page about a run, from its files: tables, curves of recall, times of recalls, and where the gold passages stood."""

import io
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from neurogated.core.extras import import_extra
from neurogated.evaluation.gold import PERCENT, recall_at
from neurogated.text.strings import html_table

_DEPTHS = range(1, 21)
_MISSED, _MOST_MISSES = 10, 100
_STYLE = "body{font:15px/1.5 sans-serif;margin:2em auto;max-width:60em}td,th{padding:0 1em 0 0}table{margin:1em 0}"


def write_report(folder: Path) -> Path:
    """Write `report.html` into the folder of a run and return its path; raises MissingExtraError without matplotlib."""
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = [row for row in rows if row["gold"]]
    names, recall = ("neurogated", *metrics["baselines"]), dict[str, Any]()
    for name in names if asked else ():
        ranked = ((row["baselines"][name] if name in row.get("baselines", ()) else row["ranked"], row) for row in asked)
        recall[name] = np.array([[recall_at(one, row["gold"], k) for k in _DEPTHS] for one, row in ranked])
    missed = [row for row in asked if recall_at(row["ranked"], row["gold"], _MISSED) < 1]
    shown = [(row["question"], row["kind"], str(row["gold"]), str(row["ranked"][:5])) for row in missed[:_MOST_MISSES]]
    caption = f"{len(missed)} questions without all gold passages among the first {_MISSED}, {_MOST_MISSES} at most"
    title = f"<title>{escape(metrics['dataset'])}: {len(rows)} questions</title>"
    parts = [f'<!doctype html><html lang="en"><meta charset="utf-8">{title}<style>{_STYLE}</style>']
    parts += [title.replace("title", "h1"), *(f"<p>{escape(note)}</p>" for note in metrics["notes"])]
    tables = zip(names, (metrics["recall"], *metrics["baselines"].values()), strict=True)
    parts += [_table(f"Recall of {name} in percent", table) for name, table in tables]
    parts += [_table("Points above a plain search: the mean, and its 95 % interval", metrics["differences"])]
    parts += [_table("Time per question", metrics["latency"]), _plots(recall, [row["ms"] for row in rows])]
    parts += [html_table(caption, ("question", "kind", "gold", "first five"), shown), "</html>\n"]
    (folder / "report.html").write_text("".join(parts), encoding="utf-8")
    return folder / "report.html"


def _table(caption: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    cells = (
        [name, *(str(np.round(one, 1).tolist()).strip("[]") for one in row.values())] for name, row in rows.items()
    )
    return html_table(caption, ("", *next(iter(rows.values()))), cells) if rows else ""


def _plots(recall: Mapping[str, Any], milliseconds: list[float]) -> str:
    """Return pictures as SVG; `recall` has (questions, depths) for each search, 0–1."""
    figure = import_extra("matplotlib.figure", "plots").Figure(figsize=(7, 10), layout="constrained")
    curves, places, times = figure.subplots(3)
    ends, width = np.arange(len(_DEPTHS) + 1), 0.8 / max(1, len(recall))
    for number, (name, found) in enumerate(recall.items()):
        curves.plot(_DEPTHS, PERCENT * found.mean(axis=0), marker=".", label=name)
        firsts = np.where(found.any(axis=1), (found > 0).argmax(axis=1), len(_DEPTHS))
        places.bar(ends + number * width, np.bincount(firsts, minlength=ends.size), width, label=name)
    times.hist(milliseconds, bins=30)
    curves.set(title="Recall in percent among the first k passages", xlabel="k", xticks=_DEPTHS)
    places.set(title="Questions by the place of their first gold passage", xticks=ends, xticklabels=[*_DEPTHS, "–"])
    times.set(title="Questions by the milliseconds of their recall, besides the embedding")
    figure.legend(*curves.get_legend_handles_labels(), loc="outside upper right")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return f"<p><svg{drawn.getvalue().partition('<svg')[2]}</p>"
