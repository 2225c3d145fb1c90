"""Titles of texts: the one in a header or heading, else the subject of the first sentence; and other names for it.

The title is a pure function of the text. These are tried in order:

    header      `Title: …`, or `Subject: …` among the headers of a mail, in several languages, or front matter
    heading     a Markdown heading, or a short first line that is not a sentence and has a text below it
    subject     the name at the beginning of the first sentence, by the words before its verb

In English, the words of a subject must be written as a name, or a definition must follow. In other languages, a
definition must follow, because capitals are weak evidence there: German capitalises every noun. Chinese has no
capitals, so the subject is the text before 是 in a definition.

Other names are an acronym in brackets, a name after "known as" and the like, a nickname in quotation marks, shorter
names of a person, and the name without a leading article or rank.
"""

import re

from neurogated.text.keywords import FUNCTION_WORDS, language_of, words_of
from neurogated.text.names import names_in
from neurogated.text.sentences import split_sentences

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


_QUOTE = '"'
_OPENING = "\"'“”«»\u2018’„*_ \t"
_DEFINITIONS = (
    r"(?:is|was|are|were)\s+(?:an?|the|one)",
    r"(?:ist|war|sind|waren)\s+(?:der|die|das|den|ein|eine|einer|eines)",
    r"(?:est|était|sont|étaient|fut)\s+(?:une?|l[ea]s?|des|l['’])",
    r"(?:es|son|fue|era|fueron|eran)\s+(?:una?|unos|unas|el|la|los|las)",
    r"(?:è|sono|fu|era|erano)\s+(?:una?|uno|il|lo|la|i|gli|le|l['’]|un['’])",
    r"(?:é|são|foi|era|eram)\s+(?:uma?|uns|umas|o|a|os|as)",
    r"(?:is|was|zijn|waren)\s+(?:een|de|het)",
)
_DEFINED = re.compile(rf"\s(?:{'|'.join(_DEFINITIONS)})\b")
_ENGLISH_VERB = re.compile(r"\s(?:is|was|are|were)\b")
_BRACKET = re.compile("\\s*[(\uff08]")
_QUOTED = re.compile('["“«„](?P<name>[^"”“»\n]{2,80})["”“»]')
_COMMA = re.compile(r",\s")
# A sentence with another first character is a list item, a quotation, or code.
_BEGINS = re.compile(f"[{re.escape(_OPENING)}《「『]*\\w")
# "Using Quill's method …"
_CLAUSE = re.compile(r"[a-z]ing\Z")
_WORD = re.compile(r"[^\s\-–/]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HAN_DEFINITION = re.compile(
    '[《「『“"]?(?P<name>[^\\s，。、；：！？\uff08(《》「」『』“”"]{2,12}?)[》」』”"]?(?:[\uff08(][^\uff08\uff09()]*[\uff09)])?[，,]?'
    "(?:是|为|為)(?:一|位于|位於|指|由|[^\\s，。！？]{1,12}的)"
)
_HAN_NO_SUBJECT = re.compile(
    r"[这這那此其谁誰哪]|为什么|為什麼|可能|如果|因为|因為|.*[我你您他她它]|.*[的了吗嗎呢吧]|.*(?:不|就|都|也|还|還|只)\Z"
)
_ARTICLES = re.compile(r"(?:the|an?|der|die|das|le|la|les|el|los|las|il|lo|gli|het|de|een)\s+", re.IGNORECASE)
_MOST_SUBJECT_WORDS = 9
_MOST_TERM_WORDS = 3


# Lower-case words in names.
_SMALL = words_of(
    """of the a an and or in on to for by at from with as & de la le les du des del della di da das do dos el los las y
    e et und der die den dem zu zur zum von vom van het een à il lo i gli ap ab bin ibn bint al abu ben ter ten"""
)
# First words of sentences that are not names.
_NO_SUBJECTS = frozenset[str]().union(*FUNCTION_WORDS.values()) - words_of("the an la le les el los las") | words_of(
    """some all both each every any while although before after since yet please thanks hello hi hey yes ok okay sure
    also maybe let lets today tomorrow yesterday now bitte danke hallo ja nein ça"""
)


