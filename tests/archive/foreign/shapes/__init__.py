"""Small files of our own in the shapes in which other systems write them, with what must be read from each."""

from tests.archive.foreign.shapes import agents, assistants, logs, notes, systems
from tests.archive.foreign.shapes.shape import Said, Shape

__all__ = ["SHAPES", "Said", "Shape"]

_GROUPS = [
    *(assistants.CHATGPT, assistants.CLAUDE),
    *(systems.MEM0, systems.ZEP, systems.GRAPHITI, systems.LETTA, systems.PAM, systems.LANGGRAPH),
    *(logs.GEMINI, logs.AISTUDIO, logs.GROK, logs.COPILOT),
    *(logs.WHATSAPP, logs.TELEGRAM, logs.SLACK, logs.DISCORD),
    *(agents.CLAUDE_CODE, agents.CODEX, agents.OPENAI_AGENTS, agents.LANGSMITH),
    *(notes.NOTES, notes.MBOX, notes.MCP_MEMORY, notes.MEMORYOS),
]
SHAPES: dict[str, Shape] = {f"{one.source}: {name}": one for group in _GROUPS for name, one in group.items()}
