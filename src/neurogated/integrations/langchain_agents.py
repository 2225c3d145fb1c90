"""LangChain's agents: a middleware that recalls before a run and stores what is said."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NotRequired

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.extras import needs_extra
from neurogated.errors import InputError
from neurogated.integrations.conversation import Conversation
from neurogated.integrations.langchain import said_in
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("langchain"):
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
    from langgraph.config import get_config
    from langgraph.runtime import Runtime


class MemoryState(AgentState[Any]):
    """The state of an agent with the memories for its present task."""

    memories: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Puts memories into the system message of an agent, and stores what is said.

    The thread is the session. The user is `user_id` in the context of the run or in its configurable values.
    """

    state_schema = MemoryState

    def __init__(
        self,
        memory: NeuroGraphMemory,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        token_budget: int = CONTEXT_TOKENS,
        options: RecallOptions | None = None,
    ) -> None:
        """Take the memory, the user if the agent serves only one, the agent, and options of the recall."""
        super().__init__()
        self._memory, self._user_id = memory, user_id
        self._opened = partial(Conversation, memory, agent_id=agent_id, token_budget=token_budget, options=options)

    def before_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Recall memories for the last message of the user. Messages of the thread are left out."""
        asked = [one for one in state["messages"] if _is_asked(one)]
        question = asked[-1].text if asked else ""
        if not question.strip():
            # The thread keeps the memories of the run before, perhaps of another user.
            return {"memories": ""}
        conversation = self._conversation(runtime)
        seen = conversation.message_ids(one.id for one in state["messages"])
        return {"memories": conversation.context_for(question, seen)}

    async def abefore_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Recall in a thread of the memory."""
        return await self._memory.aio.run(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with the memories at the end of the system message."""
        return handler(_with_memories(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Call the model with the memories at the end of the system message."""
        return await handler(_with_memories(request))

    def after_model(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Store what came before an answer of the model: a summary may replace it before the run ends.

        Other middleware may still change the answer itself.
        """
        places = enumerate(reversed(state["messages"]), 1)
        answered = next((place for place, one in places if isinstance(one, AIMessage)), 0)
        self._store(state["messages"][:-answered], runtime)

    async def aafter_model(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Store in a thread of the memory."""
        await self._memory.aio.run(self.after_model, state, runtime)

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Store the messages of this run. Storing one again changes nothing."""
        self._store(state["messages"], runtime)

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        """Store in a thread of the memory."""
        await self._memory.aio.run(self.after_agent, state, runtime)

    def _store(self, messages: Sequence[AnyMessage], runtime: Runtime[Any]) -> None:
        begin = len(messages)
        # The last messages of the user that follow each other, and all after them.
        for asked in (False, True):
            while begin and _is_asked(messages[begin - 1]) == asked:
                begin -= 1
        said = [one for one in messages[begin:] if not _is_summary(one)]
        self._conversation(runtime).add_new([one.id for one in said], map(said_in, said))

    def _conversation(self, runtime: Runtime[Any]) -> Conversation:
        values, context = get_config().get("configurable", {}), runtime.context
        given = context.get("user_id") if isinstance(context, Mapping) else getattr(context, "user_id", None)
        user_id = self._user_id or given or values.get("user_id")
        if user_id is None:
            raise InputError("the run names no user; give user_id to the middleware, or in the context of the run")
        return self._opened(values.get("thread_id"), user_id=user_id)


def _with_memories(request: ModelRequest[Any]) -> ModelRequest[Any]:
    memories = request.state.get("memories")
    if not memories:
        return request
    given = request.system_message
    blocks = [
        *(given.content_blocks if given else ()),
        {"type": "text", "text": f"\n\n{memories}" if given else memories},
    ]
    return request.override(system_message=SystemMessage(content_blocks=blocks))


def _is_summary(message: AnyMessage) -> bool:
    return "lc_source" in message.additional_kwargs


def _is_asked(message: AnyMessage) -> bool:
    return isinstance(message, HumanMessage) and not _is_summary(message)
