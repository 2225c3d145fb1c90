"""The page in a real browser."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from neurogated import EdgeType, Kernel, MemoryNode, NeuroGraphMemory, Recall
from neurogated.core.trace import RecalledMemory
from neurogated.viewer import explain, render_recall, write_page
from neurogated.viewer.layout import subgraph_of
from tests.viewer.browser import open_browser, set_screen

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOW = "no browser: apt-get install -y chromium chromium-driver"
PATIENCE = 10

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason=HOW)]

Open = Callable[..., webdriver.Chrome]
Nodes = dict[str, MemoryNode]


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    assert CHROMIUM, HOW
    assert DRIVER, HOW
    driver = open_browser(CHROMIUM, DRIVER, tmp_path_factory.mktemp("browser"))
    driver.execute_cdp_cmd("Network.enable", {})
    yield driver
    driver.quit()


@pytest.fixture
def show(chrome: webdriver.Chrome, tmp_path: Path) -> Open:
    """Return a function that shows a page at a width, light or dark."""

    def call(page: str, *, width: int = 1500, height: int = 1000, scheme: str = "light") -> webdriver.Chrome:
        set_screen(chrome, width, height, scheme)
        for log in ("browser", "performance"):
            chrome.get_log(log)  # type: ignore[no-untyped-call]
        chrome.get(write_page(page, tmp_path / "page.html").as_uri())
        return chrome

    return call


def _all(chrome: webdriver.Chrome, selector: str) -> list[WebElement]:
    return chrome.find_elements(By.CSS_SELECTOR, selector)


def _lit(chrome: webdriver.Chrome) -> set[str]:
    """Return the highlighted boxes and flows."""
    return {str(one.get_dom_attribute("id")) for one in _all(chrome, ".box.lit, .arc.lit")}


def _belonging(chrome: webdriver.Chrome, name: str) -> set[str]:
    """Return the boxes and flows that belong to one of these."""
    return set(str(_all(chrome, f"#{name}")[0].get_dom_attribute("data-lit")).split())


def _number(element: WebElement) -> float:
    """Return the number in an element. Less than a thousandth counts as none."""
    text = str(element.get_property("textContent"))
    return 0.0 if text.startswith("<") else float(text)


def _number_of_label(label: WebElement) -> float:
    text = str(label.get_property("textContent")).split()[-1]
    return 0.0 if text.startswith("<") else float(text)


def _messages(chrome: webdriver.Chrome) -> list[Any]:
    return list(chrome.get_log("browser"))  # type: ignore[no-untyped-call]


def _requests(chrome: webdriver.Chrome) -> list[str]:
    events = [json.loads(line["message"])["message"] for line in chrome.get_log("performance")]  # type: ignore[no-untyped-call]
    sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
    return [event["params"]["request"]["url"] for event in sent]


def test_it_opens_without_error_or_request_and_draws_all_of_the_recall(
    show: Open, recall: Recall, nodes: Nodes
) -> None:
    chrome = show(render_recall(recall, nodes))
    drawn = subgraph_of(recall)
    assert _messages(chrome) == []
    requests = _requests(chrome)
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == 1
    boxes = [box for box in _all(chrome, "#canvas .box") if box.is_displayed()]
    assert len(boxes) == len(drawn.senders) + len(recall.memories)
    assert len(_all(chrome, "#canvas .arc")) == len(drawn.arcs)
    for path in _all(chrome, ".arc .line"):
        assert path.size["width"] > 0
    shown = Image.open(io.BytesIO(chrome.get_screenshot_as_png())).convert("RGB")
    assert len(shown.getcolors(shown.width * shown.height) or ()) > 100


@pytest.mark.nightly
def test_shown_numbers_add_up_on_the_page_of_a_real_recall(show: Open, memory: NeuroGraphMemory) -> None:
    for number in range(12):
        text = f"The pump {number} failed because the valve of pump {number - 1} leaked into the lower field."
        memory.add_document(text, title=f"Log {number // 3}")
    recall = memory.recall("Why did the pump in the lower field fail?", top_n=8)
    chrome = show(explain(memory, recall))
    assert any(one.flows and one.contributions["held_back"] for one in recall)
    for rank, found in enumerate(recall):
        (item,) = _all(chrome, f"#n{rank}")
        total = _number(item.find_element(By.CSS_SELECTOR, ".total"))
        terms = {
            str(term.get_dom_attribute("data-term")): _number(term)
            for term in item.find_elements(By.CSS_SELECTOR, "[data-term]")
        }
        assert total == pytest.approx(found.score, abs=0.0005 + 1e-9)
        assert total == pytest.approx(sum(terms.values()) - 2 * terms.get("held back", 0.0), abs=1e-9)
        flows = [_number(flow) for flow in item.find_elements(By.CSS_SELECTOR, "[data-flow]")]
        assert len(flows) == len(found.flows)
        assert sum(flows) == pytest.approx(terms.get("activation", 0.0), abs=1e-9)
        labels = [_number_of_label(arc) for arc in _all(chrome, f".arc[data-node='{rank}']:not(.relayed) text")]
        assert sorted(labels) == sorted(flows)


@pytest.mark.nightly
def test_the_keyboard_alone_reaches_every_box_and_flow(show: Open, recall: Recall, nodes: Nodes) -> None:
    chrome = show(render_recall(recall, nodes))
    reached: set[str] = set()
    count = len(subgraph_of(recall).senders) + len(recall.memories)
    for _ in range(count + 2):
        webdriver.ActionChains(chrome).send_keys(Keys.TAB).perform()
        focused = chrome.switch_to.active_element
        if "box" in str(focused.get_dom_attribute("class")):
            reached.add(str(focused.get_dom_attribute("id")))
            assert _lit(chrome) == _belonging(chrome, str(focused.get_dom_attribute("id")))
    assert len(reached) == count
    chrome.execute_script("document.querySelector('#n0 .pick').focus()")
    webdriver.ActionChains(chrome).send_keys(Keys.TAB).perform()
    assert _lit(chrome) == {"arc0", "from1", "to0"}, "the next stop is the flow in the list"


@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.nightly)])
def test_the_page_never_scrolls_sideways(show: Open, recall: Recall, nodes: Nodes, width: int) -> None:
    long = MemoryNode("long", "x" * 3000, title="t" * 300, speaker="s" * 200, metadata={"k" * 200: "v" * 300})
    terms = {"similarity": 0.2, "p" * 80: 0.2}
    flow = replace(recall[0].flows[0], source_id="long", target_id="long", flow=0.1)
    memory = RecalledMemory(long, 0.4, {"similarity": 0.4, "p" * 80: 0.2}, (flow,), (flow,), terms)
    EdgeType.register("TEST_OF_A_NAME_THAT_IS_LONG", "test of a long name", plastic=False, both_ways=True)
    wide = Recall("q" * 300, (*recall, memory), Kernel({}, "j" * 300), recall.anchors, "gated")
    chrome = show(render_recall(wide, nodes), width=width, height=800)
    chrome.execute_script("for (const more of document.querySelectorAll('details')) more.open = true")
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    # On a busy machine the window takes its width with a delay.
    WebDriverWait(chrome, PATIENCE).until(lambda driver: driver.execute_script(overflow) == 0)
    inside = "return [...document.querySelectorAll('.panel, .memory')].every(e => e.scrollWidth <= e.clientWidth + 1)"
    WebDriverWait(chrome, PATIENCE).until(lambda driver: driver.execute_script(inside))
