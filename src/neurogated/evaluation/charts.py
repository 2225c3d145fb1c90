"""Charts of the results, as SVG and PNG; the only module that imports the plotting library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from neurogated.evaluation.metrics import Table, signed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ablation_chart", "learning_chart", "recall_chart"]

# Okabe and Ito 2008: colours that are distinct for every kind of colour vision. Their yellow is too pale on white; the
# last colour is Tol's wine.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255")
_INK, _MUTED, _FAINT = "#222222", "#8A8A8A", "#DDDDDD"
_BETTER, _WORSE, _OPEN = "#0072B2", "#D55E00", "#777777"
# One marker more than colours, so that more lines than colours still differ.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Fallback fonts, in this order, for scripts that the plotting library's own font lacks.
_FALLBACK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans GB", "Arial Unicode MS",
)  # fmt: skip
_OWN_FONT = "DejaVu Sans"

# Sizes are in inches, points and dots per inch; positions in shares of the axes, rows, or points of recall.
_DPI = 160
_TITLE_SIZE, _TEXT_SIZE, _SMALL_SIZE = 12, 10, 8.5
_WIDTH, _HEIGHT = 8.5, 5.0
_PANEL_WIDTH, _LABEL_WIDTH, _ROW_HEIGHT, _FRAME_HEIGHT = 2.3, 3.0, 0.34, 1.6
_LEARNING_ROW_HEIGHT, _LEARNING_FRAME_HEIGHT = 0.75, 1.7
_THICK, _THIN, _RING, _DOT, _SMALL_DOT, _STROKE = 2.6, 1.6, 8.5, 5.0, 3.5, 0.8
_LONGEST_LABEL = 40
_FULL_PERCENT = 100
_CURVE_TICKS = (1, 2, 5, 10, 15, 20)
_MARGIN, _LEAST_MARGIN = 0.06, 0.5
_ABOVE = 0.2
_LEGEND_AT = (1.02, 1.0)
_SPARE_ROW = 0.6
_FEW_TICKS = 4


def recall_chart(curve: Table, title: str, stem: Path) -> None:
    """Draw recall over the number of retrieved passages: a line per kind of question and a thick one for all.

    Args:
        curve: the table that `recall_table` returns for the cutoffs 1, 2, …
        title: above the chart.
        stem: path without suffix; `.svg` and `.png` are written.
    """
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    columns = [column for column in curve["all"] if column != "questions"]
    cutoffs = [int(column.removeprefix("R@")) for column in columns]
    lines, labels = [], []
    # The mean over all kinds comes first in the legend and is drawn last, above the others.
    kinds = ["all", *(kind for kind in curve if kind != "all")]
    for place, kind in enumerate(kinds):
        whole = kind == "all"
        (line,) = axes.plot(
            cutoffs,
            [curve[kind][column] for column in columns],
            color=_INK if whole else _COLOURS[(place - 1) % len(_COLOURS)],
            marker="" if whole else _MARKERS[(place - 1) % len(_MARKERS)],
            markersize=_SMALL_DOT,
            linewidth=_THICK if whole else _THIN,
            zorder=len(kinds) + 2 - place,
            clip_on=False,
        )
        lines.append(line)
        labels.append(f"{_label(kind)} ({curve[kind]['questions']:.0f})")
    axes.set_xlim(min(cutoffs), max(cutoffs))
    axes.set_ylim(0, _FULL_PERCENT)
    axes.set_xticks([k for k in _CURVE_TICKS if k in cutoffs])
    axes.set_xlabel("passages looked at, k")
    axes.set_ylabel("recall@k, percent")
    axes.grid(color=_FAINT, linewidth=_STROKE)
    legend = axes.legend(
        lines,
        ["·"] * len(lines),
        loc="upper left",
        bbox_to_anchor=_LEGEND_AT,
        frameon=False,
        title="kind of question",
        alignment="left",
    )
    # The legend drops labels that begin with an underscore, unless they are set afterwards.
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
    _finish(figure, [axes], title, stem)


def ablation_chart(rows: pd.DataFrame, title: str, stem: Path) -> None:
    """Draw each variant's difference from the full configuration with its interval, one panel per cutoff.

    Args:
        rows: `label`, `k`, `difference`, `low`, `high` in points, in the order of the chart.
        title: above the chart.
        stem: path without suffix; `.svg` and `.png` are written.
    """
    labels, cutoffs = list(dict.fromkeys(rows["label"])), sorted(set(rows["k"]))
    figure, panels = _panels(cutoffs, _LABEL_WIDTH, _FRAME_HEIGHT + _ROW_HEIGHT * len(labels))
    # All panels share one scale, so that lengths compare across them.
    lowest, highest = min(0.0, float(rows["low"].min())), max(0.0, float(rows["high"].max()))
    room = max(_LEAST_MARGIN, _MARGIN * (highest - lowest))
    for panel, k in zip(panels, cutoffs, strict=True):
        panel.axvline(0, color=_INK, linewidth=_STROKE)
        for row in rows[rows["k"] == k].to_dict(orient="records"):
            place = labels.index(row["label"])
            colour = _verdict(row["low"], row["high"])
            panel.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=_THIN)
            panel.plot(row["difference"], place, color=colour, marker="o", markersize=_DOT)
        panel.set_xlim(lowest - room, highest + room)
        _rows_of(panel, labels, named=panel is panels[0])
    entries = [("falls without it", _WORSE), ("rises without it", _BETTER), ("could be chance", _OPEN)]
    handles = [Line2D([], [], color=colour, marker="o", markersize=_DOT, linewidth=_THIN) for _, colour in entries]
    _key(figure, handles, [name for name, _ in entries], "recall minus that of the full configuration, in points")
    _finish(figure, panels, title, stem)


def learning_chart(summary: pd.DataFrame, title: str, stem: Path) -> None:
    """Draw recall before and after feedback, with the difference: one row per group and one panel per cutoff.

    Args:
        summary: `group`, `k`, `before`, `after`, `difference`, `low`, `high`, in the order of the chart.
        title: above the chart.
        stem: path without suffix; `.svg` and `.png` are written.
    """
    groups, cutoffs = list(dict.fromkeys(summary["group"])), sorted(set(summary["k"]))
    height = _LEARNING_FRAME_HEIGHT + _LEARNING_ROW_HEIGHT * len(groups)
    figure, panels = _panels(cutoffs, _LABEL_WIDTH / 2, height)
    for panel, k in zip(panels, cutoffs, strict=True):
        shown = []
        for row in summary[summary["k"] == k].to_dict(orient="records"):
            place = groups.index(row["group"])
            colour, before, after = _verdict(row["low"], row["high"]), row["before"], row["after"]
            panel.plot([before, after], [place, place], color=colour, linewidth=_THIN)
            panel.plot(before, place, "o", color=colour, markerfacecolor="white", markersize=_RING)
            panel.plot(after, place, "o", color=colour, markersize=_DOT)
            panel.text(
                (before + after) / 2,
                place - _ABOVE,
                f"{signed(row['difference'])} [{signed(row['low'])}, {signed(row['high'])}]",
                color=colour,
                fontsize=_SMALL_SIZE,
                horizontalalignment="center",
                verticalalignment="bottom",
            )
            shown += [before, after]
        # Leave room on both sides for the figures above the outermost dots.
        room = max(1.0, (max(shown) - min(shown)) / 2)
        panel.set_xlim(min(shown) - room, max(shown) + room)
        _rows_of(panel, groups, named=panel is panels[0])
        panel.locator_params(axis="x", nbins=_FEW_TICKS)
    handles = [
        Line2D([], [], color=_INK, marker="o", markersize=_RING, markerfacecolor="white", linestyle=""),
        Line2D([], [], color=_INK, marker="o", markersize=_DOT, linestyle=""),
        *(Line2D([], [], color=colour, linewidth=_THICK) for colour in (_BETTER, _WORSE, _OPEN)),
    ]
    names = ["before", "after", "better", "WORSE", "could be chance"]
    _key(figure, handles, names, "recall in percent; above it the difference in points and its interval")
    _finish(figure, panels, title, stem)


def _panels(cutoffs: Sequence[int], label_width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel per cutoff, side by side."""
    figure = Figure(figsize=(label_width + _PANEL_WIDTH * len(cutoffs), height), layout="constrained")
    panels = [figure.add_subplot(1, len(cutoffs), place + 1) for place in range(len(cutoffs))]
    for panel, k in zip(panels, cutoffs, strict=True):
        panel.set_title(f"recall@{k}", fontsize=_TEXT_SIZE, color=_INK)
        panel.grid(axis="x", color=_FAINT, linewidth=_STROKE)
    return figure, panels


