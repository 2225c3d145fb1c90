#!/bin/sh
# Package: pydantic-ai-slim 2.68.0, pydantic 2.14.4
# Behaviour: A retry that a tool asks for is a ToolReturnPart whose text is JSON with the key 'error'; a history has no RetryPromptPart.
# Guess: DO20: a RetryPromptPart without a text as a result (0.6).
# Seen: ToolReturnPart with the outcome 'retried'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pydantic-ai-slim==2.68.0 pydantic==2.14.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

answers = iter([ToolCallPart("look", {"page": 1}), ToolCallPart("look", {"page": 2}), TextPart("done")])
agent = Agent(FunctionModel(lambda messages, info: ModelResponse([next(answers)])))

@agent.tool_plain
def look(page: int) -> str:
    if page == 1:
        raise ModelRetry("Take page 2.")
    return "found"

messages = agent.run_sync("Look.").new_messages()
(part,) = messages[2].parts
assert type(part) is ToolReturnPart and part.outcome == "retried", part
assert part.model_response_str() == '{"error":"Take page 2."}', part.model_response_str()
END
