"""Logs of assistants and chats of people."""

from __future__ import annotations

from tests.archive.foreign.shapes.shape import Said, Shape

_T1 = "2026-01-01T00:00:00+00:00"
# --- Logs of assistants ----------------------------------------------------------------------------------------------


def _activity(title: str, time: str, answer: str | None = None, **more: object) -> dict[str, object]:
    html = {"safeHtmlItem": [{"html": answer}]} if answer else {}
    return {"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"], **html, **more}


GEMINI = {
    "activities from the newest to the oldest": Shape(
        "gemini",
        {
            "MyActivity.json": [
                _activity("Used an Assistant feature", "2026-07-26T07:00:00.000Z"),
                _activity(
                    "Prompted And at noon?\u00a0Attached 1 file.",
                    "2026-07-26T06:08:00.000Z",
                    "<p>Tea &amp; <b>toast</b>.</p><ul><li>Rooibos</li></ul>",
                    attachedFiles=[{"name": "menu.png"}],
                ),
                _activity(
                    "Eingegebener Prompt: Hallo", "2026-07-25T06:08:00.000Z", "<p>Hallo!</p>", header="App Gemini"
                ),
                {"header": "Search", "title": "Searched for tea", "time": _T1, "products": ["Search"]},
            ]
        },
        [
            ("user", None, "2026-07-26T06:08:00+00:00", "And at noon?"),
            ("assistant", None, "2026-07-26T06:08:00+00:00", "Tea & toast.\nRooibos"),
            ("user", None, "2026-07-25T06:08:00+00:00", "Hallo"),
            ("assistant", None, "2026-07-25T06:08:00+00:00", "Hallo!"),
        ],
        {"activities that are no prompts": 1, "activities of other products": 1},
        ["gemini-2026-07-26", "gemini-2026-07-25"],
    ),
    "activities with details": Shape(
        "gemini",
        {
            "Takeout/My Activity/Gemini Apps/MyActivity.json": [
                _activity(
                    "Used Gemini Apps",
                    "2024-02-17T22:05:10.123Z",
                    titleUrl="https://gemini.google.com/app/c/a1b2",
                    details=[{"name": "Request", "value": "Hi."}, {"name": "Response", "value": "Hello."}],
                )
            ],
            "Takeout/archive_browser.html": "<html>",
        },
        [
            ("user", None, "2024-02-17T22:05:10.123000+00:00", "Hi."),
            ("assistant", None, "2024-02-17T22:05:10.123000+00:00", "Hello."),
        ],
        {"a file of another kind": 1},
        ["gemini-a1b2"],
    ),
}
_CHUNKS: list[dict[str, object]] = [
    {"text": "Which tea?", "role": "user", "tokenCount": 3, "createTime": "2026-05-01T08:00:00Z"},
    {"driveDocument": {"id": "1"}, "role": "user"},
    {"text": "Hm.", "role": "model", "isThought": True},
    {"role": "model", "parts": [{"text": "Let me", "thought": True}, {"text": "Roo"}, {"text": "ibos."}]},
]
AISTUDIO = {
    "a prompt without an ending": Shape(
        "aistudio",
        {"Tea": {"runSettings": {}, "systemInstruction": {"text": "Be brief."}, "chunkedPrompt": {"chunks": _CHUNKS}}},
        [("user", None, "2026-05-01T08:00:00+00:00", "Which tea?"), ("assistant", None, None, "Rooibos.")],
        {"instructions": 1, "files without words": 1, "thoughts": 1},
        ["aistudio-Tea"],
    ),
    "equal words twice": Shape(
        "aistudio",
        {"x.json": {"chunkedPrompt": {"chunks": [{"role": "user", "text": "Go on."}] * 2}}},
        [("user", None, None, "Go on.")] * 2,
    ),
}


