"""Items of a store of LangGraph, as `Item.dict()` returns them."""

from __future__ import annotations

from neurogated.archive.foreign.incoming import Format, Found, IncomingItem, mapping, moment
from neurogated.archive.foreign.stream import Entry


def _read(entry: Entry) -> Found:
    item = entry.value
    namespace, key = item["namespace"], item["key"]
    if not (isinstance(namespace, list) and all(isinstance(one, str) and one for one in (*namespace, key))):
        raise ValueError(f"its namespace {namespace!r:.80} and its key {key!r:.80} must be texts")
    times = moment(item.get("created_at")), moment(item.get("updated_at"))
    yield IncomingItem(entry.place, tuple(namespace), key, mapping(item["value"]), *times)


FORMAT = Format(
    "items of a LangGraph store", r"[^/]*\.jsonl?", lambda value: {"namespace", "key", "value"} <= value.keys(), _read
)
