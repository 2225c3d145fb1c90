#!/bin/sh
# Package: google-adk 2.13.0
# Behaviour: InMemoryMemoryService returns ten memories at most, of equally good ones the oldest.
# Guess: DT7: at most 20 (0.2).
# Seen: The first ten of fifteen.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: google-adk==2.13.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import asyncio
from google.adk.events.event import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.sessions.session import Session
from google.genai import types

async def found(texts, query):
    contents = (types.Content(role="user", parts=[types.Part(text=text)]) for text in texts)
    events = [Event(author="user", content=one) for one in contents]
    service = InMemoryMemoryService()
    await service.add_session_to_memory(Session(id="s", app_name="app", user_id="ana", events=events))
    answer = await service.search_memory(app_name="app", user_id="ana", query=query)
    return [one.content.parts[0].text for one in answer.memories]

texts = [f"heron {number}" for number in range(15)]
assert asyncio.run(found(texts, "heron")) == texts[:10]
assert asyncio.run(found([*texts, "The heron is Ada"], "is the heron tall"))[0] == "The heron is Ada"
END
