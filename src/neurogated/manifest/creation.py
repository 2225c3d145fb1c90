"""Makes the manifest of a memory: its communities with names and descriptions.

M. Grootendorst: BERTopic: Neural topic modeling with a class-based TF-IDF procedure (2022). A language model may give
better names.
"""

import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.communities import WeightedGraph
from neurogated.core.energy import LAYERS, EnergyLaw, layers_of
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort, LanguageModel
from neurogated.core.quoting import plain
from neurogated.core.view import GraphView, Rows
from neurogated.errors import LLMError
from neurogated.manifest.model import Bridge, Community, GraphManifest, KeyNode, ManifestTopology, TemporalLayers
from neurogated.manifest.structure import Algorithms, Structure, Values, structure_of
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import (
    CHINESE_STOP,
    ENGLISH_STOP_WORDS,
    FUNCTION_WORDS,
    RUN_CHARACTERS,
    fold,
    split_keywords,
)
from neurogated.text.strings import table_of
from neurogated.text.times import NUMBERS

_BEFORE_NOUNS = frozenset(table_of("neurogated.text", "language")["before_nouns"].split())
_COMMON = ENGLISH_STOP_WORDS.union(_BEFORE_NOUNS, *FUNCTION_WORDS.values(), *NUMBERS.values())
_ELIDED = re.compile(r"\b[dl]['’](?=\w)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\s\w'’]")
_RUN = re.compile(f"[{RUN_CHARACTERS}]+")
_LEAST_BESIDE = 0.4  # of the score of the first subject of a name


@dataclass(slots=True)
class Words:
    """The words of some memories of a community."""

    size: int
    """How many memories the community had."""
    memories: int
    """How many of them were read."""
    counts: Counter[str]
    """How many memories have each word, by its stem; those that name it count twice."""
    nouns: Counter[str]
    """How many memories have it where a noun stands."""
    shown: dict[str, str]
    """A form of each word as it stands in a text, of a noun if there is one."""


def words_in(nodes: Sequence[MemoryNode], size: int) -> Words:
    """Return the words, names and tags of memories of a community of `size`."""
    found = Words(size, len(nodes), Counter(), Counter(), {})
    texts = [plain(node.content) for node in nodes]
    for place, node in enumerate(nodes):
        for time in node.found.times:
            texts[place] = texts[place].replace(time, ".")
    for node, text, inside in zip(nodes, texts, _words_of_runs(map(_RUN.findall, texts)), strict=True):
        labels = {_clean(label) for label in (*node.found.names, *node.tags, node.title or "")}
        names = labels.union(map(_clean, node.found.entities))
        words, nouns = _words_and_nouns(_ELIDED.sub("de ", _RUN.sub(" ", text)))
        named = _stems(names.union(*map(str.split, names)), found.shown)
        forms = dict(zip(inside, inside, strict=True))
        found.nouns.update(_stems(labels | nouns | {name for name in names if " " in name}, forms) | inside)
        found.counts.update(dict.fromkeys(_stems(words, found.shown) | inside, 1) | dict.fromkeys(named, 2))
        found.shown |= forms
    return found


def _words_and_nouns(text: str) -> tuple[set[str], set[str]]:
    """Return the words of a text, and those that follow an article or have a capital within a sentence."""
    words, nouns = set[str](), set[str]()
    tokens = [".", ".", *(token.removesuffix("'s").removesuffix("’s") for token in _TOKEN.findall(text)), "."]
    for earlier, before, word, after in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if word[0].isalnum():
            # In "Thanks Ana!", the name is of whoever is spoken to.
            named = word[0].isupper() and before[0].isalnum() and (earlier[0].isalnum() or after[0].isalnum())
            words.add(word if named else word.lower())
            ends = not after[0].isalnum() or after.lower() in _COMMON
            article = earlier if ends and before.lower() not in _COMMON else before
            if (named or article.lower() in _BEFORE_NOUNS) and word.lower() not in _COMMON:
                nouns.add(word)
    return words, nouns


def _words_of_runs(texts: Iterable[list[str]]) -> list[set[str]]:
    """Return the words of texts without spaces: strings of 2 to 4 characters that stand beside different ones.

    H. Feng et al.: Accessor variety criteria for Chinese word extraction (2004).
    """
    before, after, inside = defaultdict[str, set[object]](set), defaultdict[str, set[object]](set), []
    for place, runs in enumerate(texts):
        inside.append(found := set[str]())
        for part in (part for run in runs for part in CHINESE_STOP.split(run)):
            for begin, size in product(range(len(part)), (2, 3, 4)):
                if len(word := part[begin : begin + size]) == size:
                    found.add(word)
                    before[word].add(part[begin - 1 : begin] or place)
                    after[word].add(part[begin + size : begin + size + 1] or place)
    return [{word for word in found if min(len(before[word]), len(after[word])) > 1} for found in inside]


