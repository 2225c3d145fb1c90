"""HippoRAG's data formats: a corpus of passages, and questions that name the passages which answer them.

A question names its gold passages in one of three ways, as HippoRAG reads them: `supporting_facts` over `context`
(HotpotQA, 2WikiMultiHopQA), `contexts`, or `paragraphs` (MuSiQue and HippoRAG's sample).
"""

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from neurogated.errors import DatasetError, InputError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Dataset, Question, passage_of
from neurogated.evaluation.json_records import (
    Record,
    kind_of,
    read_json,
    read_records,
    records_of,
    refuse_repeated,
    text_of,
)
from neurogated.ingestion.document import Document

_GOLD_FIELDS = ("supporting_facts", "contexts", "paragraphs")
_TEXT_FIELDS = ("text", "paragraph_text")
_ID_FIELDS = ("id", "_id")
_ANSWER_FIELDS = (("answer",), ("gold_ans",), ("reference",), ("obj", "possible_answers", "o_wiki_title", "o_aliases"))
"""Groups of fields; the first group that a question has holds its answers. The last is PopQA's."""
_ALIASES_FIELD = "answer_aliases"
_NO_NAMES = ", or leave out all of them, so that entries are named by their position from 0"
_BEGINNING = 60
"""Characters of a passage that an error quotes."""


class _Row(NamedTuple):
    """A row of a corpus, or a gold passage as its question gives it; what that leaves out is empty or None."""

    idx: int | None
    """Its name in rankings."""
    title: str
    text: str
    where: str
    """File, entry and field, and the question of a gold passage, for errors."""

    @property
    def content(self) -> str:
        """Title and text as one string, since a title may also stand as the first line of the text."""
        return _squeezed(self.title + self.text)


class _Corpus:
    """The rows of a corpus, found by number, title and text.

    Matching ignores white space, since files join the sentences of a passage in different ways.
    """

    def __init__(self, name: str, rows: Sequence[_Row]) -> None:
        self._name = name
        self._by: dict[tuple[str, object], list[_Row]] = defaultdict(list)
        for row in rows:
            keys = {"idx": row.idx, "content": row.content, "text": _squeezed(row.text), "title": _squeezed(row.title)}
            for key in keys.items():
                self._by[key].append(row)

    def copies(self, row: _Row) -> list[int | None]:
        """Return the numbers of all rows with the title and text of `row`, itself included, in the file's order."""
        return [copy.idx for copy in self._by["content", row.content]]

    def find(self, passage: _Row) -> int | None:
        """Return the number of the row that matches a gold passage.

        If several copies match, it is the one that the question numbers, or else the first.

        Raises:
            DatasetError: no row matches, or several different rows do.
        """
        title = _squeezed(passage.title)
        if passage.text:
            # If one side has no title, the text decides; different titles are different passages.
            alike = (row for row in self._by.get(("text", _squeezed(passage.text)), ()) if not (row.title and title))
            found = self._by.get(("content", passage.content)) or list(alike)
        else:
            numbered = self._by.get(("idx", passage.idx), ())
            found = [row for row in numbered if len({title, _squeezed(row.title)} - {""}) <= 1]
            found = found or (self._by.get(("title", title), []) if title else [])
        parts = passage.title, textwrap.shorten(passage.text, _BEGINNING, placeholder=" …")
        number = [] if passage.idx is None else [f"idx {passage.idx}"]
        told = ", ".join([*map(repr, filter(None, parts)), *number])
        if not found:
            raise DatasetError(
                f"{passage.where}: the gold passage {told} is not in {self._name}; "
                "add it there, or give it the title and text that it has there"
            )
        chosen = next((row for row in found if row.idx == passage.idx), None)
        if chosen is None and len({row.content for row in found}) > 1:
            raise DatasetError(
                f"{passage.where}: the gold passage {told} could be any of the rows "
                f"{', '.join(str(row.idx) for row in found)} of {self._name}; give its title and text"
            )
        return (chosen or found[0]).idx


def _squeezed(text: str) -> str:
    return "".join(text.split())


