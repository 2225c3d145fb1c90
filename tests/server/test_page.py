"""The page of a server in a real browser, by clicks and keys only."""

import os
import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.served import Servers, client
from tests.viewer.browser import open_browser, set_screen

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOW = "no browser: apt-get install -y chromium chromium-driver"
PATIENCE = 20
HOSTILE = '"><script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">'

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason=HOW)


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    assert CHROMIUM, HOW
    assert DRIVER, HOW
    driver = open_browser(CHROMIUM, DRIVER, tmp_path_factory.mktemp("browser"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def url(servers: Servers) -> str:
    return servers.start()


class Reader:
    """A person at the page, who is one user of the memory."""

    def __init__(self, chrome: webdriver.Chrome, url: str, user: str | None) -> None:
        self.chrome, self.url = chrome, url
        set_screen(chrome, 1200, 900, "light")
        chrome.get("about:blank")
        chrome.get(url)
        chrome.execute_script("sessionStorage.clear()")
        chrome.get_log("browser")  # type: ignore[no-untyped-call]
        chrome.refresh()
        if user is not None:
            self.write("User", user)
            self.press("Show")

    def see(self, text: str) -> WebElement:
        """Wait for a text and return its innermost element."""
        holds = f"contains(normalize-space(), {_quoted(text)})"
        path = f"//*[{holds} and not(.//*[{holds}])]"
        return WebDriverWait(self.chrome, PATIENCE).until(lambda chrome: chrome.find_element(By.XPATH, path), text)

    def miss(self, text: str) -> None:
        """Wait until a text is gone."""
        WebDriverWait(self.chrome, PATIENCE).until(lambda _: text not in self.text, text)

    @property
    def text(self) -> str:
        return str(self.chrome.execute_script("return document.body.innerText"))

    def field(self, label: str) -> WebElement:
        path = f"//*[@id = //label[normalize-space() = {_quoted(label)}]/@for]"
        return WebDriverWait(self.chrome, PATIENCE).until(lambda chrome: chrome.find_element(By.XPATH, path), label)

    def write(self, label: str, text: str) -> None:
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def press(self, text: str) -> None:
        """Click the first button or link of this name."""
        path = f"//*[(self::button or self::a or self::summary) and normalize-space() = {_quoted(text)}]"

        def clicked(chrome: webdriver.Chrome) -> bool:
            chrome.find_element(By.XPATH, path).click()
            return True

        WebDriverWait(self.chrome, PATIENCE, ignored_exceptions=[Exception]).until(clicked, text)

    @property
    def errors(self) -> list[str]:
        return [one["message"] for one in self.chrome.get_log("browser")]  # type: ignore[no-untyped-call]


def _quoted(text: str) -> str:
    assert "'" not in text or '"' not in text
    return f"'{text}'" if "'" not in text else f'"{text}"'


@pytest.fixture
def reader(chrome: webdriver.Chrome, url: str, request: pytest.FixtureRequest) -> Iterator[Reader]:
    found = Reader(chrome, url, request.node.name)
    yield found
    assert found.errors == []


def remember(reader: Reader, text: str) -> None:
    reader.write("New memory", text)
    reader.press("Remember")
    reader.see("Remembered.")


def test_a_memory_is_added_found_corrected_forgotten_and_brought_back_by_clicks(reader: Reader) -> None:
    remember(reader, "Ana collects old maps of Lyon.")
    remember(reader, "Ben paints boats.")
    reader.write("Question", "What does Ana collect?")
    reader.press("Recall")
    reader.see("Links followed")
    assert (
        reader.chrome.find_element(By.CSS_SELECTOR, "#results .memory .content").text
        == "Ana collects old maps of Lyon."
    )
    assert "similarity" in reader.chrome.find_element(By.CSS_SELECTOR, "#results .memory .sum").text
    reader.press("Correct")
    reader.write("The right text", "Ana collects stamps.")
    reader.press("Save")
    reader.see("Corrected.")
    reader.press("Forget")
    reader.see("Forgotten.")
    reader.miss("Ana collects stamps.")
    reader.press("Undo")
    reader.see("Ana collects stamps.")
    reader.press("Undo the last change")
    reader.press("History")
    reader.see("Ana collects stamps.")


def test_no_text_of_a_memory_is_read_as_markup(reader: Reader, url: str) -> None:
    user = reader.field("User").get_property("value")
    with client(url, user_id=user) as sender:
        body = {"content": HOSTILE, "title": HOSTILE, "metadata": {HOSTILE: HOSTILE}, "tags": ["tag"]}
        assert sender.post("/v1/memories", json=body).status_code == 201
    reader.write("Question", HOSTILE)
    reader.press("Recall")
    reader.see("Links followed")
    reader.press("Details")
    for name in ("History", "Search"):
        reader.press(name)
        reader.see("<script>")
        assert reader.chrome.title == "neurogated"
        assert reader.chrome.find_elements(By.CSS_SELECTOR, "main img, main script") == []
