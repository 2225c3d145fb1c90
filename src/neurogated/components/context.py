"""`AgentContext`: how an agent reads its memory for a task and records the outcome."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Unpack

from neurogated.components.texts import Recalls, Texts
from neurogated.context.builder import ContextBuilder, joined, links
from neurogated.context.model import CONTEXT_TOKENS, UNKNOWN, Answer, Context
from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.node_kind import EVENT
from neurogated.core.quoting import quoted_memory
from neurogated.core.tokens import TokenCounter, prompt_tokens
from neurogated.core.trace import MemoryRef, Recall, RecalledMemory, id_of, listed
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.contents import Message, read_contents
from neurogated.ingestion.document import Details
from neurogated.plasticity.plasticity_engine import ASSOC_WEIGHT, Outcome, strength_of
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.retrieval.formula import CANDIDATES
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.session.session import Notice, Session
from neurogated.utils.hash_utils import arrival_id

# Tokens of the budget for each memory that is recalled for a context.
_CONTEXT_DEPTH = 8
# Memories from which a language model answers a question.
_QA_PASSAGES = 5
# It empties 1 to 3 % of the recalls that had an answer, and about a third of those that had none; see the measurements.
_ANSWER_CONFIDENCE = 0.2
_ACCEPTED = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


class AgentContext:
    """The calls of an agent at work, as `memory.context`."""

    def __init__(self, session: Session) -> None:
        self._session, self._recalls = session, Recalls(session)

    def build(
        self,
        task: str,
        token_budget: int = CONTEXT_TOKENS,
        *,
        explain: bool = False,
        count_tokens: TokenCounter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Context:
        """Return the memories that help with a task as text for a prompt; see `NeuroGraphMemory.get_context`."""
        if not checked_count("token_budget", token_budget):
            raise InputError(f"token_budget is {token_budget}, but must be at least 1")
        session, embedder = self._session, self._session.parts.embedder
        if options.get("top_n") is None:
            options["top_n"] = max(CANDIDATES, token_budget // _CONTEXT_DEPTH)
        with session.runtime.work("recalling"):
            (recall,) = self._recalls.read([task], options)
            builder = ContextBuilder(embedder, count_tokens or prompt_tokens)
            context = builder.build(recall, session.store.view(), token_budget, explain=explain)
            context = replace(context, confidence=recall.confidence)
        self._recalls.hand_out(replace(recall, memories=context.memories), options)
        return context

    def answer(self, question: str | Recall, options: RecallOptions) -> Answer:
        """Return the language model's short answer to a question; see `NeuroGraphMemory.answer`."""
        model = self._session.parts.language_model
        if model is None:
            raise ConfigError(
                "no language model is configured, so there is no answer: set llm_name and the model's key in the "
                "environment, with llm='auto', or llm_base_url; without one, use recall or get_context"
            )
        if isinstance(question, Recall):
            recall = question
        else:
            options.setdefault("min_confidence", _ANSWER_CONFIDENCE)
            (recall,) = self._recalls.answer([question], options)
        nodes, zone = [memory.node for memory in recall.memories[:_QA_PASSAGES]], recall.zone
        if not nodes:
            return Answer(UNKNOWN, confidence=recall.confidence)
        prompts = PromptTemplateManager()
        texts = [quoted_memory(node, zone=zone) for node in nodes]
        passages = "\n".join(f"{number} {text}" for number, text in enumerate(texts, 1))
        messages, accepts = prompts.render("qa", question=recall.query, passages=passages), _ACCEPTED
        with self._session.runtime.reading():
            present = self._session.store.get_nodes([node.id for node in nodes], missing_ok=True)
            is_stale = not {quoted_memory(node, zone=zone) for node in present}.issuperset(texts)
            with self._session.runtime.reading(stale=is_stale):
                found = model.infer_json(messages, prompts.schema("qa"), accepts=accepts)
        if found["answer"].strip(" .").casefold() in {"unknown", UNKNOWN.casefold()}:
            return Answer(UNKNOWN, confidence=recall.confidence)
        numbers = [one for one in found.get("sources", ()) if isinstance(one, int) and 0 < one <= len(nodes)]
        sources = tuple(dict.fromkeys(nodes[one - 1].id for one in numbers))
        return Answer(found["answer"], sources=sources, confidence=recall.confidence)

    def record(
        self, event: str | Message, details: Details, *, outcome: Outcome | None, used: MemoryRef | Iterable[MemoryRef]
    ) -> list[str]:
        """Store a decision or an action with its outcome; see `NeuroGraphMemory.record_event`."""
        session = self._session
        if isinstance(event, Sequence) and not isinstance(event, str):
            raise InputError("an event is one text or message; record each event by a call of its own")
        strength = None if outcome is None else strength_of(outcome)
        details.setdefault("id", arrival_id(f"{EVENT}-"))
        details.setdefault("kind", EVENT)
        given = list(listed(used))
        ids = list(dict.fromkeys(map(id_of, given)))
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        there = session.store.get_nodes(session.store.view().present(ids, recalled), missing_ok=True)
        owner = session.of_user(details.get("user_id"))
        ids = [node.id for node in there if node.scope.user_id in {owner, None}]
        learned = 0.0 if strength is None or session.runtime.is_frozen() else strength

        def join(delta: GraphDelta, fresh: Sequence[MemoryNode], _: GraphView) -> GraphDelta:
            first = [node for node in fresh if node.id == details["id"]]
            if not first:
                return delta
            view, changes = session.store.view(), GraphDelta()
            present = [one for one in view.present(ids, recalled) if one not in delta.removed_nodes]
            if learned:
                changes = session.plasticity.learned(view, present, learned, associate=True, rated=True).delta
            return joined(delta, changes, links(first[0], session.store.get_nodes(present), ASSOC_WEIGHT))

        documents = [replace(one, outcome=strength, stamped=True) for one in read_contents(event, details)]
        (added,) = Texts(self._session).store(documents, join=join)
        if learned and ids:
            session.notify(Notice("learned", (ids, learned)))
        return added
