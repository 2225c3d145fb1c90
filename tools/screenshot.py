"""Create the pictures of the documentation: the page of the demo's first answer, and the map of the demo's memory.

`make browser` installs the browser. Then, from the root of the repository: `python -m tools.screenshot`.
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, index
from neurogated.viewer import explain, write_page
from tests.served import Servers
from tests.viewer.browser import open_browser, set_screen

PICTURES = Path(__file__).parents[1] / "docs" / "images"
QUESTION = "Why did the herring fail?"
WIDTH, HEIGHT, COLOURS = 1400, 1130, 256
MAP_HEIGHT, PATIENCE = 760, 60
# The picture shows the flows and the memories.
WITHOUT_KERNEL = "document.querySelector('.kernel').remove()"
DRAWN = """
const look = () => document.querySelector(".regions li") ? setTimeout(arguments[0], 500) : requestAnimationFrame(look);
look();
"""


def take() -> None:
    """Index the bundled sample, and save a picture of the page that explains an answer, and one of the map."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        raise SystemExit("no browser found; run: make browser")
    dataset = load_dataset(BUNDLED, dataset_folder("dataset", BUNDLED), "hipporag")
    with tempfile.TemporaryDirectory() as folder:
        config = config_for(dataset, MemoryConfig(save_dir=folder))
        with NeuroGraphMemory(config) as memory:
            index(dataset, memory)
            # The first recall also loads the model, so the second one shows the usual time.
            page = [explain(memory, memory.recall(QUESTION)) for _ in range(2)][-1]
        chrome = open_browser(chromium, driver, Path(folder) / "browser")
        try:
            set_screen(chrome, WIDTH, HEIGHT, "light")
            chrome.get(write_page(page, Path(folder) / "why.html").as_uri())
            chrome.execute_script(WITHOUT_KERNEL)
            save(chrome, "explained.png")
            with Servers(Path(config.save_dir)) as servers:
                url = servers.start("--namespace", config.namespace, "--embedding_name", config.embedding_name)
                set_screen(chrome, WIDTH, MAP_HEIGHT, "light")
                chrome.set_script_timeout(PATIENCE)
                chrome.get(f"{url}/#map")
                chrome.execute_async_script(DRAWN)
                save(chrome, "map.png")
        finally:
            chrome.quit()


def save(chrome: webdriver.Chrome, name: str) -> None:
    """Save a picture of what the browser shows."""
    picture = Image.open(io.BytesIO(chrome.get_screenshot_as_png())).convert("RGB")
    # A page has few colours, so a palette halves the file and hardly shows.
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


if __name__ == "__main__":
    take()
