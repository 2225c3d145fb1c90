"""Chats of people: WhatsApp, Telegram, Slack and Discord. See docs/formats/.

Speakers have names, and no roles: nobody in a chat is the user or an assistant.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from neurogated.archive.foreign.incoming import FILES, Format, Found, Incoming, Left, Note, each_entry, read_messages
from neurogated.archive.foreign.stream import Fault, File
from neurogated.archive.foreign.values import digest, given, has_keys, mapping, moment, objects, text_of
from neurogated.text.strings import table_of

_NOTICES = "notices"

# --- WhatsApp --------------------------------------------------------------------------------------------------------
_UNSEEN = "[\u200e\u200f\u202a-\u202e\ufeff]*"
_WORDS = table_of(__package__, "whatsapp")
_MORNING, _AFTERNOON, _CLOCK = (frozenset(_WORDS[name].split()) for name in ("morning", "afternoon", "clock"))
_LINE, _NAMED, _ATTACHED, _QUOTE, _QUOTED, _NO_SIGN, _CHAT = (re.compile(one) for one in _WORDS["patterns"].values())
_EDITED = re.compile(rf"\s*(?:\u200e<[^<>\n]+>|<(?:{'|'.join(_WORDS['edited'])})\.?>)\s*$", re.IGNORECASE)
_DELETED = re.compile(rf"{_UNSEEN}(?:{'|'.join(_WORDS['deleted'])})\.?$", re.IGNORECASE)
_LAST_DAY, _NOON, _CENTURY, _WORDS_OF_NOTICE = 31, 12, 2000, 4
_FIRST, _BUDDHIST = 2009, 543
"""The first year of WhatsApp, and the years by which the Buddhist calendar is ahead."""
_ORDERS = {"day first": (2, 1, 0), "month first": (2, 0, 1), "year first": (0, 1, 2)}
"""Where year, month and day are in a date."""


class _Line(NamedTuple):
    """A message of WhatsApp with the lines that follow it."""

    number: int
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    body: str

    def time(self, order: Sequence[int]) -> datetime | None:
        """Return the time, which is local to the phone; None if there is no such day."""
        year, month, day = (self.date[place] for place in order)
        year = year + _CENTURY if year < 100 else year - _BUDDHIST if year > _FIRST + _BUDDHIST else year  # noqa: PLR2004
        try:
            # A phone may write years of another calendar, such as 1404; the program is younger.
            return datetime(year, month, day, *self.clock) if year >= _FIRST else None  # noqa: DTZ001
        except ValueError:
            return None


def _lines(file: File) -> Iterator[_Line]:
    last: _Line | None = None
    with file.text() as text:
        for number, line in enumerate(text):
            found = _LINE.match(line.rstrip("\r\n"))
            if found is None:
                last = last and last._replace(body=f"{last.body}\n{line.rstrip(chr(13) + chr(10))}")
                continue
            if last is not None:
                yield last
            a, b, c, before, hour, minute, second, half, body = found.groups()
            clock = _hour(int(hour), before, half), int(minute), int(second or 0)
            last = _Line(number, (int(a), int(b), int(c)), clock, body)
    if last is not None:
        yield last


def _hour(hour: int, *marks: str | None) -> int:
    """Return the hour of a day, given what stands beside it; -1 if that is in no language that is known."""
    named = {re.sub(r"[.\s]", "", mark).casefold() for mark in marks if mark} - _CLOCK
    if not named or hour > _NOON:
        return hour
    return hour % _NOON + _NOON * (named <= _AFTERNOON) if named <= _MORNING | _AFTERNOON else -1


def _order(file: File) -> tuple[str, bool]:
    """Return the order of day, month and year in a whole file, and whether the file shows it.

    A number above 12 is no month, and messages do not go back in time.
    """
    backwards, impossible, last = Counter[str](), Counter[str](), dict[str, datetime]()
    for line in _lines(file):
        is_year_first = line.date[0] > _LAST_DAY
        for name, order in _ORDERS.items():
            time = line.time(order)
            if time is None or (name == "year first") != is_year_first:
                impossible[name] += 1
            else:
                backwards[name] += time.date() < last.get(name, time).date()
                last[name] = time
    ranked = sorted(_ORDERS, key=lambda name: (impossible[name], backwards[name]))
    first, second = ((impossible[name], backwards[name]) for name in ranked[:2])
    return ranked[0], first != second


def _whatsapp(file: File) -> Found:
    order, is_sure = _order(file)
    if not is_sure:
        yield Note(f"{file.name} does not show whether days or months come first; its dates are read with the {order}")
    names = Counter(found[1] for line in _lines(file) if (found := _NAMED.match(line.body)))
    chat = _CHAT.match(PurePosixPath(file.name).stem)[1]  # type: ignore[index]
    repeats, session = Counter[tuple[object, ...]](), ""
    for line in _lines(file):
        place, time, found = f"{file.name}: line {line.number + 1}", line.time(_ORDERS[order]), _NAMED.match(line.body)
        # The first message names a chat whose file has no name of its own.
        session = session or f"whatsapp-{digest(time, line.body) if chat.startswith('_chat') else chat}"
        # No name may stand before a colon, as in `Bob changed the subject to "Time: 5"`, whose quote is still open.
        name = found[1] if found else ""
        is_sentence = names[name] == 1 and len(name.split()) >= _WORDS_OF_NOTICE
        after = (name.removeprefix(f"{one} ") for one in names)
        is_notice = is_sentence and any(one != name and not one[0].isupper() for one in after)
        if found is None or is_notice or _QUOTE.search(_QUOTED.sub("", name)):
            yield Left(place, _NOTICES)
            continue
        if time is None:
            why = f"{line.date} {line.clock} is no date with the {order}, or its half of the day is not known"
            yield Fault(place, why)
            continue
        words = _EDITED.sub("", found[2])
        is_file = _ATTACHED.match(words)
        said = text_of(words[is_file.end() :] if is_file else words)
        if _DELETED.match(words) or (words.startswith("\u200e") and not is_file):
            yield Left(place, "deleted messages" if _DELETED.match(words) else FILES)
            continue
        key = (time, found[1], said)
        repeats[key] += 1
        about = given(session_id=session, timestamp=time, metadata=given(conversation=chat.removeprefix("_chat")))
        yield Incoming(place, "\0".join(map(str, (*key, repeats[key]))), said, None, about, _NO_SIGN.sub("", found[1]))


WHATSAPP = Format(
    *("whatsapp", "a chat of WhatsApp"),
    sniff=lambda file: any(map(_LINE.match, file.head.decode("utf-8-sig", "replace").splitlines()[:5])),
    read_file=_whatsapp,
    wordless=FILES,
)


# --- Telegram --------------------------------------------------------------------------------------------------------
def _telegram_message(message: Mapping[str, Any], place: str, *, head: Mapping[str, Any]) -> Incoming | Left:
    if message.get("type") != "message":
        return Left(place, _NOTICES)
    poll = mapping(message.get("poll"))
    asked = [poll.get("question"), *(one.get("text") for one in objects(poll.get("answers")))]
    said = (message.get("text"), message.get("place_name"), message.get("address"), *asked)
    text = "\n".join(filter(None, map(_telegram_text, said)))
    unix = message.get("date_unixtime")
    time = moment(int(unix)) if unix else datetime.fromisoformat(message["date"])
    first, answered = message.get("forwarded_from"), message.get("reply_to_message_id")
    about = given(conversation=head.get("name"), forwarded_from=first, reply_to=answered)
    details = given(session_id=f"telegram-{head.get('id')}", timestamp=time, metadata=about)
    return Incoming(place, str(message["id"]), text, None, details, message.get("from") or None)


def _telegram_text(value: object) -> str:
    parts = value if isinstance(value, list) else [value or ""]
    return text_of("".join(str(one.get("text", "")) if isinstance(one, dict) else str(one) for one in parts))


def _is_telegram(value: Mapping[str, Any]) -> bool:
    is_chat = {"type", "id", "messages"} <= value.keys() and "schema" not in value
    is_dated = "date" in value or value.get("type") == "unsupported"
    return is_chat or ("id" in value and value.get("type") in {"message", "service", "unsupported"} and is_dated)


TELEGRAM = Format(
    *("telegram", "an export of Telegram", _is_telegram, partial(read_messages, read=_telegram_message)), wordless=FILES
)

# --- Slack -----------------------------------------------------------------------------------------------------------
_SAID = frozenset({None, "bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share"})
_SLACK_LINES = frozenset({"rich_text_section", "rich_text_quote", "rich_text_preformatted"})
_LINK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def _slack(file: File) -> Found:
    """Yield the messages of a day in a channel, whose folder has its name."""
    channel = PurePosixPath(file.name).parent.name
    listed = [one for name in ("channels.json", "users.json") for one in objects(file.beside(name)) if "id" in one]
    names = {one["id"]: _slack_name(one) for one in listed}
    yield from each_entry(file, partial(_slack_message, channel=channel, names=names))


def _slack_name(user: Mapping[str, Any]) -> str:
    profile = mapping(user.get("profile"))
    named = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next(filter(None, named), user.get("id") or "")


def _slack_texts(parts: object) -> Iterator[str]:
    """Yield the words of attachments or blocks, which are all that some programs write."""
    for part in objects(parts):
        words = part.get("text") or part.get("fallback")
        words = words.get("text") if isinstance(words, dict) else words
        inner = part.get("elements") or part.get("fields")
        if not isinstance(words, str) and part.get("type") in _SLACK_LINES:
            words = "".join(map(_slack_word, objects(inner)))
        yield from [words] if isinstance(words, str) else _slack_texts(inner)


def _slack_word(part: Mapping[str, Any]) -> str:
    """Return a part of a line of rich text, as the text of a message writes it."""
    if part.get("type") in {"user", "usergroup", "channel"}:
        return f"<{'#' if part['type'] == 'channel' else '@'}{part.get(part['type'] + '_id')}>"
    return str(part.get("text") or part.get("url") or part.get("fallback") or part.get("name") or "")


def _slack_message(
    message: Mapping[str, Any], place: str, *, channel: str, names: Mapping[str, str]
) -> Incoming | Left:
    if message.get("type") != "message" or message.get("subtype") not in _SAID:
        return Left(place, _NOTICES)

    def shown(link: re.Match[str]) -> str:
        sign, target, label = link.groups()
        if sign in {"@", "#"}:
            return f"{sign}{names.get(target) or label or target}"
        is_group = sign and not target.startswith("date^")
        return f"@{(label or target).removeprefix('@')}" if is_group else label or target

    body = message.get("text") or "\n".join(_slack_texts(message.get("attachments") or message.get("blocks")))
    text = text_of(html.unescape(_LINK.sub(shown, str(body))))
    user = message.get("user") or message.get("bot_id") or ""
    own = _slack_name({"profile": message.get("user_profile")})
    bot = mapping(message.get("bot_profile")).get("name")
    speaker = names.get(user) or own or message.get("username") or bot or user
    about = given(conversation=channel, thread=message.get("thread_ts"))
    details = given(session_id=f"slack-{channel}", timestamp=moment(float(message["ts"])), metadata=about)
    beside = message.get("attachments") if message.get("text") else None
    without = ("attachment",) * len(objects(beside)) + ("file",) * len(objects(message.get("files")))
    return Incoming(place, str(message["ts"]), text, None, details, speaker or None, without=without)


SLACK = Format(
    *("slack", "an export of Slack", lambda value: value.get("type") == "message" and "ts" in value),
    read_file=_slack,
    wordless=FILES,
)

# --- Discord ---------------------------------------------------------------------------------------------------------
_DISCORD_SAID = frozenset({"Default", "Reply"})
_REPLY = 19
"""The number of the type `Reply`. Smaller ones are notices; types that DiscordChatExporter cannot name are numbers."""


def _discord_message(message: Mapping[str, Any], place: str, *, head: Mapping[str, Any]) -> Incoming | Left:
    kind, forwarded = str(message.get("type", "Default")), mapping(message.get("forwardedMessage"))
    if kind not in _DISCORD_SAID and not (kind.isdecimal() and int(kind) >= _REPLY):
        return Left(place, _NOTICES)
    author, embedded = mapping(message.get("author")), text_of("\n".join(_embedded(message.get("embeds"))))
    said = {"message": text_of(message.get("content")), "forwarded message": text_of(forwarded.get("content"))}
    (_, text), *beside = [one for one in {**said, "embed": embedded}.items() if one[1]] or [("", "")]
    files = [one["fileName"] for one in objects(message.get("attachments")) if one.get("fileName")]
    channel, reply = mapping(head.get("channel")), mapping(message.get("reference")).get("messageId")
    about = given(conversation=channel.get("name"), attachments=files, reply_to=reply)
    about |= given(forwarded_from_time=forwarded.get("timestamp"))
    details = given(session_id=f"discord-{channel.get('id')}", timestamp=moment(message["timestamp"]), metadata=about)
    speaker, without = author.get("nickname") or author.get("name"), tuple(name for name, _ in beside)
    return Incoming(place, message["id"], text, None, details, speaker or None, without=without)


def _embedded(embeds: object) -> Iterator[str]:
    """Yield the words of embeds, which are all that some bots write."""
    for one in objects(embeds):
        yield from filter(None, (text_of(one.get(name)) for name in ("title", "description")))
        yield from (f"{field.get('name')}: {field.get('value')}" for field in objects(one.get("fields")))


DISCORD = Format(
    *("discord", "a channel of Discord", has_keys("guild channel messages", "id timestamp author content")),
    partial(read_messages, read=_discord_message),
    wordless=FILES,
)
