"""Measures what words and characters cost in OpenAI's o200k, and writes the costs for `neurogated.core.tokens`.

    pip install bpe-openai==0.1.4    # 75 MB, so no part of the development environment
    python tools/token_costs.py

A cost is a measured number of tokens, from 1 to 9. `words` has, for each string of six costs, the words with these
costs: after a space and without one, each in small letters, with a capital, and in capitals. `parts` has the costs of
the later parts of words, in small letters and in capitals. `characters` has the cost of each character below U+20000.
`pairs` has the pairs of ASCII punctuation, spaces and line breaks that are one token. The words are those
of the bundled model's vocabulary and the function words of `neurogated.text.language`.
"""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import bpe_openai

from neurogated.text.language import FUNCTION_WORDS

ROOT = Path(__file__).parent.parent / "src" / "neurogated"
VOCABULARY = ROOT / "embedding" / "all-MiniLM-L6-v2" / "vocab.txt"
PUNCTUATION = " \n!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
PLANES = 0x20000
SURROGATES = range(0xD800, 0xE000)


def main() -> None:
    """Write the file."""
    encode = bpe_openai.get_encoding("o200k_base").encode_ordinary

    def cost(text: str) -> int:
        return min(9, len(encode(text)))

    words, parts = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    known = VOCABULARY.read_text(encoding="utf-8").split("\n")
    pieces = sorted(
        {piece for piece in known if piece.removeprefix("##").isascii()} | set().union(*FUNCTION_WORDS.values())
    )
    for piece in pieces:
        text = piece.removeprefix("##")
        if not (text.isalpha() and text.islower()):
            continue
        forms = (text, text.capitalize(), text.upper())
        if piece == text:
            words["".join(str(cost(space + form)) for space in (" ", "") for form in forms)].append(text)
        else:
            parts["".join(str(cost(form)) for form in (forms[0], forms[2]))].append(text)
    found = {
        "words": {key: " ".join(some) for key, some in sorted(words.items())},
        "parts": {key: " ".join(some) for key, some in sorted(parts.items())},
        "characters": "".join("9" if code in SURROGATES else str(cost(chr(code))) for code in range(PLANES)),
        "pairs": [a + b for a in PUNCTUATION for b in PUNCTUATION if b != " " and a != "\n" and cost(a + b) == 1],
    }
    path = ROOT / "core" / "token_costs.json.gz"
    path.write_bytes(gzip.compress(json.dumps(found, ensure_ascii=False).encode(), mtime=0))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
