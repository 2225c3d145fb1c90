#!/bin/sh
# Package: pydantic-ai-slim 2.68.0, pydantic 2.14.4
# Behaviour: What a history processor leaves out is gone from `all_messages` of the run, not only from the request.
# Guess: F61: so it is (0.5).
# Seen: Two messages after the second run; the first run is missing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pydantic-ai-slim==2.68.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.test import TestModel

agent = Agent(TestModel(custom_output_text="ok"), capabilities=[ProcessHistory(lambda messages: messages[-1:])])
first = agent.run_sync("first")
second = agent.run_sync("second", message_history=first.all_messages())
asked = [part.content for message in second.all_messages() for part in message.parts]
assert asked == ["second", "ok"], asked
END
