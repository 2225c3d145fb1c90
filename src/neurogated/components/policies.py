"""`Policies`: expressions that run by themselves after an event."""

import builtins
import logging
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from neurogated.components.expressions import call_expression, filters_of
from neurogated.core.commit import CAUSE, TICKED, after_memory
from neurogated.core.delta import GraphDelta
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode
from neurogated.core.scope import ANY_USER, Scope, ScopeFilter, UserChoice
from neurogated.errors import InputError, NeurogatedError, UnknownIdError
from neurogated.session.session import Component, Notice, Session
from neurogated.sexpr.check import policy_call
from neurogated.sexpr.cypher import explain
from neurogated.text.strings import checked_text
from neurogated.utils.hash_utils import compute_mdhash_id

_log = logging.getLogger(__name__)

_KIND: Final = "policy"
_WHEN: Final = "when"
REMEMBER: Final = "remember"
TICK: Final = "tick"
# An event may have many memories, and a memory many policies.
_MOST_RUNS = 100
_SECONDS = 1.0


class Run(NamedTuple):
    """A run of a policy."""

    policy: str
    """Its id."""
    it: str | None
    """The memory that it ran for; None after a tick or a signal."""
    value: Any = None
    """What the operation returned."""
    error: str | None = None
    """Why it failed; None if it did not."""


