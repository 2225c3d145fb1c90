"""How fast the page draws the map of a large memory in a headless browser without a graphics card (SwiftShader).

    python -m benchmarks.map_page --nodes 10000

It prints the time of the answer of `/v1/map` by the first and by a later request, the time from opening the page until
the points are drawn, the frames in a second while the map is zoomed, and the time until a memory's neighbours show.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.delta import Owner
from tests.served import Servers
from tests.viewer.browser import open_browser

_TOPICS, _DEGREE = 60, 6
# A pixel that is read back waits for the drawing.
_DRAWN = """
const done = arguments[0];
const look = () => {
  const canvas = document.querySelector('.sky canvas');
  if (!canvas || !document.querySelector('.regions li')) return requestAnimationFrame(look);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const gl = canvas.getContext('webgl2');
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    done(performance.now());
  }));
};
look();
"""
_FRAMES = """
const [done, canvas] = [arguments[0], document.querySelectorAll('.sky canvas')[1]];
const gl = document.querySelector('.sky canvas').getContext('webgl2');
const begin = performance.now();
let frames = 0;
const frame = () => {
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  if (performance.now() - begin > 2000) return done(frames / 2);
  canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: frames % 80 < 40 ? -20 : 20}));
  frames += 1;
  requestAnimationFrame(frame);
};
frame();
"""


def fill(folder: Path, nodes: int) -> None:
    """Write a memory whose topics are linked inside, and sometimes with others."""
    random, now = np.random.default_rng(0), utc_now()
    topic = random.integers(0, _TOPICS, nodes)
    members = [np.flatnonzero(topic == one) for one in range(_TOPICS)]
    edges = set()
    for source in range(nodes):
        inside = random.choice(members[topic[source]], _DEGREE)
        edges |= {(source, int(target)) for target in (*inside, random.integers(0, nodes)) if target != source}
    made = tuple(MemoryNode(f"n{number}", f"Topic{topic[number]} has note {number}.") for number in range(nodes))
    links = tuple(MemoryEdge(f"n{one}", f"n{other}", EdgeType.SIM, 0.5) for one, other in edges)
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        memory.store.apply(GraphDelta(nodes=made, edges=links, reason="add", at=now, owner=Owner.MEMORY))
    print(f"{nodes:,} memories, {len(links):,} edges")


def measure(chrome: webdriver.Chrome, url: str) -> None:
    for name in ("first", "later"):
        begin = time.perf_counter()
        answer = httpx.get(f"{url}/v1/map", timeout=60)
        print(f"{name} answer of the map: {time.perf_counter() - begin:.2f} s, {len(answer.content):,} bytes")
    chrome.set_script_timeout(60)
    chrome.get(f"{url}/#map")
    print(f"drawn after {chrome.execute_async_script(_DRAWN) / 1000:.2f} s")
    print(f"{chrome.execute_async_script(_FRAMES):.0f} frames in a second")
    begin = time.perf_counter()
    chrome.find_elements(By.CSS_SELECTOR, ".sky canvas")[1].send_keys("0", Keys.ENTER)
    while not chrome.find_elements(By.CSS_SELECTOR, "article .content"):
        time.sleep(0.01)
    print(f"neighbours after {time.perf_counter() - begin:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    nodes = parser.parse_args().nodes
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        raise SystemExit("no browser found; run: make browser")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "memory", nodes)
        with Servers(folder / "memory") as servers:
            url = servers.start()
            chrome = open_browser(chromium, driver, folder / "browser")
            try:
                measure(chrome, url)
            finally:
                chrome.quit()


if __name__ == "__main__":
    main()
