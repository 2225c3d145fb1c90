"""Takes the most frequent tokens of OpenAI's o200k, and writes them for `neurogated.core.tokens`.

    pip install bpe-openai==0.1.4    # 75 MB, so no part of the development environment
    python tools/token_costs.py

`tokens` has the first 90,000 of 200,000 by rank, each byte as a character. `borders` has, for a part of a character
and what stands next to it in a token, the lowest rank of such a token.
"""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path

import bpe_openai

COSTS = Path(__file__).parent.parent / "src" / "neurogated" / "core" / "token_costs.json.gz"
TOKENS = 90_000
CHARACTER = re.compile("[\0-\x7f]|[\xc0-\xff][\x80-\xbf]*|[\x80-\xbf]+")
"""A character, or a part of one at the beginning or the end of a token."""


def main() -> None:
    """Write the file."""
    decode = bpe_openai.get_encoding("o200k_base").decode_single_token_bytes
    tokens = [decode(rank).decode("latin-1") for rank in range(TOKENS)]
    borders: dict[str, int] = {}
    for rank, token in enumerate(tokens):
        for left, right in pairwise(CHARACTER.findall(token)):
            if not (_is_whole(left) and _is_whole(right)):
                borders.setdefault(left + right, rank)
    packed = json.dumps({"tokens": tokens, "borders": borders}, ensure_ascii=False).encode()
    COSTS.write_bytes(gzip.compress(packed, mtime=0))
    print(f"{COSTS}: {COSTS.stat().st_size:,} bytes, {len(borders)} borders")


def _is_whole(part: str) -> bool:
    try:
        return bool(part.encode("latin-1").decode())
    except UnicodeDecodeError:
        return False


if __name__ == "__main__":
    main()
