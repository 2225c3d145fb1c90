"""A person who uses the page of a server in a real browser."""

import os
import shutil
from collections.abc import Callable
from typing import Literal, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.viewer.browser import set_screen

__all__ = ["CHROMIUM", "DRIVER", "HOW", "Reader", "needs_browser"]

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOW = "no browser: apt-get install -y chromium chromium-driver"
PATIENCE, POLL = 60, 0.05

T = TypeVar("T")

needs_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER) and "CI" not in os.environ, reason=HOW)


class Reader:
    """A person at the page, who is one user of the memory."""

    def __init__(self, chrome: webdriver.Chrome, url: str, user: str = "") -> None:
        self.chrome, self.url, self.user = chrome, url, user
        set_screen(chrome, 1200, 900, "light")
        chrome.get("about:blank")
        chrome.get(url)
        chrome.execute_script("sessionStorage.clear()")
        chrome.get_log("browser")  # type: ignore[no-untyped-call]
        chrome.refresh()
        if user:
            self.write("User", user)
            self.press("Show")

    def wait(self, done: Callable[[webdriver.Chrome], T | Literal[False]], what: str) -> T:
        """Wait until `done` returns something and raises nothing of the browser."""
        patience = WebDriverWait(self.chrome, PATIENCE, POLL, ignored_exceptions=[WebDriverException])
        return patience.until(done, what)

    def open(self, view: str) -> None:
        """Open a view by its link, and wait until it is shown."""
        self.press(view)
        self.wait(lambda _: self.all(f"main .view[aria-label={view.lower()}] :is(h2, label)") or False, view)

    def see(self, text: str) -> WebElement:
        """Wait for a text and return its innermost element."""
        holds = f"contains(normalize-space(), {_quoted(text)})"
        path = f"//*[{holds} and not(.//*[{holds}])]"
        return self.wait(lambda chrome: chrome.find_element(By.XPATH, path), text)

    def miss(self, text: str) -> None:
        """Wait until a text is gone."""
        self.wait(lambda _: text not in self.text, text)

    @property
    def text(self) -> str:
        return str(self.chrome.execute_script("return document.body.innerText"))

    def field(self, label: str) -> WebElement:
        path = f"//*[@id = //label[normalize-space() = {_quoted(label)}]/@for]"
        return self.wait(lambda chrome: chrome.find_element(By.XPATH, path), label)

    def write(self, label: str, text: str) -> None:
        def written(_: webdriver.Chrome) -> bool:
            field = self.field(label)
            field.clear()
            field.send_keys(text)
            return True

        self.wait(written, label)

    def press(self, text: str) -> None:
        """Click the first button or link of this name."""
        path = f"//*[(self::button or self::a or self::summary) and normalize-space() = {_quoted(text)}]"

        def clicked(chrome: webdriver.Chrome) -> bool:
            chrome.find_element(By.XPATH, path).click()
            return True

        self.wait(clicked, text)

    def all(self, selector: str) -> list[WebElement]:
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    @property
    def errors(self) -> list[str]:
        """What the browser complains of, as errors of scripts and what the policy of the page refuses."""
        log = self.chrome.get_log("browser")  # type: ignore[no-untyped-call]
        return [one["message"] for one in log if one["level"] == "SEVERE"]


def _quoted(text: str) -> str:
    assert "'" not in text or '"' not in text
    return f"'{text}'" if "'" not in text else f'"{text}"'