def _grok(key: str, sender: str, text: str, second: int, parent: str | None, **more: object) -> dict[str, object]:
    time = {"$date": {"$numberLong": str(1767261600000 + 1000 * second)}}
    said = {"_id": key, "message": text, "sender": sender, "create_time": time, "parent_response_id": parent, **more}
    return {"response": said, "share_link": None}


_GROK_ABOUT = {"id": "g1", "title": "Tea", "create_time": "2026-01-01T10:00:00.0Z", "leaf_response_id": None}
GROK = {
    "a conversation with another try": Shape(
        "grok",
        {
            "prod-grok-backend.json": {
                "conversations": [
                    {
                        "conversation": _GROK_ABOUT,
                        "responses": [
                            _grok("1", "human", "Which tea?", 0, None),
                            _grok("2", "ASSISTANT", "Green.", 5, "1"),
                            _grok("3", "grok-3", "Rooibos.", 9, "1"),
                            _grok("4", "assistant", "", 9, "3", generated_image_urls=["x"]),
                        ],
                    }
                ],
                "projects": [{"name": "P"}],
            }
        },
        [
            ("user", None, "2026-01-01T10:00:00+00:00", "Which tea?"),
            ("assistant", None, "2026-01-01T10:00:09+00:00", "Rooibos."),
        ],
        {"of another branch": 1, "pictures": 1, "projects are not imported": 1},
        ["grok-g1"],
        ["Green."],
    ),
    "a temporary conversation": Shape(
        "grok",
        {
            "x.zip": {
                "ttl/30d/export_data/u/prod-grok-backend.json": {
                    "conversations": [
                        {
                            "conversation": {**_GROK_ABOUT, "temporary": True},
                            "responses": [_grok("1", "human", "Hi.", 0, None)],
                        },
                        {
                            "conversation": {**_GROK_ABOUT, "id": "g2"},
                            "responses": [_grok("1", "human", "Ho.", 0, None)],
                        },
                    ]
                }
            }
        },
        [("user", None, "2026-01-01T10:00:00+00:00", "Ho.")],
        {"private, not to be remembered": 1},
    ),
}
COPILOT = {
    "rows from the newest to the oldest": Shape(
        "copilot",
        {
            "copilot-activity-history.csv": "\ufeffConversation,Time,Author,Message\r\n"
            '"Tea",2026-07-26T23:20:57,AI,"**Yes**, and\n""hot""."\r\n"Tea",2026-07-26T23:20:57,Human,Hot?\r\n'
            '"Tea",2026-07-26T23:20:56,AI,Rooibos.\r\n"Tea",2026-07-26T23:20:56,Human,Which tea?\r\nTea,soon,AI,x\r\n'
        },
        [
            ("user", None, "2026-07-26T23:20:56+00:00", "Which tea?"),
            ("assistant", None, "2026-07-26T23:20:56+00:00", "Rooibos."),
            ("user", None, "2026-07-26T23:20:57+00:00", "Hot?"),
            ("assistant", None, "2026-07-26T23:20:57+00:00", '**Yes**, and\n"hot".'),
        ],
        {"malformed": 1},
    ),
    "the other layout": Shape(
        "copilot",
        {
            "copilot-chat-activity.csv": '"CreatedAt","MessageContent","Author","ChatName"\n'
            "1/31/2026 10:00:00 +01:00,Query,user,Research\n1/31/2026 10:00:01 +01:00,Answer,bot,Research\n"
        },
        [
            ("user", None, "2026-01-31T10:00:00+01:00", "Query"),
            ("assistant", None, "2026-01-31T10:00:01+01:00", "Answer"),
        ],
    ),
}

# --- Chats of people -------------------------------------------------------------------------------------------------