def keywords_and_names(communities: Sequence[Words], chosen: Sequence[Words]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keywords of each chosen one of the communities, the most distinctive first, and its name.

    A name has the subjects with the largest shares in the divergence of the community's words from those of all
    (Kullback and Leibler).
    """
    total, spread, nouns = Counter[str](), Counter[str](), Counter[str]()
    for one in communities:
        total.update(one.counts)
        spread.update(one.counts.keys())
        nouns.update(one.nouns)
    mean = sum(total.values()) / max(1, len(communities))
    memories = sum(one.memories for one in communities)
    for one in chosen:
        scores, subjects = dict[str, float](), dict[str, float]()
        for stem, count in one.counts.items():
            share = count / one.memories
            scores[stem] = share * math.log1p(mean / total[stem]) * math.log1p(len(communities) / spread[stem])
            if stem in one.nouns:
                noun = min(nouns[part] / total[part] for part in (stem, *stem.split()) if total[part])
                subjects[stem] = (count - 1) * math.log(share * memories / total[stem]) * noun**0.5
        best = _without_repetition(subjects)
        name = [one.shown[stem] for stem in best if subjects[stem] >= _LEAST_BESIDE * subjects[best[0]]]
        keywords = tuple(one.shown[stem] for stem in _without_repetition(scores)[:KEYWORDS])
        yield keywords, ", ".join(name[:_IN_NAME] or keywords[:1])


def _without_repetition(scores: Mapping[str, float]) -> list[str]:
    best = sorted(scores, key=lambda stem: (-scores[stem], stem))
    first = set({word: stem for stem in reversed(best) for word in stem.split()}.values())
    return [stem for stem in best if stem in first]


def _stems(words: Iterable[str], shown: dict[str, str]) -> set[str]:
    found = set()
    for word in sorted(words, key=lambda word: (len(word), word)):  # the shortest form is shown
        if len(word) not in range(3, 41) or fold(word) in ENGLISH_STOP_WORDS:
            continue
        stem = " ".join(split_keywords(word))
        if stem and not stem.isdigit():
            found.add(stem)
            shown.setdefault(stem, word)
    return found


def _clean(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() or letter in "'-’" else " " for letter in plain(text)).split())


_KEYWORDS, _NAMED_AT_ONCE = 12, 12
_LONGEST = 60

_log = logging.getLogger(__name__)


def community_names(
    model: LanguageModel, prompts: PromptTemplateManager, keywords: Sequence[Sequence[str]]
) -> list[str]:
    """Return a short name for each community by its keywords; empty where the model gave none that fits."""
    groups = "\n".join(", ".join(some[:_KEYWORDS]) for some in keywords)
    try:
        answer = model.infer_json(prompts.render("community_names", groups=groups), prompts.schema("community_names"))
    except LLMError as error:
        _log.warning("the language model named no communities: %s", error)
        return [""] * len(keywords)
    names = [" ".join(str(name).split()) for name in answer["names"]]
    if len(names) != len(keywords):
        _log.warning("the language model gave %d names for %d communities", len(names), len(keywords))
        return [""] * len(keywords)
    return [name if len(name) <= _LONGEST and "\0" not in name else "" for name in names]


KEYWORDS = 48
"""Keywords of a community."""
_IN_NAME = 3
_SHOWN = 10
_EXAMPLES = 2
_SAMPLE = 40
"""Memories whose words name a community, those with the highest PageRank."""
_READ = 2_000
"""Memories that are read for the names of all communities."""
_CONTENT = 100
_CHANGED = 0.1
"""A community gets new keywords, and a bridge another memory, when it has changed by this share."""


@dataclass(slots=True)
class _Named:
    members: Rows
    ids: tuple[str, ...]
    words: Words
    keywords: tuple[str, ...] = ()
    name: str = ""
    """Its subjects."""
    title: str | None = None
    """By a language model; empty if it gave none, None if it was not asked."""


class Created(NamedTuple):
    """A manifest with what the next update begins with."""

    manifest: GraphManifest
    structure: Structure
    named: dict[int, _Named]
    """By label."""
    bridging: dict[tuple[int, int], tuple[float, str]]
    """The weight of a bridge and the id of its memory, by two labels."""
    betweenness: tuple[WeightedGraph, Values] | None
    """Of the links between communities when these were last found; None without algorithms."""
    sequence: int
    """The number of the last change that the manifest includes."""


class _Scoped(NamedTuple):
    """What a manifest shows, with values of each memory."""

    view: GraphView
    structure: Structure
    energy: Values


@dataclass(frozen=True, slots=True)
class ManifestCreator:
    """Creates manifests of the memories that a view admits."""

    store: GraphStorePort
    law: EnergyLaw
    algorithms: Algorithms = None
    """None for communities by local moves, without betweenness and clustering."""
    namer: Callable[[Sequence[Sequence[str]]], list[str]] | None = None
    """Names communities by their keywords; see `community_names`."""

    def create(
        self, view: GraphView, now: datetime, old: Created | None = None, start: Structure | None = None
    ) -> Created:
        """Return the manifest of the memories that `view` admits; energies and layers are those of `now`.

        The `old` one is updated, so its memories must not have been rewritten; else `start` may be an old structure.
        """
        structure = structure_of(view, view.admitted_nodes(), self.algorithms, start if old is None else old.structure)
        titles = {} if old is None else {one.keywords: one.title for one in old.named.values()}
        if old is not None and structure.version != old.structure.version:
            old = None
        rows, rank = structure.rows, structure.rank
        energy = self.law.energy(view, rows, to_micros(now))
        scoped = _Scoped(view, structure, energy)
        named = self._named(scoped, {} if old is None else old.named)
        for one in named.values():
            one.title = titles.get(one.keywords, one.title)
        communities, labels = _communities(scoped, named)
        if old is None:
            found = None if self.algorithms is None else self.algorithms(structure.between).betweenness()
            betweenness = None if found is None else (structure.between, found)
        else:
            betweenness = old.betweenness
        bridges, bridging = _bridges(scoped, labels, betweenness, {} if old is None else old.bridging)
        pairs = rows.size * (rows.size - 1) / 2
        number = np.full(structure.between.nodes, -1, dtype=np.int64)
        number[list(labels)] = np.arange(len(labels))
        ends = np.sort(number[np.stack((structure.between.source, structure.between.target))], axis=0)
        shown = ends[0] >= 0
        manifest = GraphManifest(
            nodes=int(rows.size),
            edges=structure.edges + structure.computed,
            average_degree=2 * (structure.edges + structure.computed) / max(1, rows.size),
            total_energy=float(energy.sum()),
            communities=communities,
            topology=ManifestTopology(
                structure.links / pairs if pairs else 0.0, structure.clustering, int(np.count_nonzero(structure.degree))
            ),
            temporal=self._layers(scoped, to_micros(now)),
            links=tuple(zip(*ends[:, shown].tolist(), structure.between.weight[shown].tolist(), strict=True)),
            bridges=bridges,
            key_nodes=self._shown(view, rows, (rank / rank.max(initial=1e-300) + energy) / 2),
            most_used=self._shown(view, rows, view.uses.take(rows).astype(np.float64)),
            created_at=now,
        )
        return Created(manifest, structure, named, bridging, betweenness, view.sequence)

    def with_titles(self, created: Created) -> Created:
        """Return a manifest whose first communities have names by the language model, which is asked once for each."""
        first = {one.keywords for one in created.manifest.communities[:_NAMED_AT_ONCE]}
        new = [one for one in created.named.values() if one.title is None and one.keywords and one.keywords in first]
        if self.namer is None or not new:
            return created
        for one, title in zip(new, self.namer([one.keywords for one in new]), strict=True):
            one.title = title
        titles = {one.keywords: one.title for one in created.named.values() if one.title}
        communities = tuple(
            replace(one, name=titles.get(one.keywords, one.name)) for one in created.manifest.communities
        )
        return created._replace(manifest=replace(created.manifest, communities=communities))

    def _named(self, scoped: _Scoped, known: dict[int, _Named]) -> dict[int, _Named]:
        view, structure, _ = scoped
        large = [label for label, members in enumerate(structure.members) if members.size > 1]
        sample = max(2, min(_SAMPLE, _READ // max(1, len(large))))
        named = dict[int, _Named]()
        for label in large:
            members, before = structure.members[label], known.get(label)
            if before is not None and before.members is members:
                named[label] = before
                continue
            size = 0 if before is None else before.members.size
            ids = tuple(view.names(structure.rows[members[size:]]))
            if before is not None and abs(members.size - before.words.size) <= _CHANGED * before.words.size:
                named[label] = replace(before, members=members, ids=before.ids + ids)
                continue
            best = np.sort(members[_top(structure.rank[members], sample)])
            wanted = view.names(structure.rows[best])
            read = words_in(self.store.get_nodes(wanted, missing_ok=True), members.size)
            named[label] = _Named(members, ids if before is None else before.ids + ids, read)
        unnamed = [one for one in named.values() if not one.keywords]
        words = [one.words for one in named.values()]
        for one, chosen in zip(unnamed, keywords_and_names(words, [one.words for one in unnamed]), strict=True):
            one.keywords, one.name = chosen
        return named

    def _layers(self, scoped: _Scoped, now: int) -> TemporalLayers:
        view, structure, energy = scoped
        found = layers_of(self.store, view, structure.rows, energy, now)
        examples = {}
        for place, name in enumerate(LAYERS):
            (inside,) = (found == place).nonzero()
            examples[name] = self._shown(view, structure.rows[inside], structure.rank[inside], _EXAMPLES)
        counts = np.bincount(found, minlength=len(LAYERS)).tolist()
        return TemporalLayers(dict(zip(LAYERS, counts, strict=True)), examples)

    def _shown(self, view: GraphView, rows: Rows, score: Values, most: int = _SHOWN) -> tuple[KeyNode, ...]:
        scores = {view.ids[int(rows[one])]: float(score[one]) for one in _top(score, most).tolist() if score[one] > 0}
        nodes = self.store.get_nodes(list(scores), missing_ok=True)
        lines = [" ".join(plain(node.content).split()) for node in nodes]
        # Up to the end of a word.
        begins = [one if len(one) <= _CONTENT else f"{one[:_CONTENT].rsplit(' ', 1)[0]}…" for one in lines]
        return tuple(KeyNode(node.id, one, scores[node.id]) for node, one in zip(nodes, begins, strict=True))


def _communities(scoped: _Scoped, named: dict[int, _Named]) -> tuple[tuple[Community, ...], list[int]]:
    """Return the communities, the most important first, and their labels."""
    _, structure, energy = scoped
    importance, energies = (np.bincount(structure.labels, values) for values in (structure.rank, energy))
    labels = sorted(named, key=lambda label: -importance[label])
    return tuple(
        Community(
            number,
            (one := named[label]).title or one.name,
            one.keywords,
            len(one.ids),
            float(importance[label]),
            float(energies[label]),
            one.ids,
        )
        for number, label in enumerate(labels)
    ), labels


def _bridges(
    scoped: _Scoped,
    labels: Sequence[int],
    betweenness: tuple[WeightedGraph, Values] | None,
    known: dict[tuple[int, int], tuple[float, str]],
) -> tuple[tuple[Bridge, ...], dict[tuple[int, int], tuple[float, str]]]:
    """Return the heaviest links between communities, and the memories on them by labels."""
    between, bridges, bridging = scoped.structure.between, [], {}
    number = {label: place for place, label in enumerate(labels)}
    shown = np.isin(between.source, labels) & np.isin(between.target, labels)
    for link in _top(np.where(shown, between.weight, 0.0), _SHOWN).tolist():
        if not shown[link]:
            break
        pair, weight = (int(between.source[link]), int(between.target[link])), float(between.weight[link])
        before = known.get(pair)
        if before is None or abs(weight - before[0]) > _CHANGED * before[0]:
            before = weight, _heaviest(scoped, *pair)
        bridging[pair] = before
        low, high = sorted((number[pair[0]], number[pair[1]]))
        passing = None
        if betweenness is not None:
            graph, values = betweenness
            passing = float(values[(graph.source == pair[0]) & (graph.target == pair[1])][:1].sum())
        bridges.append(Bridge(low, high, weight, passing, before[1]))
    return tuple(bridges), bridging


def _heaviest(scoped: _Scoped, first: int, second: int) -> str:
    """Return the id of the memory with the most weight in links between two communities."""
    view, structure, _ = scoped
    smaller, larger = sorted((first, second), key=lambda label: structure.members[label].size)
    members, ends = (structure.rows[structure.members[label]] for label in (smaller, larger))
    arcs = view.links(members, both_ways=True)
    place = np.minimum(np.searchsorted(ends, arcs.target), ends.size - 1)
    crossing = (ends[place] == arcs.target).nonzero()[0]
    rows = np.concatenate((members[arcs.origin[crossing]], arcs.target[crossing]))
    found, code = np.unique(rows, return_inverse=True)
    return view.ids[int(found[np.bincount(code, np.tile(arcs.weight[crossing], 2)).argmax()])]


def _top(score: NDArray[np.float64], most: int) -> Rows:
    """Return the places of the highest scores, the highest first; of equal ones the first."""
    if score.size <= most:
        return np.argsort(-score, kind="stable")
    least = np.partition(score, score.size - most)[score.size - most]
    (above,) = (score > least).nonzero()
    (equal,) = (score == least).nonzero()
    return np.concatenate((above[np.argsort(-score[above], kind="stable")], equal[: most - above.size]))
