"""Create the picture of the README, `docs/images/explained.png`, from the page of the demo's first answer.

`make browser` installs the browser. Then, from the root of the repository: `python -m tools.screenshot`.
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, index
from neurogated.viewer import explain, write_page
from tests.viewer.browser import open_browser, set_screen

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "explained.png"
QUESTION = "Why did the herring fail?"
WIDTH, HEIGHT, COLOURS = 1400, 1130, 256
# The picture shows the flows and the memories.
WITHOUT_KERNEL = "document.querySelector('.kernel').remove()"


def take() -> None:
    """Answer the question on the bundled sample, open the page that explains it, and save the picture of the page."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        raise SystemExit("no browser found; run: make browser")
    dataset = load_dataset(BUNDLED, dataset_folder("dataset", BUNDLED), "hipporag")
    with tempfile.TemporaryDirectory() as folder:
        with NeuroGraphMemory(config_for(dataset, MemoryConfig(save_dir=folder))) as memory:
            index(dataset, memory)
            # The first recall also loads the model, so the second one shows the usual time.
            page = [explain(memory, memory.recall(QUESTION)) for _ in range(2)][-1]
        chrome = open_browser(chromium, driver, Path(folder) / "browser")
        try:
            set_screen(chrome, WIDTH, HEIGHT, "light")
            chrome.get(write_page(page, Path(folder) / "why.html").as_uri())
            chrome.execute_script(WITHOUT_KERNEL)
            picture = Image.open(io.BytesIO(chrome.get_screenshot_as_png())).convert("RGB")
        finally:
            chrome.quit()
    # A page has few colours, so a palette halves the file and hardly shows.
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    take()
