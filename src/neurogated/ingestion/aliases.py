"""Alternative names that a text gives its subject.

* an acronym: `The Society of Keepers (SK) …`;
* a name after "known as" and the like: `Ada Ruth Quill, better known as Ruthie Quill, …`;
* a nickname: `Ada "Ruthie" Quill` is Ruthie Quill;
* a person's first and last name, or the last two of three: `Ada Ruth Quill` is Ada Quill, and Ruth Quill;
* the name without a leading article or rank.
"""

from __future__ import annotations

import re

_ACRONYM = re.compile(r"\s*\((?:or |the )?(?P<name>[A-Z][A-Z0-9&.\-]{1,9})(?=[;,)])")
_NAME_WORD = r"(?:[A-Z0-9][\w.'’\-]*|of|the|de|von|van|la|le)"
_NAME = rf"[\"“'\u2018]?\s?(?P<name>{_NAME_WORD}(?:\s{_NAME_WORD}){{0,4}})"
_KNOWN_AS = re.compile(
    r"\b(?:known (?:\w+ )?as|known (?:\w+ ){1,4}by|(?:stage|ring|pen) name(?: of)?|called|nicknamed|"
    rf"abbreviated(?: as| to)?|referred to (?:\w+ )?as|credited as|or simply)\s+(?:the\s+)?{_NAME}"
)
_NICKNAME = re.compile(r"\s?[\"“]\s?(?P<name>[^\"“”]+?)\s?[\"”]\s?")
_LIFE = re.compile(r"\s*\((?:[^()]*\b(?:born|née|died|d\.|b\.|c\.)|[^()]*\d{3,4}\s*[–-])")
_RANK = re.compile(
    r"\A(?:the|an?|sir|dame|lord|lady|prince|princess|king|queen|count|countess|duke|duchess|baron|baroness|general|"
    r"admiral|colonel|major|captain|dr\.?|prof\.?|professor|pope|emperor|empress|don|doña)\s+(?=[A-Z])",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r",?\s+(?:(?:Jr|Sr)\.?|I{1,3}|IV|VI?)\Z")
_SENTENCE_END = re.compile(r"(?<=[a-z)])\.\s")
_THREE = 3


def find_aliases(name: str, text: str) -> tuple[str, ...]:
    """Return alternative names of a text's subject; `name` is its name in the first sentence."""
    at = text.find(name)
    after = text[at + len(name) :].lstrip("\"'“”*_") if at >= 0 else ""
    sentence = _SENTENCE_END.split(after, maxsplit=1)[0]
    found: list[str] = []
    if acronym := _ACRONYM.match(after):
        found.append(acronym["name"])
    found += (known["name"] for known in _KNOWN_AS.finditer(sentence))
    found += _of_person(name) if _LIFE.match(after) or _NICKNAME.search(name) else ()
    found.append(_RANK.sub("", name))
    return tuple(dict.fromkeys(one for one in found if one != name))


def _of_person(name: str) -> list[str]:
    """Return shorter names of a person: with a nickname, without middle names, and without the first name."""
    bare = _SUFFIX.sub("", _RANK.sub("", name))
    nickname = _NICKNAME.search(bare)
    words = _NICKNAME.sub(" ", bare).split()
    found = [f"{nickname['name']} {words[-1]}"] if nickname and words else []
    if len(words) < _THREE or any(word.islower() for word in words):
        return found
    found.append(f"{words[0]} {words[-1]}")
    # Many people use their second name.
    return [*found, " ".join(words[1:])] if len(words) == _THREE else found
