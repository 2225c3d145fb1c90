"""HippoRAG's data formats: a corpus of passages, and questions that name the passages which answer them.

A question names its gold passages in one of three ways, as HippoRAG reads them: `supporting_facts` over `context`
(HotpotQA, 2WikiMultiHopQA), `contexts`, or `paragraphs` (MuSiQue and HippoRAG's sample).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from neurogated.errors import DatasetError, InputError
from neurogated.evaluation.gold import SOURCES_KEY, Collection, Corpus, Dataset, GoldPassage, Question, Row, passage_of
from neurogated.evaluation.json_records import Record, kind_of, read_json, read_records, records_of, text_of
from neurogated.ingestion.document import Document

_GOLD_FIELDS = ("supporting_facts", "contexts", "paragraphs")
_TEXT_FIELDS = ("text", "paragraph_text")
_ID_FIELDS = ("id", "_id")
_ANSWER_FIELDS = (("answer",), ("gold_ans",), ("reference",), ("obj", "possible_answers", "o_wiki_title", "o_aliases"))
"""Groups of fields; the first group that a question has holds its answers. The last is PopQA's."""
_ALIASES_FIELD = "answer_aliases"


def load_hipporag(name: str, folder: Path) -> Dataset:
    """Read `<name>_corpus.json` and `<name>.json`; find gold passages in the corpus by title and text."""
    corpus_path, path = folder / f"{name}_corpus.json", folder / f"{name}.json"
    entries = _corpus_entries(corpus_path)
    read = [(_row(record, place), record) for place, record in enumerate(entries)]
    rows, entries = [row for row, _ in read if row.text.strip()], [record for row, record in read if row.text.strip()]
    blank = len(read) - len(rows)
    _refuse_repeated([row.idx for row in rows], "idx", corpus_path)
    corpus = Corpus(corpus_path.name, rows)
    documents = {document.document_id: document for document in _documents(corpus, rows, entries)}
    records = read_records(path)
    questions = [_question(record, place) for place, record in enumerate(records)]
    # No question has gold passages if none of the file names any.
    has_gold = any(record.has(field) for record in records for field in _GOLD_FIELDS)
    passages = [
        list(_gold_passages_of(record, f"(question {question.id!r})")) if has_gold else []
        for record, question in zip(records, questions, strict=True)
    ]
    _refuse_repeated([question.id for question in questions], "id", path)
    found = [[corpus.find(passage) for passage in part] for part in passages]
    asked = tuple(replace(question, gold=frozenset(gold)) for question, gold in zip(questions, found, strict=True))
    notes = [f"{corpus_path.name}: rows without a text, which are left out: {blank}"] if blank else []
    notes += _notes(path.name, passages, found)
    return Dataset(name, (Collection(None, tuple(documents.values()), asked),), tuple(notes))


def _refuse_repeated(names: Sequence[str | int], field: str, path: Path) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise DatasetError(
                f"{path}: {field} {name!r} occurs {times} times; make them differ, or leave out every {field}, "
                "so that entries are named by their position from 0"
            )


# The corpus


def _corpus_entries(path: Path) -> list[Record]:
    """Return the rows of a corpus; the file may also be an object that maps titles to sentences."""
    values = read_json(path)
    if isinstance(values, dict):
        return [Record({"title": title, "text": text}, f"{path}, entry {title!r}") for title, text in values.items()]
    return records_of(values, path)


def _row(record: Record, position: int) -> Row:
    text_field = _text_field(record) or _TEXT_FIELDS[0]
    idx = record.get("idx", int, default=position)
    return Row(idx, record.get("title", str, default=""), record.joined(text_field))


def _text_field(record: Record) -> str | None:
    return next(filter(record.has, _TEXT_FIELDS), None)


def _documents(corpus: Corpus, rows: Sequence[Row], entries: Sequence[Record]) -> Iterator[Document]:
    """Yield a document for each run of consecutive rows with the same title: they are parts of one text, in order.

    Each row without a title is a document. A passage lists all rows that are copies of it, so a memory of one copy
    counts as a memory of all.
    """
    pairs = zip(rows, entries, strict=True)
    for (title, _), run in groupby(pairs, key=lambda pair: (pair[0].title, None if pair[0].title else pair[0].idx)):
        part = list(run)
        passages = [passage_of(row.text, {SOURCES_KEY: corpus.copies(row)}, record.where) for row, record in part]
        try:
            yield Document(tuple(passages), title or None)
        except InputError as error:
            raise DatasetError(f"{part[0][1].where}: {error}") from None