def first_subject(text: str) -> str | None:
    """Return the subject of a text's first sentence, None if it has no name."""
    sentence = next((one.strip() for one in split_sentences(text) if one.strip()), "")
    if not _BEGINS.match(sentence):
        return None
    if _HAN.search(sentence):
        found = _HAN_DEFINITION.match(sentence)
        return None if found is None or _HAN_NO_SUBJECT.match(found["name"]) else found["name"]
    if language_of(sentence) == "en":
        return _before_verb(sentence) or _opening_name(sentence)
    return _defined_elsewhere(sentence, text)


def _before_verb(sentence: str) -> str | None:
    defined = _DEFINED.search(sentence)
    verb = defined or _ENGLISH_VERB.search(sentence)
    head, mark = _head(sentence, verb)
    words = _WORD.findall(head)
    if not _may_be_subject(words) or "\n" in head:
        return None
    if mark == _QUOTE or _is_title(words):
        # A capitalised first word may be an adverb ("Clearly, …") or begin a clause ("When PAM is used …").
        if mark == "," and len(words) == 1 and not (defined and head in names_in(sentence)):
            return None
        begins = defined or _plain(words[0]) not in _NO_SUBJECTS
        return head if begins and (defined or names_in(f"It is {head}.")) else None
    article = _ARTICLES.match(head)
    # The subject of a definition may consist of common words: "A breed group is a …".
    is_term = defined is not None and mark != "," and _is_term(words[1:] if article else words)
    return head[article.end() if article else 0 :] if is_term else None


def _defined_elsewhere(sentence: str, text: str) -> str | None:
    defined = _DEFINED.search(sentence)
    if defined is None:
        return None
    head, _ = _head(sentence, defined)
    words = _WORD.findall(head)
    if not _may_be_subject(words) or not _is_title(words) or "\n" in head:
        return None
    article = _ARTICLES.match(head)
    name = head[article.end() :] if article else head
    # A single word without an article may be an adverb: "Manchmal ist die …".
    # It is no name unless the text has it in the same spelling inside a sentence.
    return name if article or len(words) > 1 or (re.search(rf"[\w,;]\s{re.escape(name)}\b", text) is not None) else None


def _head(sentence: str, verb: re.Match[str] | None) -> tuple[str, str]:
    """Return the text before the verb, or before an earlier bracket or comma; and that mark, if any.

    If the sentence begins with a quotation, return the quoted text and a quotation mark.
    """
    if quoted := _QUOTED.match(sentence):
        return quoted["name"].strip(), _QUOTE
    end = verb.start() if verb else len(sentence)
    bracket = _BRACKET.search(sentence, 0, end)
    comma = _COMMA.search(sentence, 0, end) if verb else None
    first = min((found for found in (bracket, comma) if found), key=re.Match.start, default=None)
    if first is None and verb is None:
        return "", ""
    head = sentence[: first.start() if first else end].strip(_OPENING)
    return head, "" if first is None else first[0].strip()


def _may_be_subject(words: list[str]) -> bool:
    return 0 < len(words) <= _MOST_SUBJECT_WORDS and not all(_plain(word) in _NO_SUBJECTS | _SMALL for word in words)


def _plain(word: str) -> str:
    return word.casefold().strip("'’.,:;!?\"“”")


def _is_title(words: list[str]) -> bool:
    if _plain(words[-1]) in _SMALL or words[0][0].islower():
        return False
    return all(word in _SMALL or not word[0].islower() for word in words[1:])


def _is_term(words: list[str]) -> bool:
    """Return whether words are a short term without function words and without a participle at the beginning."""
    if not 1 < len(words) <= _MOST_TERM_WORDS or _CLAUSE.search(words[0]):
        return False
    return not any(_plain(word) in _NO_SUBJECTS | _SMALL for word in words)


def _opening_name(sentence: str) -> str | None:
    """Return a name of several words at the beginning of an English sentence, before another word."""
    name = next(iter(names_in(sentence)), "")
    before, _, rest = sentence.partition(name) if name else ("", "", "")
    begins = not before.strip(_OPENING) or _ARTICLES.fullmatch(f"{before.strip(_OPENING)} ")
    first, *others = name.split() or [""]
    is_name = others and not _CLAUSE.search(first) and _plain(first) not in _NO_SUBJECTS
    return name if begins and is_name and re.match(r" \w", rest) else None