WHATSAPP = {
    "days above 12 that come late": Shape(
        "whatsapp",
        {
            "WhatsApp Chat with Ana.txt": "03/04/2024, 21:04 - Messages and calls are end-to-end encrypted.\n"
            "03/04/2024, 21:05 - Ana: Note: the dog is Rex.\n03/04/2024, 21:06 - Bob: Nice\nsecond line\n"
            "03/04/2024, 21:07 - Ana: <Media omitted>\n03/04/2024, 21:08 - Ana: I.jpg (file attached)\nAt the sea.\n"
            '03/04/2024, 21:09 - Bob changed the subject to "Time: 5"\n'
            "04/04/2024, 09:00 - Bob: You deleted this message\n13/04/2024, 00:00 - B: Bye <This message was edited>\n"
        },
        [
            (None, "Ana", "2024-04-03T21:05:00", "Note: the dog is Rex."),
            (None, "Bob", "2024-04-03T21:06:00", "Nice\nsecond line"),
            (None, "Ana", "2024-04-03T21:08:00", "At the sea."),
            (None, "B", "2024-04-13T00:00:00", "Bye"),
        ],
        {"notices": 2, "files without words": 1, "deleted messages": 1},
        ["whatsapp-Ana"],
    ),
    "an iPhone in the United States": Shape(
        "whatsapp",
        {
            "WhatsApp Chat - Ana.zip": {
                "_chat.txt": "[4/3/24, 9:05:07\u202fPM] Ana: My dog is Rex.\r\n"
                "\u200e[4/3/24, 9:06:07\u202fPM] Ana: \u200eimage omitted\r\n[4/13/24, 12:05:00\u202fAM] Bob: Nice\r\n"
            }
        },
        [(None, "Ana", "2024-04-03T21:05:07", "My dog is Rex."), (None, "Bob", "2024-04-13T00:05:00", "Nice")],
        {"files without words": 1},
    ),
    "an order that only time shows": Shape(
        "whatsapp",
        {"x.txt": "1.2.24, 10:00 - Ana: A\n2.2.24, 10:00 - Ana: B\n1.3.24, 10:00 - Ana: C\n"},
        [
            (None, "Ana", "2024-02-01T10:00:00", "A"),
            (None, "Ana", "2024-02-02T10:00:00", "B"),
            (None, "Ana", "2024-03-01T10:00:00", "C"),
        ],
    ),
    "years first": Shape(
        "whatsapp",
        {"x.txt": "2024/04/03, 下午9:05 - Ana: A\n2024/04/03, 上午12:05 - Ana: B\n"},
        [(None, "Ana", "2024-04-03T21:05:00", "A"), (None, "Ana", "2024-04-03T00:05:00", "B")],
    ),
    "words in brackets that stand for no file": Shape(
        "whatsapp",
        {
            "x.txt": "13/04/24, 21:05 - Ana: I like tea (green)\n13/04/24, 21:05 - Ana: <b> is a <i>tag</i>\n"
            "13/04/24, 21:05 - \u202a+49 170 1\u202c: See main.py (the file)\n"
        },
        [
            (None, "Ana", "2024-04-13T21:05:00", "I like tea (green)"),
            (None, "Ana", "2024-04-13T21:05:00", "<b> is a <i>tag</i>"),
            (None, "+49 170 1", "2024-04-13T21:05:00", "See main.py (the file)"),
        ],
    ),
    "a phone in German": Shape(
        "whatsapp",
        {
            "x.txt": "13.04.24, 21:05 - Ana: Hallo <Diese Nachricht wurde bearbeitet.>\n"
            "13.04.24, 21:06 - Ana: <Medien ausgeschlossen>\n13.04.24, 21:07 - Ana: Diese Nachricht wurde gelöscht.\n"
            "13.04.24, 21:08 - Ana: \u200eIMG-20240413-WA0001.jpg (Datei angehängt)\nAm Meer.\n"
        },
        [(None, "Ana", "2024-04-13T21:05:00", "Hallo"), (None, "Ana", "2024-04-13T21:08:00", "Am Meer.")],
        {"files without words": 1, "deleted messages": 1},
    ),
    **{
        f"a time as in {time}": Shape(
            "whatsapp", {"x.txt": f"{time} - Ana: A\n"}, [(None, "Ana", "2024-04-13T21:05:00", "A")]
        )
        for time in (
            *("13.4.2024 klo 21.05", "13.04.24 um 21:05 Uhr", "13.04.2024 ÖS 9:05", "13/4/24, 9:05\u202fp.\u00a0m."),
            *("13/4/24, 9:05 μ.μ.", "١٣/٤/٢٠٢٤، ٩:٠٥ م", "2024. 4. 13. 오후 9:05"),  # noqa: RUF001
        )
    },
    "a half of the day in no known language": Shape(
        "whatsapp",
        {"x.txt": "13/04/24, 21:05 - Ana: A\n13/04/24, 9:05 qx - Ana: B\n"},
        [(None, "Ana", "2024-04-13T21:05:00", "A")],
        {"malformed": 1},
    ),
}