# Questions


def _question(record: Record, position: int) -> Question:
    """Return a question without its gold passages, which are found later."""
    kind = record.value.get("kind") or record.value.get("type") or "all"
    answers = tuple(dict.fromkeys(_answers(record)))
    return Question(_id(record, position), record.question(), frozenset(), str(kind), answers)


def _id(record: Record, position: int) -> str | int:
    """Return the id of the question, or else its position in the file."""
    field = next(filter(record.has, _ID_FIELDS), None)
    named: str | int = position if field is None else record.get(field, (str, int))
    return named


def _answers(record: Record) -> Iterator[str]:
    """Yield all right answers except blank ones."""
    group = next((fields for fields in _ANSWER_FIELDS if record.has(fields[0])), ())
    for field in filter(record.has, (*group, _ALIASES_FIELD)):
        value = record.get(field, (list, str))
        answers = _listed(value) if isinstance(value, str) else [_answer(*item) for item in record.items(field)]
        yield from filter(str.strip, answers)


def _answer(value: Any, where: str) -> str:  # noqa: ANN401 - JSON
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else text_of(value, where)


def _listed(text: str) -> list[str]:
    """Return the items of a list that is written as text, as PopQA writes lists, or else the text itself."""
    if not text.startswith("["):
        return [text]
    try:
        return list(map(str, json.loads(text)))
    except (ValueError, RecursionError):
        return [text]


# Gold passages


def _gold_passages_of(record: Record, question: str) -> Iterator[GoldPassage]:
    if record.has("supporting_facts"):
        facts = {_pair(value, where)[0]: where for value, where in record.items("supporting_facts")}
        context = (
            [(*_pair(value, where), where) for value, where in record.items("context")] if record.has("context") else []
        )
        for title, sentences, where in context:
            if title in facts:
                yield _gold_passage(Record({"title": title, "text": sentences}, where), question)
        for title in facts.keys() - {title for title, _, _ in context}:
            yield GoldPassage(f"{facts[title]} {question}", title)
    elif record.has("contexts"):
        for paragraph in record.records("contexts"):
            if paragraph.get("is_supporting", bool):
                yield _gold_passage(paragraph, question)
    else:
        for paragraph in record.records("paragraphs"):
            # HippoRAG counts a paragraph without `is_supporting` as gold.
            if paragraph.get("is_supporting", bool, default=True):
                yield _gold_passage(paragraph, question)


def _gold_passage(record: Record, question: str) -> GoldPassage:
    field = _text_field(record)
    passage = GoldPassage(
        where=f"{record.where} {question}",
        title=record.get("title", str, default="").strip(),
        text="" if field is None else record.joined(field).strip(),
        idx=record.optional("idx", int),
    )
    if not passage.title and not passage.text and passage.idx is None:
        raise DatasetError(f"{passage.where} lacks the fields 'title', 'text' and 'idx', so no passage can be found")
    return passage


def _pair(value: Any, where: str) -> tuple[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a pair
        raise DatasetError(f"{where} is {kind_of(value)}, but must be a list of two: a title and its sentences")
    return text_of(value[0], f"{where}, the title"), value[1]


def _notes(file: str, passages: Sequence[Sequence[GoldPassage]], found: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield a note about numbers that differ from the corpus, and one about questions without gold passages."""
    numbers = [pair for part, rows in zip(passages, found, strict=True) for pair in zip(part, rows, strict=True)]
    wrong = sum(passage.idx not in {None, row} for passage, row in numbers)
    if wrong:
        yield (
            f"{file}: gold passages whose idx is not that of the corpus: {wrong} of {len(numbers)}; "
            "title and text decide which passage is meant"
        )
    silent = sum(not rows for rows in found)
    if silent:
        yield f"{file}: questions without a gold passage, which recall leaves out: {silent} of {len(found)}"
