"""The page of a server in a real browser, by clicks and keys only."""

import gzip
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

import neurogated.server
from neurogated import MemoryConfig
from tests.knowledge.plain_reader import flags_of
from tests.served import Servers, client
from tests.viewer.browser import open_browser, set_screen

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOW = "no browser: apt-get install -y chromium chromium-driver"
PATIENCE, POLL = 60, 0.05

T = TypeVar("T")

at_night = pytest.mark.nightly
"""By day, the tests without this mark show that the page works and keeps its users apart."""
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


HOSTILE = '"><script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">'
NPM, AXE = shutil.which("npm") or "", "axe-core@4.10.3"
VIEWS = ("People", "Search", "Prompt", "Map", "Questions", "Facts", "Energy", "History")
TEXTS = (
    "My sister lives in Lyon.",
    "My sister lives in Paris.",
    "I work at Acme.",
    "I work at Globex now.",
    "The boat on the lake has a red sail.",
    "The boat on the lake has a new red sail.",
    "The boat on the lake lost its red sail.",
)

pytestmark = needs_browser


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    assert CHROMIUM, HOW
    assert DRIVER, HOW
    driver = open_browser(CHROMIUM, DRIVER, tmp_path_factory.mktemp("browser"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def url(servers: Servers, read_by_model: Mapping[str, Any]) -> str:
    return servers.start(*flags_of(read_by_model))


@pytest.fixture
def reader(chrome: webdriver.Chrome, url: str, request: pytest.FixtureRequest) -> Iterator[Reader]:
    found = Reader(chrome, url, request.node.name)
    yield found
    assert found.errors == []


@pytest.fixture
def told(reader: Reader) -> Reader:
    """Return a reader whose memory has facts, a contradiction, and some memories that are alike."""
    with client(reader.url, user_id=reader.user) as sender:
        for text in TEXTS:
            assert sender.post("/v1/memories", json={"content": text}).status_code == 201
    return reader


def remember(reader: Reader, text: str) -> None:
    reader.write("New memory", text)
    reader.press("Remember")
    reader.see("Remembered.")


def choose(reader: Reader, action: str) -> None:
    """Choose an action in the menu of the first memory."""

    def opened(_: webdriver.Chrome) -> bool:
        reader.all("#results .menu summary")[0].click()
        return True

    reader.wait(opened, "the menu")
    reader.press(action)


def agree(reader: Reader) -> None:
    """Say yes to the question that the page asks."""

    def agreed(chrome: webdriver.Chrome) -> bool:
        chrome.switch_to.alert.accept()
        return True

    reader.wait(agreed, "the question")


def test_a_memory_is_added_found_corrected_forgotten_and_brought_back_by_clicks(reader: Reader) -> None:
    remember(reader, "Ana collects old maps of Lyon.")
    remember(reader, "Ben paints boats.")
    assert [one.text for one in reader.all("#results .fresh .content")] == ["Ben paints boats."]
    assert reader.all("#results .content")[0].text == "Ben paints boats."
    reader.write("Question", "What does Ana collect?")
    reader.press("Recall")
    reader.see("Links followed")
    assert reader.all("#results .memory .content")[0].text == "Ana collects old maps of Lyon."
    assert "its words or meaning fit the question" in reader.all("#results .memory .why")[0].text
    reader.press("Numbers")
    assert "similarity" in reader.all("#results .memory .sum")[0].text
    choose(reader, "Correct")
    reader.write("The right text", "Ana collects stamps.")
    reader.press("Save")
    reader.see("Corrected.")
    choose(reader, "Forget")
    reader.see("Forgotten.")
    reader.miss("Ana collects stamps.")
    reader.press("Undo")
    reader.see("Ana collects stamps.")
    reader.press("Undo the last change")
    reader.open("History")
    reader.see("Ana collects stamps.")


@at_night
def test_the_page_opens_on_its_users_and_filters_the_memories_of_one(reader: Reader) -> None:
    with client(reader.url, user_id=reader.user) as sender:
        for number, day in enumerate(("2026-03-01", "2026-03-02", "2026-03-03")):
            body = {"content": f"Note {number}.", "timestamp": f"{day}T12:00:00Z", "session_id": f"talk {number // 2}"}
            assert sender.post("/v1/memories", json={**body, "tags": [f"tag {number}"]}).status_code == 201
    reader.chrome.execute_script("sessionStorage.clear()")
    reader.chrome.get("about:blank")
    reader.chrome.get(reader.url)
    reader.see("People (")
    reader.press(reader.user)
    reader.see("3 of 3 memories, the newest first")
    assert [one.text for one in reader.all("#results .content")] == ["Note 2.", "Note 1.", "Note 0."]
    for label, value, left in (("Session", "talk 0", 2), ("Tag", "tag 1", 1), ("Tag", "any", 2), ("Session", "any", 3)):
        Select(reader.field(label)).select_by_visible_text(value)
        reader.see(f"{left} of 3 memories")
    with client(reader.url) as admin:
        assert {"user_id": reader.user, "memories": 3} in [
            {name: one[name] for name in ("user_id", "memories")} for one in admin.get("/v1/users").json()
        ]


@at_night
def test_memories_are_exported_forgotten_together_and_imported_with_a_ledger(reader: Reader, tmp_path: Path) -> None:
    with client(reader.url, user_id=reader.user) as sender:
        for number in range(3):
            body = {"content": f"Note {number}.", "session_id": "diary", "tags": ["old"]}
            assert sender.post("/v1/memories", json=body).status_code == 201
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    reader.chrome.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    reader.chrome.refresh()
    reader.press("Export these 3")
    (file,) = reader.wait(lambda _: [*tmp_path.glob("*.jsonl")] or False, "the file")
    reader.press("Forget these 3")
    agree(reader)
    reader.see("3 memories are forgotten.")
    reader.see("There are no memories yet.")
    file.write_text(f"{file.read_text(encoding='utf-8')}A plain text.\n{{no JSON\n", encoding="utf-8")
    reader.press("Import")
    reader.field("File").send_keys(str(file))
    reader.press("Add its lines")
    reader.see("5 lines are read: 4 memories are added, 0 skipped, 1 refused.")
    reader.see("Line 5 is refused")
    with client(reader.url, user_id=reader.user) as sender:
        found = sender.get("/v1/memories").json()["memories"]
    assert sorted((one["content"], one["scope"]["session_id"], one["tags"]) for one in found) == [
        ("A plain text.", None, []),
        *((f"Note {number}.", "diary", ["old"]) for number in range(3)),
    ]


@at_night
def test_a_wrong_fact_is_taken_back_and_a_user_is_erased_by_clicks(reader: Reader) -> None:
    fact = {"subject": "Ana", "attribute": "home", "value": "Zanzibar", "valid_from": "2026-03-01T00:00:00Z"}
    with client(reader.url, user_id=reader.user) as sender:
        assert sender.post("/v1/facts", json=fact).status_code == 201
    reader.open("Facts")
    reader.see("Timeline")
    reader.press("Wrong")
    reader.see("The fact is forgotten.")
    reader.miss("Zanzibar")
    reader.press("Undo")
    reader.see("Wrong")
    reader.open("People")
    reader.all(f"[aria-label='Delete all memories of {reader.user}']")[0].click()
    agree(reader)
    reader.see(f"1 memories of {reader.user} are deleted.")
    assert reader.all(f"[aria-label='Delete all memories of {reader.user}']") == []


@at_night
def test_the_routes_of_rest_are_described_on_a_page(reader: Reader) -> None:
    reader.press("REST")
    reader.see("POST /v1/memories")
    reader.see("Remember texts or messages.")


@at_night
def test_the_prompt_is_previewed_as_an_agent_gets_it_with_what_had_no_place(told: Reader) -> None:
    told.open("Prompt")
    told.write("Question or task", "Which sail has the boat on the lake?")
    told.write("Budget in tokens", "70")
    told.press("Preview")
    with client(told.url, user_id=told.user) as agent:
        body = {"query": "Which sail has the boat on the lake?", "token_budget": 70, "explain": True}
        context = agent.post("/v1/context", json=body).json()
    told.see("The text as one")
    told.press("The text as one")
    assert told.wait(lambda _: told.all("#whole")[0].text, "the text") == context["text"]
    for choice, line in zip(context["choices"].values(), told.all("#prompt li .facts"), strict=True):
        assert f"{choice['tokens']} tokens. Number {choice['rank']} of the recall. It is here because" in line.text
    assert context["left_out"]
    told.press(f"Left out ({len(context['left_out'])})")
    told.see("They were recalled, too")


@at_night
def test_a_contradiction_is_resolved_and_the_fact_before_stays_in_its_history(told: Reader) -> None:
    told.open("Questions")
    told.see("as true no longer")
    told.miss("false")
    told.press("The second is right")
    told.see("Answered.")
    told.see("as wrong")
    told.miss("false")
    told.press("Undo")
    told.see("Undone.")
    told.miss("as wrong")
    told.see("as true no longer")
    told.open("Facts")
    told.see("Before (1)")
    told.write("Subject", "sister")
    told.press("Show facts")
    told.miss("Globex")
    told.see("Paris")


def open_boats(reader: Reader) -> None:
    """Open the community of the boat on the map."""
    reader.open("Map")
    (boats,) = (one for one in reader.all(".regions button") if "boat" in one.text)
    boats.click()
    reader.see("those with the most energy first")


@at_night
def test_the_map_leads_from_a_community_to_a_memory_and_to_its_neighbours(told: Reader) -> None:
    open_boats(told)
    told.press(TEXTS[4])
    told.see("Neighbours")
    told.press(TEXTS[5])
    told.wait(lambda _: told.all("article .content")[0].text == TEXTS[5], TEXTS[5])
    told.open("Energy")
    assert "now 0." in str(told.all("svg.curve")[0].accessible_name)


def test_no_text_of_a_memory_is_read_as_markup(reader: Reader) -> None:
    body = {"content": HOSTILE, "title": HOSTILE, "metadata": {HOSTILE: HOSTILE}, "tags": ["tag"]}
    with client(reader.url, user_id=reader.user) as sender:
        (known,) = sender.post("/v1/memories", json=body).json()["ids"]
        sender.post("/v1/memories", json={"content": f"My name is {HOSTILE}. {HOSTILE}"})
        sender.post("/v1/memories", json={"content": f"My name is not {HOSTILE}. {HOSTILE}"})
    reader.write("Question", HOSTILE)
    reader.press("Recall")
    reader.see("Links followed")
    choose(reader, "Details")
    assert reader.all(".details")[0].is_displayed()
    for name in VIEWS:
        reader.open(name)
        assert reader.chrome.title == "neurogated"
        assert reader.all("main img, main script") == []
    reader.chrome.get(f"{reader.url}/#map/{known}")
    reader.see("<script>")
    assert reader.chrome.title == "neurogated"


@at_night
def test_keys_alone_ask_open_correct_and_walk_the_map(told: Reader) -> None:
    def keys(*pressed: str) -> None:
        ActionChains(told.chrome).send_keys(*pressed).perform()

    def reach(selector: str) -> None:
        for _ in range(60):
            keys(Keys.TAB)
            if told.chrome.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return
        pytest.fail(f"Tab does not reach {selector}")

    told.see("Search")
    reach("input[name=question]")
    keys("boat on the lake", Keys.ENTER)
    told.see("Links followed")
    reach("#results .menu summary")
    keys(Keys.ENTER, Keys.TAB, Keys.ENTER, " It is fast.")
    reach("form.correct button")
    keys(Keys.ENTER)
    told.see("Corrected.")
    told.chrome.execute_script("document.activeElement.blur()")
    reach("nav a[href='#map']")
    keys(Keys.ENTER)
    told.see("Communities")
    reach(".sky canvas")
    keys("+", "+", Keys.ARROW_LEFT)
    told.wait(lambda _: told.all(".tip")[0].text, "the words of the memory in the middle")
    keys("0", Keys.ENTER)
    told.see("Neighbours")


@at_night
def test_every_control_has_a_name_and_every_view_fits_a_phone(told: Reader) -> None:
    set_screen(told.chrome, 360, 740, "dark")
    for name in VIEWS:
        told.open(name)
        told.miss("…")
        assert {"false", "null", "undefined", "NaN"}.isdisjoint(told.text.split())
        controls = told.all("button, input, textarea, select, a, canvas[tabindex], [role=img], [role=region]")
        nameless = [
            one.get_attribute("outerHTML") for one in controls if one.is_displayed() and not one.accessible_name
        ]
        assert nameless == []
        assert told.chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the script of axe-core, from the registry of npm."""
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run([NPM, "pack", "--silent", AXE], cwd=folder, check=True)
    (packed,) = folder.glob("axe-core-*.tgz")
    with tarfile.open(packed) as found:
        script = found.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.mark.nightly
@pytest.mark.skipif(not NPM, reason="npm fetches axe-core")
@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation_in_any_view(told: Reader, axe: str, width: int, look: str) -> None:
    with client(told.url, user_id=told.user) as sender:
        for subject, value in (("Ana", "Lyon"), ("Ben", "Porto")):
            sender.post("/v1/facts", json={"subject": subject, "attribute": "home", "value": value})
    set_screen(told.chrome, width, 900, look)
    told.chrome.set_script_timeout(60)

    def see_no_violation(state: str) -> None:
        told.chrome.execute_script(axe)
        found = told.chrome.execute_async_script("axe.run().then(found => arguments[0](found.violations))")
        assert [(one["id"], node["html"]) for one in found for node in one["nodes"]] == [], state

    for view in VIEWS:
        told.open(view)
        see_no_violation(view)
    told.open("Search")
    told.write("Question", "Where does my sister live?")
    told.press("Recall")
    told.see("Links followed")
    told.press("Numbers")
    told.all("#results .menu summary")[0].click()
    see_no_violation("a recall with its numbers and a menu")
    told.open("Prompt")
    told.write("Question or task", "Which sail has the boat on the lake?")
    told.press("Preview")
    told.see("The text as one")
    see_no_violation("a prompt")
    open_boats(told)
    told.press(TEXTS[4])
    told.see("Neighbours")
    see_no_violation("a memory on the map")


def test_the_page_asks_for_a_key_and_shows_a_second_user_nothing_of_the_first(
    chrome: webdriver.Chrome, tmp_path: Path
) -> None:
    known_keys, file = neurogated.server.Keys(), tmp_path / "server_keys.json"
    grants = [neurogated.server.Grant(MemoryConfig().namespace, name) for name in ("ana", "ben")]
    ana, ben = (known_keys.create(file, grant) for grant in grants)
    with Servers(tmp_path) as servers:
        url = servers.start()
        with client(url, ana) as sender:
            (known,) = sender.post("/v1/memories", json={"content": "Zanzibar is my secret."}).json()["ids"]
        for key, sees in ((ana, True), (ben, False)):
            reader = Reader(chrome, url)
            reader.see("This server needs a key")
            reader.write("Key", "wrong")
            reader.press("Enter")
            reader.write("Key", key)
            reader.press("Enter")
            reader.see("Zanzibar" if sees else "There are no memories yet.")
            reader.open("Map")
            chrome.get(f"{url}/#map/{known}")
            reader.see("Zanzibar" if sees else "there is no memory")
            for name in VIEWS:
                reader.open(name)
                assert sees or "Zanzibar" not in reader.text
        chrome.execute_script("sessionStorage.clear()")


def test_the_page_is_small_and_asks_for_nothing_beyond_its_server() -> None:
    files = [one for one in Path(neurogated.server.__file__).with_name("page").iterdir() if one.is_file()]
    assert sum(len(gzip.compress(one.read_bytes())) for one in files) < 60_000
    assert [one.name for one in files if "https:" in one.read_text(encoding="utf-8")] == []
