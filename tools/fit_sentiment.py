"""Compute the direction of sentiment among the vectors of an embedder, and print how well it fits other sentences.

    python tools/fit_sentiment.py [--embedder all-MiniLM-L6-v2]

The sentences are in `sentiment_texts.tsv`, which was written for this project. The direction is added to
`src/neurogated/core/sentiment.json`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from neurogated import MemoryConfig
from neurogated.core.sentiment import SentimentScale
from neurogated.session.compose import build_text_embedder

TEXTS = Path(__file__).with_name("sentiment_texts.tsv")
OUT = Path(__file__).parent.parent / "src/neurogated/core/sentiment.json"


def main() -> None:
    """Fit, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    args = parser.parse_args()
    rows = [line.split("\t") for line in TEXTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    parts, languages, labels, texts = (np.array(column) for column in zip(*rows, strict=True))
    labels = labels.astype(int)
    embedder = build_text_embedder(MemoryConfig(embedding_name=args.embedder))
    vectors = embedder.embed_documents(texts.tolist())
    unhappy, happy = (vectors[(parts == "fit") & (labels == label)].mean(0, dtype=np.float64) for label in (-1, 1))
    direction = happy - unhappy
    direction *= 2 / (direction @ direction)
    offset = float(direction @ (happy + unhappy) / 2)
    scale = SentimentScale(direction, offset)
    values = np.array([scale.sentiment(vector) for vector in vectors])
    print("language   n  right sign  area under ROC  strength  strength of neutral sentences")
    for language in dict.fromkeys(languages.tolist()):
        here = (parts == "test") & (languages == language)
        told = here & (labels != 0)
        above = values[here & (labels > 0)][:, None] - values[here & (labels < 0)][None, :]
        area = ((above > 0) + 0.5 * (above == 0)).mean()
        right = (np.sign(values[told]) == labels[told]).mean()
        strength, neutral = (np.abs(values[some]).mean() for some in (told, here & (labels == 0)))
        print(f"{language:8s} {told.sum():3d}  {right:10.2f}  {area:14.2f}  {strength:8.2f}  {neutral:8.2f}")
    known = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    known[embedder.name] = {"direction": [round(float(one), 4) for one in direction], "offset": round(offset, 4)}
    OUT.write_text(json.dumps(known) + "\n", encoding="utf-8")
    embedder.close()


if __name__ == "__main__":
    main()
