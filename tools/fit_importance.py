"""Fit the coefficients of the offline judge of importance.

    python tools/fit_importance.py CHATS.json [--out src/neurogated/ingestion/importance.json]

CHATS.json holds chats of users with an assistant in BEAM's form: a list of objects with `chat`, `messages` (`id`,
`role`, `session`, `content`) and `questions` (`gold`: ids of the messages that hold the evidence). The regression over
texts is fitted on `importance_texts.tsv`, which was written for this project. The regression over chats is fitted on
both. The features come from a memory to which the messages are added. Prints the area under the ROC curve of each
chat, judged by coefficients that were fitted without it.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.compose import Parts
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.ingestion.encoder import Encoder
from neurogated.ingestion.importance import Remark, chat_features, text_features
from neurogated.retrieval.kernel_generator import UniformKernelSource

TEXTS = Path(__file__).with_name("importance_texts.tsv")
OUT = Path(__file__).parent.parent / "src/neurogated/ingestion/importance.json"
TEXT_PENALTY, CHAT_PENALTY = 300.0, 10.0
OWN_SHARE = 0.1
"""The weight of the project's own chats beside those of CHATS.json."""


class Message(NamedTuple):
    """A message with its label."""

    conversation: str
    session: str
    role: str
    speaker: str | None
    text: str
    is_evidence: bool


class Recorder:
    """A judge that keeps the texts it is asked about."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def judge(self, remarks: Sequence[Remark]) -> list[float]:
        """Keep the texts and judge them all alike."""
        self.remarks += remarks
        return [0.5] * len(remarks)


def own_messages() -> list[Message]:
    """Read the conversations that were written for this project."""
    rows = [line.split("\t") for line in TEXTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    messages = []
    for name, _, speaker, label, text in rows:
        is_role = speaker in {"user", "assistant"}
        role, said = (speaker, None) if is_role else ("user", speaker)
        messages.append(Message(name, "1", role, said, text.replace("\\n", "\n"), label == "1"))
    return messages


def chat_messages(path: str) -> list[Message]:
    """Read chats in BEAM's form."""
    messages = []
    for chat in json.loads(Path(path).read_text(encoding="utf-8")):
        gold = {one for question in chat["questions"] for one in question["gold"]}
        for one in chat["messages"]:
            if one["content"].strip():
                told = (str(chat["chat"]), str(one["session"]), one["role"], None, one["content"], one["id"] in gold)
                messages.append(Message(*told))
    return messages


def remarks_of(messages: Iterable[Message]) -> list[Remark]:
    """Add messages to a memory, and return the texts that its judge of importance sees."""
    recorder, found = Recorder(), []
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource(), encoder=Encoder(recorder))
    quick = MemoryConfig(MAX_SIM_NEIGHBORS=0, indexing={"cause_window": 0})
    with NeuroGraphMemory(quick, parts=parts) as memory:
        for one in messages:
            recorder.remarks.clear()
            said = {"role": one.role, "content": one.text} | ({"name": one.speaker} if one.speaker else {})
            memory.add(said, user_id=one.conversation, session_id=one.session)
            found.append(recorder.remarks[0])
    return found


def fit(rows: list[dict[str, float]], labels: np.ndarray, weights: np.ndarray, penalty: float) -> dict[str, float]:
    """Fit a logistic regression with an L2 penalty on standardised features by Newton's method."""
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows])
    mean = np.average(values, 0, weights)
    scale = np.sqrt(np.average((values - mean) ** 2, 0, weights)) + 1e-9
    design = np.column_stack([(values - mean) / scale, np.ones(len(values))])
    ridge = np.diag([penalty] * len(names) + [0.0])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (weights * (chance - labels)) + ridge @ beta
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + ridge
        beta -= np.linalg.solve(curvature, gradient)
    slopes = beta[:-1] / scale
    found = dict(zip(names, slopes, strict=True)) | {"intercept": beta[-1] - slopes @ mean}
    return {name: round(float(value), 4) for name, value in found.items()}


def balanced(labels: np.ndarray, total: float) -> np.ndarray:
    """Return weights that give both labels half of `total`."""
    share = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    return total * share / share.sum()


def scores(rows: list[dict[str, float]], weights: dict[str, float]) -> np.ndarray:
    """Return the probability of each row."""
    logits = [weights["intercept"] + sum(weights[name] * value for name, value in row.items()) for row in rows]
    return 1 / (1 + np.exp(-np.array(logits)))


def area(labels: np.ndarray, values: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    above = values[labels][:, None] - values[~labels][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def main() -> None:
    """Fit, print the figures, and write the coefficients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chats")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()

    own, chats = own_messages(), chat_messages(args.chats)
    own_remarks, chat_remarks = remarks_of(own), remarks_of(chats)
    own_rows, chat_texts = [text_features(one) for one in own_remarks], [text_features(one) for one in chat_remarks]
    own_labels, labels = (np.array([one.is_evidence for one in some]) for some in (own, chats))
    text = fit(own_rows, own_labels, balanced(own_labels, 1000), TEXT_PENALTY)

    def in_chat(remarks: list[Remark], rows: list[dict[str, float]]) -> list[dict[str, float]]:
        return [chat_features(*one) for one in zip(remarks, rows, scores(rows, text).tolist(), strict=True)]

    rows = in_chat(chat_remarks, chat_texts)
    own_chat = np.array([one.in_chat for one in own_remarks])
    own_chat_rows = [row for row, kept in zip(in_chat(own_remarks, own_rows), own_chat, strict=True) if kept]

    def fitted(kept: np.ndarray) -> dict[str, float]:
        theirs, ours = labels[kept], own_labels[own_chat]
        weights = np.concatenate([balanced(theirs, 1000), balanced(ours, 1000 * OWN_SHARE)])
        chosen = [rows[place] for place in np.flatnonzero(kept)] + own_chat_rows
        return fit(chosen, np.concatenate([theirs, ours]), weights, CHAT_PENALTY)

    places = defaultdict(list)
    for place, one in enumerate(chats):
        places[one.conversation].append(place)
    areas = []
    for name, held in places.items():
        kept = np.ones(len(chats), dtype=bool)
        kept[held] = False
        areas.append(area(labels[held], scores([rows[place] for place in held], fitted(kept))))
        print(f"chat {name}: {areas[-1]:.3f}")
    print(f"mean {np.mean(areas):.3f}, standard deviation {np.std(areas, ddof=1):.3f}")
    found = {"text": text, "chat": fitted(np.ones(len(chats), dtype=bool))}
    args.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
