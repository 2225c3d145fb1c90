"""Write the relations between English words that the judge of pairs reads, from the files of WordNet 3.0.

    apt-get download wordnet-base && dpkg-deb -x wordnet-base_*.deb wordnet
    python tools/word_relations.py wordnet/usr/share/wordnet

It keeps the words that WordNet's tagged texts use, the names of places, and the words that have an antonym. Of each
word it keeps the senses that those texts use, at most four. The licence of WordNet is written beside the file.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "src" / "neurogated" / "conflict"
PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
MOST_SENSES = 4
PERSON, LOCATION, OBJECT = "18", "15", "17"  # WordNet's files of persons, places, and continents and rivers
ABOVE, PART_OF, ANTONYM, SIMILAR, RELATED = ("@", "@i"), ("#p",), "!", "&", "+"
Synset = tuple[str, str]


class WordNet:
    """The synsets that are read, and the numbers that they are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words: dict[Synset, list[str]] = {}
        self.above: dict[Synset, list[Synset]] = {}
        self.wholes: dict[Synset, list[Synset]] = {}
        self.antonyms: dict[Synset, list[tuple[str, str]]] = {}
        self.similar: dict[Synset, list[Synset]] = {}
        self.places: set[Synset] = set()
        self.lines: dict[Synset, str] = {}
        for name, part in PARTS.items():
            self._read(name, part)

    def _read(self, name: str, part: str) -> None:
        for line in (self.folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split(" | ")[0].split()
            key = (part, fields[0])
            count = int(fields[3], base=16)
            self.words[key] = [re.sub(r"\(\w+\)$", "", fields[4 + 2 * n]).lower() for n in range(count)]
            self.lines[key] = fields[1]
            at = 4 + 2 * count
            pointers = [fields[at + 1 + 4 * n : at + 5 + 4 * n] for n in range(int(fields[at]))]
            to = [(kind, (p.replace("s", "a"), offset), ends) for kind, offset, p, ends in pointers]
            self.above[key] = [target for kind, target, _ in to if kind in ABOVE]
            if fields[1] == LOCATION or (fields[1] == OBJECT and any(kind == "@i" for kind, *_ in to)):
                self.places.add(key)
            self.wholes[key] = [target for kind, target, _ in to if kind in PART_OF]
            self.similar[key] = [target for kind, target, _ in to if kind == SIMILAR] if fields[2] == "s" else []
            self.antonyms[key] = [
                (self.words[key][bytes.fromhex(ends)[0] - 1], (target, bytes.fromhex(ends)[1]))
                for kind, target, ends in to
                if kind == ANTONYM
            ]

    def senses(self) -> dict[tuple[str, str], list[Synset]]:
        """Return the senses that are kept, by word and part of speech."""
        kept: dict[tuple[str, str], list[Synset]] = {}
        for name, part in PARTS.items():
            for line in (self.folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
                if line.startswith(" "):
                    continue
                fields = line.split()
                synsets = [(part, offset) for offset in fields[-int(fields[2]) :]]
                tagged = int(fields[-int(fields[2]) - 1])
                is_place = synsets[0] in self.places
                has_antonym = any(self.antonyms[synset] or self.similar[synset] for synset in synsets[:1])
                if fields[0].count("_") > 1 or not (tagged or is_place or (has_antonym and "_" not in fields[0])):
                    continue
                kept[fields[0], part] = synsets[: max(1, min(tagged, MOST_SENSES))]
        return kept


def main() -> None:  # noqa: C901 - one table after the other
    """Read WordNet and write `word_relations.json.gz`."""
    parser = argparse.ArgumentParser(description="Write the relations between English words.")
    parser.add_argument("wordnet", type=Path, help="folder of WordNet's files")
    folder = parser.parse_args().wordnet
    net = WordNet(folder)
    senses = net.senses()
    wanted = set(itertools.chain.from_iterable(senses.values()))
    todo = list(wanted)
    while todo:
        synset = todo.pop()
        for other in (*net.above[synset], *net.wholes[synset], *net.similar[synset]):
            if other not in wanted:
                wanted.add(other)
                todo.append(other)
    number = {synset: n for n, synset in enumerate(sorted(wanted))}
    opposites: dict[int, set[int]] = defaultdict(set)
    pairs: dict[str, set[str]] = defaultdict(set)
    for synset, found in net.antonyms.items():
        if net.lines[synset] != PERSON:
            for word, (target, place) in found:
                pairs[word].add(net.words[target][place - 1])
    for synset in wanted:
        for _, (target, _) in net.antonyms[synset]:
            if target in number:
                opposites[number[synset]].add(number[target])
    irregular: dict[str, str] = {}
    for name, part in PARTS.items():
        for line in (folder / f"{name}.exc").read_text(encoding="utf-8").splitlines():
            form, base, *_ = line.split()
            if (base, part) in senses and "_" not in form:
                irregular.setdefault(form, base)
    ordered = sorted(wanted)
    data = {
        "words": {f"{word} {part}": [number[s] for s in found] for (word, part), found in sorted(senses.items())},
        "above": [[number[s] for s in net.above[synset]] for synset in ordered],
        "wholes": {number[s]: [number[w] for w in net.wholes[s]] for s in ordered if net.wholes[s]},
        "similar": {number[s]: [number[w] for w in net.similar[s]] for s in ordered if net.similar[s]},
        "opposites": {n: sorted(found) for n, found in sorted(opposites.items())},
        "antonyms": {word: sorted(others) for word, others in sorted(pairs.items())},
        "irregular": irregular,
    }
    text = json.dumps(data, separators=(",", ":"))
    path = FOLDER / "word_relations.json.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{path}: {len(senses)} words, {len(wanted)} senses, {path.stat().st_size} bytes, {len(text)} unpacked")


if __name__ == "__main__":
    main()