def _telegram(key: int, text: object, **more: object) -> dict[str, object]:
    times = {"date": "2024-01-01T11:00:00", "date_unixtime": str(1704103200 + key)}
    return {"id": key, "type": "message", **times, "from": "Ana", "from_id": "user1", "text": text, **more}


_TELEGRAM: list[dict[str, object]] = [
    {"id": 1, "type": "service", "date": "2024-01-01T11:00:00", "actor": "Ana", "action": "create_group", "text": ""},
    _telegram(2, ["See ", {"type": "link", "text": "https://x.org"}, "!"], text_entities=[]),
    _telegram(3, "", photo="(File not included.)"),
    _telegram(4, "News.", forwarded_from="Bob"),
    {"id": "5", "type": "unsupported"},
]
_TELEGRAM_SAID: list[Said] = [
    (None, "Ana", "2024-01-01T10:00:02+00:00", "See https://x.org!"),
    (None, "Ana", "2024-01-01T10:00:04+00:00", "News."),
]
_TELEGRAM_LEFT = {"notices": 2, "files without words": 1}
TELEGRAM = {
    "one chat": Shape(
        "telegram",
        {"result.json": {"name": "Tea", "type": "private_group", "id": 77, "messages": _TELEGRAM}},
        _TELEGRAM_SAID,
        _TELEGRAM_LEFT,
        ["telegram-77"],
    ),
    "all chats": Shape(
        "telegram",
        {
            "result.json": {
                "about": "Here is the data",
                "personal_information": {"user_id": 1},
                "chats": {"about": "x", "list": [{"type": "saved_messages", "id": 5, "messages": _TELEGRAM}]},
            }
        },
        _TELEGRAM_SAID,
        _TELEGRAM_LEFT,
        ["telegram-5"],
    ),
    "chats that were left, and contacts": Shape(
        "telegram",
        {
            "result.json": {
                "contacts": {"about": "x", "list": [{"first_name": "Bob"}]},
                "chats": {"list": [{"type": "personal_chat", "id": 1, "messages": [_telegram(2, "A")]}]},
                "left_chats": {"list": [{"type": "public_channel", "id": 3, "messages": [_telegram(4, "B")]}]},
            }
        },
        [
            (None, "Ana", "2024-01-01T10:00:02+00:00", "A"),
            (None, "Ana", "2024-01-01T10:00:04+00:00", "B"),
        ],
        {"contacts are not imported": 1},
        ["telegram-1", "telegram-3"],
    ),
}


def _slack(text: str, second: int, **more: object) -> dict[str, object]:
    return {"type": "message", "user": "U1", "text": text, "ts": f"{1704103200 + second}.000200", **more}