_HEADER = re.compile(r"(?P<key>[^\W\d_][\w \-]{0,20}?)[ \t]*[:：][ \t]*(?P<value>.*)")
_TITLE_KEYS = words_of(
    """title subject titel betreff thema titre objet sujet título titulo asunto assunto titolo oggetto onderwerp tytuł
    temat rubrik ämne emne 标题 標題 主题 主題 题目 題目 件名 タイトル 제목"""
)
_ANSWERED = re.compile(r"(?:(?:re|fwd?|aw|wg|tr|rv|sv|vs|回复|答复|转发)\s*(?:\[\d+\])?\s*[:：]\s*)+", re.IGNORECASE)
_MARKDOWN = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*")
_BOLD = re.compile(r"(?P<fence>\*\*|__)(?P<title>[^*_]+)(?P=fence)[ \t]*:?")
_UNDERLINE = re.compile(r"[ \t]*(?:={3,}|-{3,}|~{3,})[ \t]*")
_FENCE = "---"
# Beginnings of list items, quotations, tables and code.
_NO_HEADING = re.compile(r"[\-*+•>|`{}<\[(\\/$@=~]|\d+[.)]\s|https?:|\w+[ \t]*[:：](?:\s|$)")
_SENTENCE_ENDS = ".!?…。！？:：,，;；、"
# A full stop that ends a name and not a sentence.
_ABBREVIATION = re.compile(r"(?:\b[^\W\d_]|\b(?:Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|St|Dr|No|Vol|etc))\.\Z")

_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_HEADING = 100
_LONGEST_HAN_HEADING = 40
_MOST_WORDS = 14
_BEGINNING = 4_000
"""Characters of a text that are read for its title and names."""


def find_title(text: str) -> str | None:
    """Return the title in a text, None if it has none."""
    lines = text[:_BEGINNING].lstrip("\ufeff\n\r\t ").splitlines()
    if not lines:
        return None
    return _header(lines) or _heading(lines) or first_subject(text)


def find_names(text: str) -> tuple[str, ...]:
    """Return the title in a text, and the alternative names that the text gives for it."""
    text = text[:_BEGINNING]
    title = find_title(text)
    return () if title is None else (title, *find_aliases(title, text))


def _header(lines: list[str]) -> str | None:
    fenced = lines[0].strip() == _FENCE
    for place, line in enumerate(lines[fenced:]):
        found = _HEADER.fullmatch(line.strip())
        if found is None:
            return None
        if found["key"].casefold() in _TITLE_KEYS:
            title = _ANSWERED.sub("", found["value"]).strip(" \t\"'“”«»")
            has_text = any(rest.strip() for rest in lines[fenced + place + 1 :])
            return title if has_text and _LETTER.search(title) and _fits(title) else None
    return None


def _heading(lines: list[str]) -> str | None:
    first, rest = lines[0].strip(), lines[1:]
    text = [line for line in rest if line.strip() and not _UNDERLINE.fullmatch(line)]
    if not text:
        return None
    marked = _MARKDOWN.fullmatch(first) or _BOLD.fullmatch(first)
    if marked is not None:
        title = marked["title"].strip(" \t*_`:")
        return title if _LETTER.search(title) and _fits(title) else None
    underlined = bool(rest) and _UNDERLINE.fullmatch(rest[0]) is not None
    return first if _is_heading(first) and (underlined or _heads(first, rest)) else None


def _is_heading(line: str) -> bool:
    """Return whether a line without markup looks like a heading and not like a sentence."""
    if not _LETTER.search(line) or _NO_HEADING.match(line) or not _fits(line) or line[0].islower():
        return False
    return line[-1] not in _SENTENCE_ENDS or _ABBREVIATION.search(line) is not None


def _heads(line: str, rest: list[str]) -> bool:
    """Return whether a text follows a line: after a blank line, or as a longer line that begins a sentence."""
    following = next(filter(str.strip, rest)).strip()
    if not rest[0].strip():
        return True
    return len(following) > len(line) and not following[0].islower()


def _fits(title: str) -> bool:
    if _HAN.search(title):
        return len(title) <= _LONGEST_HAN_HEADING
    return len(title) <= _LONGEST_HEADING and len(title.split()) <= _MOST_WORDS
