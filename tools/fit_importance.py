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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.ingestion.analysers import Encoder, Remark, chat_features, text_features
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session.runtime import Parts

TEXTS = Path(__file__).with_name("importance_texts.tsv")
OUT = Path(__file__).parent.parent / "src/neurogated/ingestion/importance.json"
TEXT_PENALTY, CHAT_PENALTY = 200.0, 10.0
TOTAL, OWN_TOTAL = 1000.0, 300.0
"""The weight of the texts that a regression is fitted on, and that of the project's own beside those of CHATS.json."""


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
    quick = MemoryConfig(MAX_SIM_NEIGHBORS=0)
    with NeuroGraphMemory(quick, parts=parts) as memory:
        for one in messages:
            recorder.remarks.clear()
            said = {"role": one.role, "content": one.text} | ({"name": one.speaker} if one.speaker else {})
            memory.add(said, user_id=one.conversation, session_id=one.session)
            found.append(recorder.remarks[0])
    return found


def fit(rows: list[dict[str, float]], labels: np.ndarray, penalty: float, weights: np.ndarray) -> dict[str, float]:
    """Fit a logistic regression with an L2 penalty on standardised features."""
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows])
    scaler = StandardScaler().fit(values, sample_weight=weights)
    model = LogisticRegression(C=1 / penalty).fit(scaler.transform(values), labels, sample_weight=weights)
    slopes = model.coef_[0] / scaler.scale_
    found = dict(zip(names, slopes, strict=True)) | {"intercept": model.intercept_[0] - slopes @ scaler.mean_}
    return {name: round(float(value), 4) for name, value in found.items()}


def balanced(labels: np.ndarray, total: float = TOTAL) -> np.ndarray:
    """Return weights that give both labels half of `total`."""
    return total * np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())


def scores(rows: list[dict[str, float]], weights: dict[str, float]) -> np.ndarray:
    """Return the probability of each row."""
    logits = [weights["intercept"] + sum(weights[name] * value for name, value in row.items()) for row in rows]
    return 1 / (1 + np.exp(-np.array(logits)))


def main() -> None:
    """Fit, print the figures, and write the coefficients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chats")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()

    own, chats = own_messages(), chat_messages(args.chats)
    rows = [text_features(one.text) for one in own]
    labels = np.array([one.is_evidence for one in own])
    text = fit(rows, labels, TEXT_PENALTY, balanced(labels))

    chats += [one for one in own if one.speaker is None]
    remarks, labels = remarks_of(chats), np.array([one.is_evidence for one in chats])
    features = [text_features(one.text) for one in remarks]
    judged = scores(features, text).tolist()
    rows = [chat_features(*one) for one in zip(remarks, features, judged, strict=True)]
    is_own = np.array([one.conversation.startswith("d") for one in chats])

    def fitted(kept: np.ndarray) -> dict[str, float]:
        weights = np.concatenate([balanced(labels[kept & ~is_own]), balanced(labels[is_own], OWN_TOTAL)])
        return fit([rows[place] for place in np.flatnonzero(kept)], labels[kept], CHAT_PENALTY, weights)

    areas = []
    for name in dict.fromkeys(one.conversation for one in chats if not one.conversation.startswith("d")):
        held = np.array([one.conversation == name for one in chats])
        places = np.flatnonzero(held)
        areas.append(roc_auc_score(labels[held], scores([rows[place] for place in places], fitted(~held))))
        print(f"chat {name}: {areas[-1]:.3f}")
    print(f"mean {np.mean(areas):.3f}, standard deviation {np.std(areas, ddof=1):.3f}")
    found = {"text": text, "chat": fitted(np.ones(len(chats), dtype=bool))}
    args.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