def load_hipporag(name: str, folder: Path) -> Dataset:
    """Read `<name>_corpus.json` and `<name>.json`; find gold passages in the corpus by title and text."""
    corpus_path, path = folder / f"{name}_corpus.json", folder / f"{name}.json"
    values = read_json(corpus_path)
    if isinstance(values, dict):
        # Titles with their sentences.
        entries = [
            Record({"title": title, "text": text}, f"{corpus_path}, entry {title!r}") for title, text in values.items()
        ]
    else:
        entries = records_of(values, corpus_path)
    read = [
        _Row(
            record.get("idx", int, default=place),
            record.get("title", str, default=""),
            record.joined(_text_field(record) or _TEXT_FIELDS[0]),
            record.where,
        )
        for place, record in enumerate(entries)
    ]
    rows = [row for row in read if row.text.strip()]
    refuse_repeated((row.idx for row in rows), corpus_path, "idx", _NO_NAMES)
    corpus = _Corpus(corpus_path.name, rows)
    documents = {document.document_id: document for document in _documents(corpus, rows)}
    records = read_records(path)
    about = [_asked(record, place) for place, record in enumerate(records)]
    # No question has gold passages if none of the file names any.
    has_gold = any(record.has(field) for record in records for field in _GOLD_FIELDS)
    passages = [
        list(_gold_passages_of(record, f"(question {question_id!r})")) if has_gold else []
        for record, (question_id, *_) in zip(records, about, strict=True)
    ]
    refuse_repeated((question_id for question_id, *_ in about), path, "id", _NO_NAMES)
    found = [[corpus.find(passage) for passage in part] for part in passages]
    asked = [
        Question(question_id, text, frozenset(gold), kind, answers)
        for (question_id, text, kind, answers), gold in zip(about, found, strict=True)
    ]
    notes = {f"{corpus_path.name}: rows without a text, which are left out": (len(read) - len(rows), "")}
    numbers = [pair for part, golds in zip(passages, found, strict=True) for pair in zip(part, golds, strict=True)]
    wrong = sum(passage.idx not in {None, row} for passage, row in numbers)
    meant = f" of {len(numbers)}; title and text decide which passage is meant"
    notes[f"{path.name}: gold passages whose idx is not that of the corpus"] = wrong, meant
    silent = sum(not golds for golds in found)
    notes[f"{path.name}: questions without a gold passage, which recall leaves out"] = silent, f" of {len(found)}"
    told = tuple(f"{note}: {count}{rest}" for note, (count, rest) in notes.items() if count)
    return Dataset(name, (Collection(None, tuple(documents.values()), tuple(asked)),), told)


def _text_field(record: Record) -> str | None:
    return next(filter(record.has, _TEXT_FIELDS), None)


def _documents(corpus: _Corpus, rows: Sequence[_Row]) -> Iterator[Document]:
    """Yield a document for each run of consecutive rows with the same title: they are parts of one text, in order.

    Each row without a title is a document. A passage lists all rows that are copies of it, so a memory of one copy
    counts as a memory of all.
    """
    for (title, _), run in groupby(rows, key=lambda row: (row.title, None if row.title else row.idx)):
        part = list(run)
        passages = [passage_of(row.text, {SOURCES_KEY: corpus.copies(row)}, row.where) for row in part]
        try:
            yield Document(tuple(passages), title or None)
        except InputError as error:
            raise DatasetError(f"{part[0].where}: {error}") from None


def _asked(record: Record, position: int) -> tuple[str | int, str, str, tuple[str, ...]]:
    """Return the id of a question, or else its position in the file; its text, its kind, and all right answers."""
    field = next(filter(record.has, _ID_FIELDS), None)
    named: str | int = position if field is None else record.get(field, (str, int))
    group = next((fields for fields in _ANSWER_FIELDS if record.has(fields[0])), ())
    answers: list[str] = []
    for one in filter(record.has, (*group, _ALIASES_FIELD)):
        value = record.get(one, (list, str))
        if isinstance(value, str):
            answers += _listed(value)
        else:
            items = record.items(one)
            answers += [str(item) if type(item) in {int, float} else text_of(item, where) for item, where in items]
    kind = record.value.get("kind") or record.value.get("type") or "all"
    return named, record.question(), str(kind), tuple(dict.fromkeys(filter(str.strip, answers)))


def _listed(text: str) -> list[str]:
    """Return the items of a list that is written as text, as PopQA writes lists, or else the text itself."""
    try:
        return list(map(str, json.loads(text))) if text.startswith("[") else [text]
    except (ValueError, RecursionError):
        return [text]


def _gold_passages_of(record: Record, question: str) -> Iterator[_Row]:
    if record.has("supporting_facts"):
        facts = {_pair(value, where)[0]: where for value, where in record.items("supporting_facts")}
        items = list(record.items("context")) if record.has("context") else []
        context = [Record(dict(zip(("title", "text"), _pair(*item), strict=True)), item[1]) for item in items]
        for one in context:
            if one.value["title"] in facts:
                yield _gold_passage(one, question)
        for title in facts.keys() - {one.value["title"] for one in context}:
            yield _Row(None, title, "", f"{facts[title]} {question}")
        return
    # HippoRAG counts a paragraph without `is_supporting` as gold.
    field, usual = ("contexts", None) if record.has("contexts") else ("paragraphs", True)
    for paragraph in record.records(field):
        if paragraph.get("is_supporting", bool, default=usual):
            yield _gold_passage(paragraph, question)


def _gold_passage(record: Record, question: str) -> _Row:
    field = _text_field(record)
    text = "" if field is None else record.joined(field).strip()
    title, where = record.get("title", str, default="").strip(), f"{record.where} {question}"
    passage = _Row(record.optional("idx", int), title, text, where)
    if passage[:3] == (None, "", ""):
        raise DatasetError(f"{where} lacks the fields 'title', 'text' and 'idx', so no passage can be found")
    return passage


def _pair(value: Any, where: str) -> tuple[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair
        raise DatasetError(f"{where} is {kind_of(value)}, but must be a list of two: a title and its sentences")
    return text_of(value[0], f"{where}, the title"), value[1]