class Policies(Component):
    """The calls about policies, as `memory.policies`.

    A policy is a memory of the kind `policy` whose text is an expression. It sees and changes the memories of its own
    user, agent and path only. It runs only if the setting `learning.policies` allows it. One event starts at most 100
    runs, none later than a second after the first. What a policy writes starts no policies. `history.list()` names
    the policy in the reason of its changes. `undo` takes back a memory with what policies did because it was added.
    """

    def add(self, expression: str, when: str = REMEMBER, **scope: Any) -> str:  # noqa: ANN401 - the fields of Scope
        """Store a policy and return its id; `delete` removes it.

        Raises ExpressionError if the expression is no policy.

        Args:
            expression: a call of `remember`, `associate`, `feedback` or `decay!`. After `remember`, the symbol `it` is
                the id of the new memory, and `(when CONDITION CALL)` tests its metadata.
            when: `remember`; `tick`, for `energy.tick()`; or the name of a signal.
            **scope: `user_id`, `agent_id`, `session_id` and `path`.
        """
        # The id with which a policy of an event is checked.
        probe = "it" if checked_text("the event of a policy", when) == REMEMBER else None
        policy_call(checked_text("a policy", expression), probe, {})
        owner, now = Scope(**scope), self._session.clock()
        self._session.of_user(owner.user_id)
        name = _id_of(owner, when, expression)
        node = MemoryNode(
            name, expression, kind=_KIND, metadata={_WHEN: when}, scope=owner, created_at=now, last_accessed=now
        )
        delta = GraphDelta(nodes=(node,), reason="add a policy", at=now)
        self._session.commit(lambda: delta, lambda _: Notice("changed"))
        return name

    def list(self, *, user_id: UserChoice = None) -> builtins.list[MemoryNode]:
        """Return the policies of a user, or those without an owner; `metadata["when"]` has the event."""
        return self._policies(self._session.of_user(user_id))

    def dry_run(self, policy_id: str, it: str | None = None) -> dict[str, Any] | None:
        """Return what a policy would run, as `(explain …)` does; None if its condition does not hold.

        Raises UnknownIdError if there is no such policy, or its owner has no such memory.

        Args:
            policy_id: the policy.
            it: the id of the memory that it would run for.
        """
        found = self._session.store.get_nodes([policy_id], missing_ok=True)
        if not found or found[0].kind != _KIND or not _is_checked(found[0]):
            raise UnknownIdError(f"there is no policy {policy_id!r}; policies.list() lists them")
        policy, memory = found[0], None if it is None else self._session.store.get_nodes([it])[0]
        if memory is not None and not _covers(policy, memory):
            raise UnknownIdError(f"policy {policy_id!r} does not run for a memory {it!r}")
        call = policy_call(policy.content, it, {} if memory is None else memory.metadata)
        return None if call is None else explain(call, filters_of(policy.scope))

    def signal(self, name: str, *, user_id: str | None = None) -> builtins.list[Run]:
        """Run the policies of a user for a signal, and return their runs.

        Raises InputError if the name is that of an event, or policies are not allowed.
        """
        if name in {REMEMBER, TICK}:
            raise InputError(f"{name!r} is an event of the memory itself; name a signal otherwise")
        if not self._session.config.learning.policies:
            raise InputError("policies are not allowed here; set learning.policies to true")
        return self.run(name, user_id=self._session.of_user(user_id))

    def run(self, when: str, ids: Sequence[str] = (), *, user_id: UserChoice = ANY_USER) -> builtins.list[Run]:
        """Run the policies of an event; return their runs.

        Args:
            when: the event.
            ids: the memories that the event is about.
            user_id: the owner of the policies.
        """
        if CAUSE.get() is not None or self._session.runtime.is_frozen():
            return []
        runs, end = builtins.list[Run](), time.monotonic() + _SECONDS
        policies = [one for one in self._policies(user_id) if one.metadata.get(_WHEN) == when]
        about: Sequence[MemoryNode | None] = [None]
        if when == REMEMBER:
            about = self._session.store.get_nodes(ids, missing_ok=True) if policies else []
        pairs = ((policy, memory) for memory in about for policy in policies)
        for policy, memory in ((one, memory) for one, memory in pairs if memory is None or _covers(one, memory)):
            if len(runs) == _MOST_RUNS or time.monotonic() > end:
                _log.warning("the policies of %r stop after %d runs; the others are left out", when, len(runs))
                break
            runs.append(self._run(policy, memory, when))
        return runs

    def _policies(self, user_id: UserChoice) -> builtins.list[MemoryNode]:
        owner = ScopeFilter(user_id)
        found = self._session.store.snapshot(filters=Filter(kinds=(_KIND,), scope=owner)).find()
        return [one for one in found if owner.user_id in {ANY_USER, one.scope.user_id} and _is_checked(one)]

    def _run(self, policy: MemoryNode, memory: MemoryNode | None, when: str) -> Run:
        it, cause = None, f"{policy.id} {TICKED}" if when == TICK else policy.id
        if memory is not None:
            it, cause = memory.id, after_memory(policy.id, compute_mdhash_id(memory.id))
        token = CAUSE.set(cause)
        try:
            call = policy_call(policy.content, it, {} if memory is None else memory.metadata)
            return Run(policy.id, it, call and call_expression(self._session, call, policy.scope))
        except NeurogatedError as error:
            # The event is complete, so the caller of it gets no error.
            _log.warning("policy %s failed: %s", policy.id, error)
            return Run(policy.id, it, error=str(error))
        finally:
            CAUSE.reset(token)


def run_policies(session: Session, notice: Notice) -> None:
    """Run the policies that follow a change, if the settings allow policies."""
    if session.config.read_only or not session.config.learning.policies:
        return
    if notice.event == "added":
        Policies(session).run(REMEMBER, notice.about[0])
    elif notice.event == "ticked":
        Policies(session).run(TICK)


def _id_of(owner: Scope, when: object, expression: str) -> str:
    return compute_mdhash_id(f"{owner}\n{when}\n{expression}", prefix=f"{_KIND}-")


def _is_checked(node: MemoryNode) -> bool:
    """Return whether `add` stored a policy: other memories of its kind were not checked, so they never run."""
    return node.id == _id_of(node.scope, node.metadata.get(_WHEN), node.content)


def _covers(policy: MemoryNode, memory: MemoryNode) -> bool:
    """Return whether a policy runs for a memory: one of its own user, agent, session and path."""
    ours, theirs = policy.scope, memory.scope
    return (
        ours.user_id == theirs.user_id
        and ours.agent_id in {None, theirs.agent_id}
        and ours.session_id in {None, theirs.session_id}
        and theirs.path[: len(ours.path)] == ours.path
        and memory.kind != _KIND
    )
