"""Example recalls, and a strict reader of pages."""

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from neurogated import EdgeType, Kernel, MemoryNode, Recall
from neurogated.core.trace import PathStep, RecalledMemory

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">'\"&{{ 7*7 }} \u202eשלום 🕯️\x00"  # noqa: RUF001 - right to left

VOID = {"meta", "link", "br", "img", "input"}
SELF_CLOSED = {"path"}


class PageReader(HTMLParser):
    """Reads a page, and refuses one whose elements do not close in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice: {names}"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SELF_CLOSED
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def all_text(self) -> str:
        """Return the words of the page with single spaces."""
        return " ".join(" ".join(self.text).split())

    def having(self, attribute: str) -> list[dict[str, str]]:
        """Return the attributes of every element that has `attribute`."""
        return [attributes for _, attributes in self.elements if attribute in attributes]

    def tags(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of a tag."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def read() -> Callable[[str], PageReader]:
    """Return the strict reader of pages."""
    return PageReader


def step(
    source: str, kind: EdgeType, target: str, *, flow: float = 0.1, forward: bool = True, hop: int = 1
) -> PathStep:
    return PathStep(source, target, kind, forward=forward, weight=0.8, flow=flow, hop=hop)


@pytest.fixture
def node() -> Callable[..., MemoryNode]:
    def make(node_id: str, speaker: str | None = None, **metadata: object) -> MemoryNode:
        title = f"Title of {node_id}"
        return MemoryNode(node_id, f"what {node_id} says", title=title, speaker=speaker, metadata=metadata)

    return make


@pytest.fixture
def nodes(node: Callable[..., MemoryNode]) -> dict[str, MemoryNode]:
    """Return the nodes of `recall` that it does not return: an anchor, and one that passed activation on."""
    return {"anchor2": node("anchor2"), "passed": node("passed")}


@pytest.fixture
def recall(node: Callable[..., MemoryNode]) -> Recall:
    """Return a recall with two hops, a flow against an edge, one between anchors, a relay, and an anchor left out."""
    seq, cause, sim = EdgeType.SEQ, EdgeType.CAUSE, EdgeType.SIM
    first = step("anchor1", cause, "first", flow=0.3)
    into = step("anchor2", sim, "passed", flow=0.2, forward=False)
    onward = step("first", seq, "second", hop=2)
    last = step("passed", seq, "third", flow=0.05, hop=2)
    between = step("anchor2", seq, "anchor1", flow=0.25)

    def remembered(
        found: MemoryNode, path: tuple[PathStep, ...], flows: tuple[PathStep, ...], **terms: float
    ) -> RecalledMemory:
        parts = {name: value for name, value in terms.items() if name != "held_back"}
        return RecalledMemory(found, sum(terms.values()), parts, path, flows, terms)

    memories = (
        remembered(node("first", speaker="Edda", date="8 May"), (first,), (first,), similarity=0.6, activation=0.3),
        remembered(node("anchor1"), (), (between,), similarity=0.8, activation=0.25, held_back=-0.15),
        remembered(node("second"), (first, onward), (onward,), similarity=1.1, activation=0.1, recency=-0.5),
        remembered(node("third"), (into, last), (last,), similarity=0.55, activation=0.05),
        remembered(node("alone"), (), (), similarity=0.5),
    )
    kernel = Kernel({cause: 1.95, seq: 0.4}, "a why question", {seq: 1.2})
    anchors = (("anchor1", 0.8), ("anchor2", 0.7))
    relays = {"passed": (into,)}
    return Recall("Why?", memories, kernel, anchors, "gated", {"embed": 0.01}, ("a note",), relays=relays)


@pytest.fixture
def hostile() -> tuple[Recall, dict[str, MemoryNode]]:
    """Return a recall whose every text tries to inject markup."""
    names = [f"{HOSTILE}{index}" for index in range(3)]
    made = [MemoryNode(name, HOSTILE * 20, title=HOSTILE, metadata={HOSTILE: [HOSTILE]}) for name in names]
    path = (step(names[0], EdgeType.SEQ, names[1]), step(names[1], EdgeType.SIM, names[2]))
    memories = (RecalledMemory(made[2], 0.5, {HOSTILE: 0.5}, path, path[1:], {HOSTILE: 0.5}),)
    recall = Recall(HOSTILE, memories, Kernel({}, HOSTILE, note=HOSTILE), ((names[0], 0.9),), HOSTILE, {}, (HOSTILE,))
    return recall, {made[0].id: made[0], made[1].id: made[1]}