def _verdict(low: float, high: float) -> str:
    return _WORSE if high < 0 else _BETTER if low > 0 else _OPEN


def _rows_of(panel: Axes, labels: Sequence[str], *, named: bool) -> None:
    panel.set_yticks(range(len(labels)), [_label(label) if named else "" for label in labels])
    panel.set_ylim(len(labels) - 1 + _SPARE_ROW, -_SPARE_ROW)
    panel.tick_params(axis="y", length=0)


def _key(figure: Figure, handles: Sequence[Line2D], names: Sequence[str], title: str) -> None:
    """Add a legend below the panels that explains axes and colours."""
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, title=title)


def _one_line(text: str) -> str:
    """Return `text` on one line; unprintable characters become spaces."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _label(text: object) -> str:
    shown = _one_line(str(text))
    return shown if len(shown) <= _LONGEST_LABEL else shown[: _LONGEST_LABEL - 1] + "…"


def _finish(figure: Figure, panels: Sequence[Axes], title: str, stem: Path) -> None:
    """Apply the common style, and write the files."""
    figure.suptitle(_one_line(title), fontsize=_TITLE_SIZE, color=_INK)
    for panel in panels:
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            panel.spines[side].set_color(_MUTED)
        panel.tick_params(colors=_INK, labelsize=_SMALL_SIZE, color=_MUTED)
        panel.set_axisbelow(True)
    known = set(font_manager.get_font_names())
    family = [_OWN_FONT, *(name for name in _FALLBACK_FONTS if name in known)]
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_fontfamily(family)
            # A dollar in a label is a dollar, not mathematics.
            text.set_parse_math(False)
    _save(figure, stem)


def _save(figure: Figure, stem: Path) -> None:
    FigureCanvasAgg(figure)
    # Text stays text in the SVG, so that a browser finds fonts for it. Ids come from a fixed salt and there is no date,
    # so that equal figures give equal files. The library reads both from its global settings only.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "neurogated"}), warnings.catch_warnings():
        # The PNG shows a box for a character that no font has.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(stem.with_suffix(".png"), dpi=_DPI)
