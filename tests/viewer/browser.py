"""A browser without a window, for tests and for the screenshot of the documentation."""

from pathlib import Path

from selenium import webdriver

__all__ = ["open_browser", "set_screen"]

_PHONE = 600


def open_browser(chromium: str, driver: str, folder: Path) -> webdriver.Chrome:
    """Return a browser that logs its messages and requests. Its own files are in `folder`."""
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "disable-dev-shm-usage", "no-first-run",
        "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars",
        "use-angle=swiftshader", "enable-unsafe-swiftshader",
        f"user-data-dir={folder}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def set_screen(chrome: webdriver.Chrome, width: int, height: int, scheme: str) -> None:
    """Give the browser a screen of this size in pixels, and a reader who prefers `light` or `dark` pages."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < _PHONE}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
