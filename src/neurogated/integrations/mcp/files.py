"""Anthropic's memory tool as a tool of the server: file commands over `/memories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from neurogated.core.extras import needs_extra
from neurogated.errors import ConfigError, InputError
from neurogated.integrations.anthropic_memory import MemoryTool
from neurogated.integrations.mcp.tools import ServedOwner
from neurogated.memory import NeuroGraphMemory

with needs_extra("anthropic"):
    import pydantic
    from anthropic.lib.tools import ToolError
    from anthropic.types.beta import BetaMemoryTool20250818Command

_COMMAND = pydantic.TypeAdapter[Any](BetaMemoryTool20250818Command)


def file_tool(memory: NeuroGraphMemory, owner: ServedOwner, *, read_only: bool) -> Callable[..., str]:
    """Return the tool for the files of a user.

    Raises:
        ConfigError: the owner has a path; files belong to users.
    """
    if owner.path:
        raise ConfigError(f"the files of the memory tool belong to a user, not to a project: {'/'.join(owner.path)}")
    files = MemoryTool(memory, user_id=owner.user_id)

    def memory_files(
        *,
        command: Literal["view", "create", "str_replace", "insert", "delete", "rename"],
        path: str | None = None,
        view_range: list[int] | None = None,
        file_text: str | None = None,
        old_str: str | None = None,
        new_str: str | None = None,
        insert_line: int | None = None,
        insert_text: str | None = None,
        old_path: str | None = None,
        new_path: str | None = None,
    ) -> str:
        """Read and write notes as text files below /memories. `rename` takes old_path and new_path, all else path."""
        given = {name: value for name, value in locals().items() if value is not None}
        if read_only and command != "view":
            raise InputError(f"{command} changes files, but only reading is allowed here")
        try:
            return str(files.execute(_COMMAND.validate_python(given)))
        except pydantic.ValidationError as error:
            # The errors are those of all commands; the model of `str_replace` has a name with `StrReplace`.
            own = [one["loc"] for one in error.errors() if command.replace("_", "") in str(one["loc"][0]).lower()]
            raise InputError(f"{command} needs {', '.join(str(place[-1]) for place in own)}") from None
        except ToolError as error:
            raise InputError(str(error)) from error

    return memory_files
