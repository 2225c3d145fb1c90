"""Finds time expressions without a model, in English, Chinese, German, French and Spanish."""

from __future__ import annotations

import re

from neurogated.text.foreign_times import TIMES
from neurogated.text.language import language_of

__all__ = ["find_times"]

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_UNIT = "(?:second|minute|hour|day|night|week|weekend|fortnight|month|season|year|decade|century|centurie)s?"
_PART = "morning|afternoon|evening|night|noon|midnight|dawn|dusk|spring|summer|autumn|fall|winter|weekend"
_NUMBER = r"\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|couple of|several|many|some"
_ENGLISH = re.compile(
    rf"""\b(?=\w)(?:
        \d{{4}}-\d\d(?:-\d\d (?:t\d\d:\d\d(?: :\d\d)?)?)? | (?:1[0-9]|20)\d\d s? | \d\d?/\d\d?/\d{{2,4}}
      | \d\d?:\d\d (?:\s?[ap]\.?m\b)? | \d\d?\s?[ap]m
      | (?:\d\d? (?:st|nd|rd|th)? \s (?:of\s)?)? (?:{_MONTH}) (?:\s \d\d? (?:st|nd|rd|th)?)? (?:,? \s \d{{4}})
      | \d\d? (?:st|nd|rd|th)? \s (?:of\s)? (?:{_MONTH}) | (?:{_MONTH}) \s \d\d? (?:st|nd|rd|th)?
      | (?:in|since|by|until|till|last|next|this|early|late|mid|every|each|of|during) \s (?:{_MONTH})
      | (?:(?:last|next|this|past|coming|previous|following|every|each|on) \s)? {_DAY}
      | (?:last|next|this|past|coming|previous|following|the\sother|every|each) \s
        (?:(?:{_NUMBER}) \s)? (?:{_UNIT}|{_PART})
      | (?:{_NUMBER}) \s {_UNIT} (?:\s (?:ago|later|before|after|earlier|from\snow|back))?
      | (?:yesterday|today|tonight|tomorrow|nowadays|recently|lately|soon|ago|earlier|later|just\snow)
      | the \s (?:day|week|night) \s (?:before|after)
    )\b""",
    re.VERBOSE,
)
_ENGLISH_IN_ANY_CASE = re.compile(_ENGLISH.pattern, _ENGLISH.flags | re.IGNORECASE)
# Letters that match i or s under IGNORECASE, but whose lower case is not that letter.
_ODD_CASE = re.compile("[\u0130\u0131\u017f]")
_DIGIT = "[0-9\u3007零一二两兩三四五六七八九十百千几幾数數]"
_HAN = re.compile("[\u3007\u3400-\u9fff]")
_CHINESE = re.compile(
    # Start at the first digit only; otherwise the regex would scan a long number from each of its digits.
    rf"(?<!{_DIGIT}){_DIGIT}+(?:年|月|日|号|號|点|點|时|時|个?小时|個?小時|分钟|分鐘|天|周|週|星期|个月|個月|世纪|世紀|年代)(?:前|后|後)?"
    r"|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天末]"
    r"|(?:上|下|这|這|本|前|去|今|明|后|後|昨)(?:个|個)?(?:年|月|周|週|星期|天|晚|夜|日)"
    r"|(?:春|夏|秋|冬)(?:天|季)|早上|上午|中午|下午|傍晚|晚上|凌晨|半夜|刚才|剛才|最近|不久|当时|當時|后来|後來|从前|從前|以前|之前|之后|之後"
)


def find_times(text: str) -> tuple[str, ...]:
    """Return the time expressions as written, without duplicates, in order of appearance.

    They are dates, hours, spans ("two weeks ago"), days and months, and words such as "yesterday" and "去年".
    """
    if (foreign := TIMES.get(language_of(text))) is not None:
        return tuple(dict.fromkeys(match[0].strip() for match in foreign.finditer(text)))
    # Matching lower-case text takes a fraction of the time of IGNORECASE.
    english = _ENGLISH_IN_ANY_CASE.finditer(text) if _ODD_CASE.search(text) else _ENGLISH.finditer(text.lower())
    chinese = _CHINESE.finditer(text) if _HAN.search(text) else ()
    spans = [match.span() for match in (*english, *chinese)]
    return tuple(dict.fromkeys(text[begin:end].strip() for begin, end in spans))
