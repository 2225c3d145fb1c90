"""The project's texts avoid phrases that force a reader to read a sentence twice."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = (
    "src", "tests", "docs", "benchmarks", "examples", "tools", ".ci",
    "README.md", "DESIGN.md", "CLAUDE.md", "CHANGELOG.md", "Makefile", "pyproject.toml",
)  # fmt: skip
SUFFIXES = {".py", ".md", ".toml", ".yml", ".html", ".j2", ".js", ""}
MOST_LINES = 40

# These phrases count in every line.
PHRASES = {
    "whoever": r"\bwho(?:m?ever)\b",
    "whichever": r"\bwhichever\b",
    "whatever": r"\bwhatever\b",
    "anew": r"\banew\b",
    "of use": r"(?<!year )\bof (?:no )?use\b(?! (?:of|by|in)\b)",
    "come back": r"\b(?:come|comes|came|coming) back\b",
    "made up": r"\bma[dk]es? up\b",
    "by a look": r"\bby a look\b",
    "as far as": r"\bas far as\b",
    "in the place of": r"\bin the place of\b",
    "all but": r"\ball but\b",
}
ALWAYS = re.compile("|".join(PHRASES.values()), re.IGNORECASE)
# "What" counts in prose, except in questions, in code and in quoted texts.
WHAT = re.compile(r"\bwhat\b(?!')", re.IGNORECASE)
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
# A string of fewer words is a key or a cue, and no sentence.
SENTENCE_WORDS = 4
BETWEEN_STATEMENTS = {
    tokenize.ENCODING,
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
}
FSTRING_TEXT = getattr(tokenize, "FSTRING_MIDDLE", None)


def _unquoted(token: str) -> str:
    """Return a comment or the text of a literal without the texts that it quotes."""
    return QUOTED.sub("", re.sub(r"^\w*\"+|\"+$", "", token))


def _texts(source: str, *, with_strings: bool) -> Iterator[tuple[int, str]]:
    """Yield comments and docstrings with their first lines, and other sentences in strings if they are wanted."""
    depth, before = 0, tokenize.ENCODING
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        is_statement = not depth and before in BETWEEN_STATEMENTS
        before = token.type
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and is_statement):
            yield token.start[0], _unquoted(token.string)
        elif with_strings and token.type in {tokenize.STRING, FSTRING_TEXT}:
            text = re.sub(r"\{[^{}]*\}", "", _unquoted(token.string))
            if len(text.split()) >= SENTENCE_WORDS:
                yield token.start[0], text


def _prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    if name.endswith(".py"):
        for first, prose in _texts(text, with_strings=not name.startswith("tests/")):
            yield from enumerate(prose.splitlines(), first)
    else:
        yield from enumerate((QUOTED.sub("", line) for line in text.splitlines()), 1)


def hits(name: str, text: str) -> list[str]:
    """Return the lines of a file that contain a phrase."""
    lines = text.splitlines()
    found = {number for number, line in enumerate(lines, 1) if ALWAYS.search(line)}
    found |= {number for number, prose in _prose(name, text) if WHAT.search(prose) and "?" not in lines[number - 1]}
    return [f"{name}:{number}: {lines[number - 1].strip()}" for number in sorted(found)]


def _files() -> Iterator[Path]:
    for place in PLACES:
        path = ROOT / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                yield file


def test_sentences_need_no_second_reading() -> None:
    found = []
    for file in _files():
        if file != Path(__file__):
            found += hits(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    assert len(found) <= MOST_LINES, "\n" + "\n".join(found)


SAMPLES = [
    "whoever asks", "for whomever asks", "whichever is first", "Whatever it holds", "the index is made anew",
    "a file of use later", "of no use to set", "it comes back", "edges came back", "judgements made up later",
    "it makes up for them", "scored by a look", "as far as it reads", "in the place of another", "all but one",
    "what it did", "What is stored",
]  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("src/a.py", '"""Say {}."""\n'),
        ("src/a.py", "number = 1  # {} here\n"),
        ("src/a.py", 'def f(a):\n    raise ValueError(f"{{a}} says that {} is wrong")\n'),
        ("tests/test_a.py", 'def test_a():\n    """One.\n\n    Two {}.\n    """\n'),
        ("tests/test_a.py", "    # {}\n"),
        ("docs/a.md", "* **One**: {}\n"),
        ("Makefile", "# {}\n"),
    ],
)
def test_each_phrase_is_found_in_prose(sample: str, name: str, frame: str) -> None:
    (found,) = hits(name, frame.format(sample))
    assert sample in found


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_has_a_sample(phrase: str) -> None:
    assert any(re.search(PHRASES[phrase], sample, re.IGNORECASE) for sample in SAMPLES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs/a.md", "What does it cost? It costs what a write costs.\n"),
        ("docs/a.md", "The file after a year of use has 38 MB.\n"),
        ("docs/a.md", 'It answers "what is stored" and `what=1`.\n'),
        ("src/a.py", "def f(what: str) -> str:\n    return what\n"),
        ("src/a.py", 'CUES = ("what", "what kind of")\n'),
        ("src/a.py", 'def f(what: str) -> str:\n    return f"no {what} in this namespace"\n'),
        ("src/a.py", 'PROMPT = """\n- why: it asks for a cause. "why", "what caused", "what led to"\n"""\n'),
        ("src/a.py", "WORDS = \"that's there's what's he's she's\"\n"),
        ("src/a.py", '# The question "what is stored" has no cue.\n'),
        ("tests/test_a.py", 'TEXTS = [\n    "That is what he wrote about in his letter.",\n]\n'),
        ("tests/test_a.py", 'def test_a() -> None:\n    assert find("Let me know what you need.")\n'),
    ],
)
def test_questions_code_and_quoted_texts_do_not_count(name: str, text: str) -> None:
    assert hits(name, text) == []
