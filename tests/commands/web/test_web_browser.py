"""The explorer in headless Chromium: mouse and keyboard, links, searches, a phone, dark, and a quiet console.

Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver); skipped where they are not installed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from support.axe import MISSING_AXE, violations
from support.browser import MISSING, Browser
from support.html_pages import contrast, width
from support.web_client import PATH, Client, serving

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]
LINK = f"#variant=legacy&scope=two-brokers&path={quote('/'.join(PATH))}"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving() as served:
        yield served


READ = (
    "#choices .call",
    "#choices .delta",
    ".own span",
    ".own .changed",
    ".role.leader",
    ".status",
    "label",
    "#step",
    ".record .acks",
    ".held dt",
    "#steps .number",
    "#about",
)
COLOURS = """
let one = document.querySelector(arguments[0]), ink = getComputedStyle(one).color;
const clear = () => getComputedStyle(one).backgroundColor === "rgba(0, 0, 0, 0)";
while (clear() && one.parentElement) one = one.parentElement;
return [ink, getComputedStyle(one).backgroundColor];
"""
"""The colour of an element and what is behind it."""


def wait(browser: Browser, script: str, seconds: float = 60) -> None:
    """Until a script returns something true."""
    deadline = time.monotonic() + seconds
    while not browser.run(script):
        assert time.monotonic() < deadline, (script, browser.text("#fault"), browser.text("#news"))
        time.sleep(0.1)


def titled(browser: Browser, title: str) -> None:
    wait(browser, f"return document.getElementById('state-title').textContent === {json.dumps(title)}")


@pytest.fixture
def opened(browser: Browser, client: Client) -> Callable[[str], None]:
    def go(hash: str = "") -> None:
        browser.call("POST", "/url", {"url": "about:blank"})
        browser.messages()
        browser.emulate(1280, 1000, prefers_color_scheme="light", prefers_reduced_motion="reduce")
        browser.call("POST", "/url", {"url": client.server.address + hash})
        wait(browser, "return document.querySelector('#choices li') !== null")

    return go


def test_actions_are_taken_with_the_mouse_and_undone(browser: Browser, opened: Callable[[str], None]) -> None:
    opened("")
    titled(browser, "State 0 of 0")
    call = browser.text("#choices button .call")
    browser.click("#choices button")
    titled(browser, "State 1 of 1")
    assert browser.text("#step") == call
    assert browser.text("#steps [aria-current] .call") == call
    browser.click('[data-go="back"]')
    titled(browser, "State 0 of 1")
    browser.click('[data-go="next"]')
    titled(browser, "State 1 of 1")
    assert browser.messages() == []


def test_a_watched_expression_has_a_value_for_each_state_and_stands_in_the_link(
    browser: Browser, opened: Callable[[str], None]
) -> None:
    opened("#variant=legacy&scope=two-brokers&path=Fence(b=1)")
    titled(browser, "State 1 of 1")
    typed = "const e = document.getElementById('expression'); e.value = arguments[0]; e.form.requestSubmit()"
    browser.run(typed, "len(s.partition.isr)")
    wait(browser, "return document.querySelectorAll('#watched tbody td').length === 2")
    values = "return [...document.querySelectorAll('#watched tbody td')].map((cell) => cell.textContent).join(' ')"
    assert browser.run(values) == "2 1"
    assert "watch=len" in browser.run("return location.hash")
    browser.run(typed, "s.nothing")
    wait(browser, "return document.getElementById('fault').textContent.includes('bad-expression')")
    assert browser.run(values) == "2 1"
    browser.click("#watched tbody button")
    wait(browser, "return document.getElementById('watched').hidden")
    assert "watch" not in browser.run("return location.hash")


def test_the_keyboard_alone_is_enough(browser: Browser, opened: Callable[[str], None]) -> None:
    opened(LINK)
    titled(browser, "State 3 of 3")
    browser.type("ArrowDown", "ArrowDown")
    focus = "return document.activeElement.querySelector('.call').textContent"
    chosen = browser.run(focus)
    assert chosen == browser.run("return document.querySelectorAll('#choices .call')[1].textContent")
    browser.type("\ue007")
    titled(browser, "State 4 of 4")
    assert browser.text("#step") == chosen
    assert browser.run("return document.getElementById('choices').contains(document.activeElement)")
    browser.type("Home")
    titled(browser, "State 0 of 4")
    browser.type("ArrowRight")
    titled(browser, "State 1 of 4")
    browser.type("End")
    titled(browser, "State 4 of 4")
    browser.type("\ue003")
    titled(browser, "State 3 of 4")
    browser.type("/", *"unfence")
    calls = "return [...document.querySelectorAll('#choices .call')].map((one) => one.textContent)"
    assert browser.run(calls) == ["Unfence(b=1)"]
    assert browser.messages() == []


def test_a_link_holds_the_whole_path(browser: Browser, opened: Callable[[str], None]) -> None:
    opened(LINK)
    titled(browser, "State 3 of 3")
    assert browser.text("#fault") == ""
    held = browser.run("return location.hash")
    browser.click("#choices button")
    titled(browser, "State 4 of 4")
    assert browser.run("return location.hash") != held
    browser.run("location.hash = arguments[0]", held)
    titled(browser, "State 3 of 3")


@pytest.mark.parametrize(
    ("hash", "message"),
    [
        ("#variant=legacy&scope=two-brokers&path=Unfence(b=1)", "`Unfence(b=1)`: it is not enabled there: "),
        ("#variant=legacy&scope=two-brokers&path=%3Cimg src=x onerror=alert(1)%3E", "is not an action"),
        ("#variant=nothing&scope=two-brokers", "unknown variant `nothing`"),
        ("#variant=legacy&scope=/etc/passwd", "scope file"),
    ],
)
def test_a_link_that_cannot_be_followed_is_refused_politely(
    browser: Browser, opened: Callable[[str], None], hash: str, message: str
) -> None:
    opened(hash)
    titled(browser, "State 0 of 0")
    assert message in browser.text("#fault")
    assert browser.run("return document.querySelectorAll('#fault *').length") == 0
    refusals = [line for line in browser.messages() if "400 (Bad Request)" not in line]
    assert refusals == []


def test_a_trace_is_dropped_on_the_page_and_saved(
    browser: Browser, client: Client, opened: Callable[[str], None]
) -> None:
    trace = client.post("/api/write", {"model": {"variant": "legacy", "scope": "two-brokers"}, "path": PATH})
    opened("")
    browser.run(
        "const data = new DataTransfer();"
        "data.items.add(new File([arguments[0]], 'walk.trace.json'));"
        "window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));",
        json.dumps(trace),
    )
    titled(browser, "State 3 of 3")
    assert browser.text("#fault") == ""
    browser.run(
        "const made = URL.createObjectURL; window.kept = null;"
        "URL.createObjectURL = (blob) => {"
        " blob.text().then((text) => { window.kept = text; }); return made(blob); };"
    )
    browser.click("#save")
    wait(browser, "return window.kept !== null")
    assert json.loads(browser.run("return window.kept")) == trace
    assert browser.messages() == []


def test_a_search_runs_to_a_violation_while_the_page_stays_alive(
    browser: Browser, opened: Callable[[str], None]
) -> None:
    opened(LINK)
    titled(browser, "State 3 of 3")
    browser.run("document.getElementById('wanted').value = 'P-1'")
    browser.click("#begin")
    wait(browser, "return document.getElementById('begin').disabled")
    browser.click('[data-go="first"]')
    titled(browser, "State 0 of 3")
    wait(browser, "return document.getElementById('news').textContent.includes('P-1')", 300)
    wait(browser, "return document.getElementById('broken').textContent.includes('P-1')")
    assert browser.text("#judged .failed").startswith("✗ P-1")
    assert browser.messages() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(browser: Browser, opened: Callable[[str], None], scheme: str) -> None:
    opened(LINK)
    browser.emulate(390, 844, prefers_color_scheme=scheme)
    time.sleep(0.3)
    wide, inner = width(browser)
    assert wide <= inner == 390
    for selector in READ:
        ink, back = browser.run(COLOURS, selector)
        assert contrast(ink, back) >= 4.5, selector
    unnamed = "return [...document.querySelectorAll('button, input:not(.hidden), select')]"
    unnamed += ".filter((one) => !one.textContent.trim() && !one.labels?.length).length"
    assert browser.run(unnamed) == 0


@pytest.mark.skipif(MISSING_AXE is not None, reason=str(MISSING_AXE))
@pytest.mark.parametrize(("wide", "high", "scheme"), [(1600, 1000, "light"), (1200, 900, "dark"), (390, 844, "light")])
def test_axe_finds_nothing(
    browser: Browser, client: Client, opened: Callable[[str], None], wide: int, high: int, scheme: str
) -> None:
    opened(LINK)
    browser.devtools("Page.setBypassCSP", enabled=True)  # of axe itself: the page allows no other script
    try:
        browser.call("POST", "/refresh", {})
        browser.emulate(wide, high, prefers_color_scheme=scheme)
        titled(browser, "State 3 of 3")
        assert violations(browser) == []
        browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
        assert violations(browser) == [], "nor in what was folded"
        assert width(browser) == (wide, wide)
    finally:
        browser.devtools("Page.setBypassCSP", enabled=False)
