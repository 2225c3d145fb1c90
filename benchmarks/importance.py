"""Measure the importance of messages as evidence: the area under the ROC curve of each conversation.

    python benchmarks/importance.py FILE.json [FILE.json …] [--set NAME=VALUE …]

FILE.json holds conversations in LoCoMo's or in BEAM's form. A message is evidence if the `evidence` or `gold` of a
question names it; adversarial questions do not count. Each message is added by a call of its own. The importance of a
message in several pieces is their mean. The interval is a bootstrap over the messages of each conversation.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neurogated import MemoryConfig, NeuroGraphMemory

ROUNDS = 1000
ADVERSARIAL = 5
Row = tuple[str, dict[str, str], str, bool]


def locomo(sample: dict[str, Any]) -> Iterator[Row]:
    """Yield conversation, message, session and whether it is evidence."""
    asked = [one for one in sample["qa"] if one["category"] != ADVERSARIAL]
    gold = {name for one in asked for text in one.get("evidence", []) for name in re.findall(r"D\d+:\d+", text)}
    sessions = sorted((m for m in map(re.compile(r"session_(\d+)\Z").match, sample["conversation"]) if m), key=_number)
    first = None
    for session in sessions:
        for turn in sample["conversation"][session[0]]:
            first = first or turn["speaker"]
            caption = turn.get("blip_caption")
            text = " ".join(part for part in (turn["text"].strip(), f"[shares {caption}]" if caption else "") if part)
            role = "user" if turn["speaker"] == first else "assistant"
            message = {"role": role, "content": text, "name": turn["speaker"]}
            yield sample["sample_id"], message, session[0], turn["dia_id"] in gold


def _number(match: re.Match[str]) -> int:
    return int(match[1])


def beam(sample: dict[str, Any]) -> Iterator[Row]:
    """Yield conversation, message, session and whether it is evidence."""
    gold = {name for one in sample["questions"] for name in one["gold"]}
    for one in sample["messages"]:
        message = {"role": one["role"], "content": one["content"]}
        yield f"chat {sample['chat']}", message, str(one["session"]), one["id"] in gold


def area(labels: np.ndarray, values: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    above = values[labels][:, None] - values[~labels][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def measure(path: str, settings: dict[str, str]) -> None:
    """Print the figures of a file."""
    config = MemoryConfig.from_mapping(
        {"storage": "memory", "embedding_name": "hash", "MAX_SIM_NEIGHBORS": 0, **settings}
    )
    rng = np.random.default_rng(0)
    areas, resampled = [], []
    values_of_all: list[float] = []
    with NeuroGraphMemory(config) as memory:
        for sample in json.loads(Path(path).read_text(encoding="utf-8")):
            name, labels, values = "", [], []
            for name, message, session, is_evidence in (beam if "messages" in sample else locomo)(sample):
                if message["content"].strip():
                    ids = memory.add(message, user_id=name, session_id=session)
                    values.append(float(np.mean([memory.get(one).importance for one in ids])))
                    labels.append(is_evidence)
            truth, judged = np.array(labels), np.array(values)
            areas.append(area(truth, judged))
            draws = (rng.integers(0, len(truth), len(truth)) for _ in range(ROUNDS))
            resampled.append([area(truth[draw], judged[draw]) for draw in draws])
            values_of_all += values
            low, high = np.quantile(resampled[-1], [0.025, 0.975])
            print(f"{name:10s} {truth.sum():4d} of {len(truth):4d}  {areas[-1]:.3f} [{low:.3f}, {high:.3f}]")
    low, high = np.quantile(np.mean(resampled, 0), [0.025, 0.975])
    print(f"{Path(path).name}: mean {np.mean(areas):.3f} [{low:.3f}, {high:.3f}]; ", end="")
    print(f"importance {np.mean(values_of_all):.2f} ± {np.std(values_of_all):.2f}")


def main() -> None:
    """Measure each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--set", nargs="*", action="extend", default=[], help="settings, NAME=VALUE")
    args = parser.parse_args()
    for path in args.files:
        measure(path, dict(pair.split("=", 1) for pair in args.set))


if __name__ == "__main__":
    main()
