"""The HTML report in headless Chromium: keyboard, console, phone width, dark mode, print, and with no script.

Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver); skipped where they are not installed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.report.formats import render
from elrcheck.results.check_report import CheckReport
from support.browser import MISSING, Browser
from support.html_pages import contrast, hostile, width
from support.report_samples import FULL, GATE, PROVE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]
STEPPER = "#c1-P-1-stepper"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    request = CheckRequest(Selection("legacy", "two-brokers"), ("P-1",), run_dir=tmp_path_factory.mktemp("run"))
    return run_check(request, Silent())


@pytest.fixture
def page(report: CheckReport, tmp_path: Path) -> Path:
    return write(tmp_path / "page.html", report)


def write(path: Path, report: CheckReport) -> Path:
    path.write_text(render(report, "html"), encoding="utf-8")
    return path


def test_the_trace_is_stepped_with_the_keyboard(browser: Browser, page: Path, report: CheckReport) -> None:
    view = report.properties[0].counterexample
    assert view is not None
    last = len(view.steps)
    browser.emulate(1280, 1000, prefers_reduced_motion="reduce")
    browser.open(page)
    now = f"{STEPPER} .now"
    assert browser.text(now).startswith(f"State {last} of {last}"), "the failing state comes first"
    browser.press(STEPPER, "Home")
    assert browser.text(now) == f"State 0 of {last}, the first"
    browser.press(STEPPER, "ArrowRight", "ArrowRight")
    assert browser.text(now) == f"State 2 of {last}, after {view.steps[1].label}"
    browser.press(STEPPER, "End", "ArrowRight")
    assert browser.text(now).startswith(f"State {last} of {last}")
    assert browser.text(f"{STEPPER} .judged").startswith("✗ False here: P-1 LeaderCompleteness")
    browser.press(STEPPER, "ArrowLeft")
    assert "P-1" not in browser.text(f"{STEPPER} .judged")
    browser.press(STEPPER, "Home", "ArrowLeft")
    assert browser.text(now).startswith("State 0 of")
    browser.click(f"{STEPPER} [data-go=last]")
    assert browser.text(now).startswith(f"State {last} of {last}")
    assert browser.messages() == []


def test_every_state_is_that_of_the_trace(browser: Browser, page: Path, report: CheckReport) -> None:
    """The values shown after each step, and which of them are marked as changed."""
    view = report.properties[0].counterexample
    assert view is not None
    browser.emulate(1280, 1000, prefers_reduced_motion="reduce")
    browser.open(page)
    values = dict(view.initial)
    browser.click(f"{STEPPER} [data-go=first]")
    script = (
        "return [...document.querySelectorAll('[data-leaf]')].map(e => [e.dataset.leaf,"
        "e.querySelector('.value').textContent, e.classList.contains('changed')])"
    )
    for step in view.steps:
        browser.click(f"{STEPPER} [data-go=next]")
        values |= {change.path: change.new for change in step.changes}
        changed = {change.path for change in step.changes}
        result = browser.run(script)
        assert {path: value for path, value, _ in result} == values
        assert {path for path, _, marked in result if marked} == changed
        assert browser.run("return document.querySelectorAll('.step[aria-current=step]').length") == 1


def test_a_phone_needs_no_sideways_scrolling(browser: Browser, page: Path, tmp_path: Path) -> None:
    pages = [page, *(tmp_path / name for name in ("gate.html", "prove.html"))]
    for path, report in zip(pages[1:], (GATE, PROVE), strict=True):
        path.write_text(render(report, "html"), encoding="utf-8")
    browser.emulate(360, 740)
    for path in pages:
        browser.open(path)
        assert width(browser) == (360, 360), path.name
    small = browser.run(
        "return [...document.querySelectorAll('button')].filter(b => b.offsetParent && b.offsetHeight < 40).length"
    )
    assert small == 0


def test_dark_and_light_differ_and_both_can_be_read(browser: Browser, page: Path) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        browser.emulate(1280, 800, prefers_color_scheme=scheme)
        browser.open(page)
        seen[scheme] = browser.run(
            "return ['body', '.failed', '.passed', '.undecided', '.small', 'a'].map(s => {"
            "const e = s === 'body' ? document.body : document.querySelector('main ' + s)"
            " || document.querySelector('nav ' + s); return e ? getComputedStyle(e).color : null})"
            ".concat(getComputedStyle(document.body).backgroundColor)"
        )
    assert seen["light"][-1] != seen["dark"][-1]
    for *inks, back in seen.values():
        assert all(contrast(ink, back) >= 4.5 for ink in inks if ink)


def test_hostile_names_run_nothing(browser: Browser, tmp_path: Path) -> None:
    browser.emulate(1280, 1000, prefers_reduced_motion="reduce")
    browser.open(write(tmp_path / "evil.html", hostile(FULL)))
    browser.click(".stepper [data-go=first]")
    browser.click(".stepper [data-go=next]")
    assert browser.text(".stepper .now").startswith("State 1 of 1, after </script><script>alert(1)")
    assert browser.messages() == []
    assert browser.run("return document.images.length") == 0


def test_motion_is_only_for_those_who_like_it(browser: Browser, page: Path) -> None:
    for wish, behaviour in (("reduce", "auto"), ("no-preference", "smooth")):
        browser.emulate(1280, 800, prefers_reduced_motion=wish)
        browser.open(page)
        result = browser.run("return getComputedStyle(document.documentElement).scrollBehavior")
        assert result == behaviour


def test_without_script_everything_is_there(browser: Browser, page: Path, report: CheckReport) -> None:
    view = report.properties[0].counterexample
    assert view is not None
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert browser.run("return document.querySelector('.stepper').hidden") is True
        assert browser.run("return document.querySelectorAll('.step').length") == len(view.steps) + 1
        assert browser.run("return document.querySelectorAll('[data-leaf]').length") == len(view.initial)
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_print_opens_what_is_folded(browser: Browser, page: Path, report: CheckReport) -> None:
    browser.emulate(1280, 800)
    browser.open(page)
    assert browser.run("return document.querySelectorAll('details:not([open])').length") > 0
    assert len(browser.devtools("Page.printToPDF")["data"]) > 10_000
    assert browser.run("return document.querySelectorAll('details:not([open])').length") == 0


def test_the_growth_of_one_level_is_drawn(browser: Browser, tmp_path: Path) -> None:
    search = replace(FULL.search, levels=(1,))
    browser.open(write(tmp_path / "one.html", replace(FULL, search=search)))
    assert browser.run("return document.querySelectorAll('.growth rect').length") == 1
    assert browser.messages() == []