SLACK = {
    "an export with users": Shape(
        "slack",
        {
            "export.zip": {
                "channels.json": [{"id": "C1", "name": "general"}],
                "users.json": [{"id": "U1", "name": "ana", "profile": {"display_name": "Ana", "real_name": "Ana S"}}],
                "general/2024-01-01.json": [
                    _slack("<@U1> has joined the channel", 0, subtype="channel_join"),
                    _slack("Hi <@U1> in <#C1|general>: <https://x.org|this> &lt;3", 1),
                    _slack("", 2, files=[{"name": "x.png"}]),
                    _slack("Built.", 3, user=None, subtype="bot_message", username="ci", thread_ts="1.0"),
                ],
            }
        },
        [
            (None, "Ana", "2024-01-01T10:00:01.000200+00:00", "Hi @Ana in #general: this <3"),
            (None, "ci", "2024-01-01T10:00:03.000200+00:00", "Built."),
        ],
        {"notices": 1, "files without words": 1, "a file of another kind": 2},
        ["slack-general"],
    ),
    "a day without users": Shape(
        "slack",
        {"general/2024-01-01.json": [_slack("Hi.", 1, user_profile={"real_name": "Ana S"})]},
        [(None, "Ana S", "2024-01-01T10:00:01.000200+00:00", "Hi.")],
    ),
    "groups, dates, channels, and programs that write in blocks": Shape(
        "slack",
        {
            "channels.json": [{"id": "C1", "name": "general"}],
            "general/2024-01-01.json": [
                _slack("<!subteam^S1|@team> <!here> <!date^1^{date}|Feb 18> <#C1|> <#C1>", 1, user="ana"),
                _slack("", 2, user="ci", attachments=[{"fallback": "Passed.", "id": 1}]),
                _slack("", 3, user="ci", blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "Built."}}]),
            ],
        },
        [
            (None, "ana", "2024-01-01T10:00:01.000200+00:00", "@team @here Feb 18 #general #general"),
            (None, "ci", "2024-01-01T10:00:02.000200+00:00", "Passed."),
            (None, "ci", "2024-01-01T10:00:03.000200+00:00", "Built."),
        ],
        {"a file of another kind": 1},
    ),
}


def _discord(key: str, content: str, **more: object) -> dict[str, object]:
    author = {"id": "1", "name": "ana", "nickname": "Ana", "isBot": False}
    message = {"id": key, "type": "Default", "timestamp": "2024-01-01T11:00:00.5+01:00", "content": content}
    return {**message, "author": author, "attachments": [], **more}


DISCORD = {
    "a channel": Shape(
        "discord",
        {
            "tea.json": {
                "guild": {"id": "9", "name": "Tea"},
                "channel": {"id": "8", "name": "general"},
                "messages": [
                    _discord("1", "Hi.", attachments=[{"fileName": "x.png"}]),
                    _discord("2", "Joined.", type="GuildMemberJoin"),
                    _discord("3", ""),
                    _discord("4", "", forwardedMessage={"content": "News.", "timestamp": "2024-01-01T10:00:00+01:00"}),
                    _discord("5", "Boosted.", type="8"),
                ],
                "messageCount": 3,
            }
        },
        [
            (None, "Ana", "2024-01-01T11:00:00.500000+01:00", "Hi."),
            (None, "Ana", "2024-01-01T11:00:00.500000+01:00", "News."),
        ],
        {"notices": 2, "files without words": 1},
        ["discord-8"],
    ),
    "a channel that names itself last": Shape(
        "discord",
        {"tea.json": {"messages": [_discord("1", "Hi.")], "guild": {"id": "9"}, "channel": {"id": "8"}}},
        [(None, "Ana", "2024-01-01T11:00:00.500000+01:00", "Hi.")],
        sessions=["discord-8"],
    ),
    "a bot that writes in embeds": Shape(
        "discord",
        {
            "tea.json": {
                "guild": {"id": "9"},
                "channel": {"id": "8"},
                "messages": [_discord("1", "", embeds=[{"title": "T", "fields": [{"name": "a", "value": "b"}]}])],
            }
        },
        [(None, "Ana", "2024-01-01T11:00:00.500000+01:00", "T\na: b")],
    ),
}
