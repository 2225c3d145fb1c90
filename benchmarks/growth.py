"""How a memory file grows in use: `python -m benchmarks.growth --days 365 --corpus CORPUS.json`.

Every hour an agent adds a text, asks three questions and gives feedback on the answers to the last one. Every night it
runs maintenance. The file is compared with that of a fresh memory of the same texts. Nothing is compacted.
`--times` prints how long single writes take instead, in small memories and in larger ones.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.config.groups import LearningSettings
from neurogated.progress import show_progress
from neurogated.testing import ManualClock

HOURS = 24
QUESTIONS = 3
USEFUL = 3
VALUES = 600


def documents(corpus: Path, hours: int) -> Iterator[dict[str, str]]:
    """Yield one document per hour; a corpus that ends begins again under other names."""
    rows = json.loads(corpus.read_text(encoding="utf-8"))
    for hour in range(hours):
        row, again = rows[hour % len(rows)], hour // len(rows)
        mark = f" ({again})" if again else ""
        yield {"title": row["title"] + mark, "text": row["text"] + mark}


def size(memory: NeuroGraphMemory) -> int:
    """Return the bytes of the file after the memory is closed."""
    memory.close()
    return Path(memory.config.save_dir, "memory", "memory.db").stat().st_size


def use(memory: NeuroGraphMemory, clock: ManualClock, corpus: Path, hours: int) -> None:
    """Use the memory for these hours."""
    chance, titles = random.Random(1), list[str]()  # noqa: S311 - no secret
    given = show_progress(documents(corpus, hours), "using", "hour", total=hours, progress=None)
    for hour, document in enumerate(given):
        clock.advance(timedelta(hours=1))
        memory.add_document(document["text"], title=document["title"])
        titles.append(document["title"])
        for _ in range(QUESTIONS):
            recall = memory.recall(f"What about {chance.choice(titles)}?")
        memory.feedback(recall.ids[:USEFUL])
        if hour % HOURS == HOURS - 1:
            memory.maintenance()


def times() -> None:
    """Print the seconds of long texts, and the milliseconds of one more value of an attribute."""
    sentences = [
        f"I met Anna{n} in the hall of Town{n % 97} on day {n % 30} and bought {n} apples." for n in range(13_000)
    ]
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        for user in (None, "ana"):
            seconds = timed(partial(memory.add_document, " ".join(sentences[:1000]), user_id=user))
            print(f"a document of 1,000 sentences, user {user}: {seconds:.2f} s")
        for count in (1_700, 13_000):
            message = {"role": "user", "content": " ".join(sentences[:count])}
            seconds = timed(partial(memory.add, message, user_id="ben", session_id=str(count)))
            print(f"a message of {len(message['content']):,} characters: {seconds:.2f} s")
        for n in range(1, VALUES + 1):
            began = datetime(1000 + n, 1, 1, tzinfo=UTC)
            seconds = timed(partial(memory.facts.add, "Ana", "city", f"Town{n}", user_id="eva", valid_from=began))
            if n % (VALUES // 4) == 0:
                print(f"value {n} of one attribute: {1e3 * seconds:.1f} ms")


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print one line, or with `--times` a few."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--corpus", type=Path, default=Path("dataset/sample_corpus.json"), help="as in `bench run`")
    parser.add_argument("--times", action="store_true", help="time single writes")
    arguments = parser.parse_args()
    if arguments.times:
        times()
        return
    hours, clock = arguments.days * HOURS, ManualClock()
    with tempfile.TemporaryDirectory() as folder:

        def opened(name: str) -> NeuroGraphMemory:
            # Every recall is written at once, the worst case for the file.
            config = MemoryConfig(
                save_dir=str(Path(folder, name)),
                embedding_name="hash",
                learning=LearningSettings(access_flush_seconds=0),
            )
            return NeuroGraphMemory(config, parts=compose.build(config, clock))

        used, fresh = opened("used"), opened("fresh")
        use(used, clock, arguments.corpus, hours)
        fresh.add_documents(documents(arguments.corpus, hours))
        used_bytes, fresh_bytes = size(used), size(fresh)
    ratio = used_bytes / fresh_bytes
    print(f"{arguments.days} days: {used_bytes:,} bytes after use, {fresh_bytes:,} fresh, {ratio:.2f} times")


if __name__ == "__main__":
    main()
