"""The picture of a state graph in headless Chromium: keyboard, phone, dark mode, no script, and as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest
from elrcheck.checking.check import run_check
from elrcheck.report.formats import render
from elrcheck.report.html.html_states import to_svg
from elrcheck.results.check_report import CheckReport
from support.browser import MISSING, Browser
from support.html_pages import contrast, width
from support.report_samples import BROKEN

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]
CHOSEN = ".atlas .chosen"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    folder = tmp_path_factory.mktemp("run")
    request = CheckRequest(BROKEN, ("P-1*",), engine="reference", run_dir=folder, drawn=True)
    return run_check(request, Silent())


@pytest.fixture
def page(report: CheckReport, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(render(report, "html"), encoding="utf-8")
    return path


def test_states_are_chosen_with_the_keyboard(browser: Browser, page: Path, report: CheckReport) -> None:
    graph = report.small_graph
    assert graph is not None
    browser.emulate(1280, 1000, prefers_reduced_motion="reduce")
    browser.open(page)
    assert browser.run("return document.querySelectorAll('.state[tabindex=\"0\"]').length") == 1
    assert browser.run("return document.querySelector(arguments[0]).hidden", CHOSEN) is True
    browser.press(".states .start", "Home")
    assert browser.text(CHOSEN).startswith("State 0, depth 0, the initial one\n→ ")
    seen = [0]
    for key, by in (("ArrowDown", 1), ("ArrowDown", 1), ("ArrowRight", 0), ("ArrowUp", -1), ("End", None)):
        browser.type(key)
        number = int(browser.text(CHOSEN).split(",")[0].removeprefix("State "))
        if by is not None:
            assert graph.states[number].depth == graph.states[seen[-1]].depth + by
        seen.append(number)
    assert len(set(seen)) >= 4 and seen[-1] == len(graph.states) - 1
    last = graph.states[-1]
    text = browser.text(CHOSEN)
    assert f"from {last.parent} by {last.step}" in text
    assert all(f"{change.path}: {change.old} → {change.new}" in text for change in last.changes)
    joins = [s for s in graph.steps if seen[-1] in (s.source, s.target)]
    lines = browser.run("return document.querySelectorAll('.states .line:not(.apart)').length")
    assert lines == len({(s.source, s.target) for s in joins})
    browser.type("Escape")
    assert browser.run("return document.querySelectorAll('.states .apart').length") == 0
    assert browser.messages() == []


def test_a_phone_sees_the_first_state_and_scrolls_inside_a_box(browser: Browser, page: Path) -> None:
    browser.emulate(360, 740, prefers_reduced_motion="reduce")
    browser.open(page)
    assert width(browser) == (360, 360)
    left, right = browser.run(
        "const box = document.querySelector('.states .start').getBoundingClientRect();return [box.left, box.right]"
    )
    assert 0 < left < right < 360
    browser.click(".states .start")
    assert browser.text(CHOSEN).startswith("State 0")
    assert width(browser) == (360, 360) and browser.messages() == []


def test_lines_can_be_told_in_light_and_dark(browser: Browser, page: Path, report: CheckReport) -> None:
    """Every pattern once, and a contrast of 3 as WCAG asks of graphics."""
    for scheme in ("light", "dark"):
        browser.emulate(1280, 800, prefers_color_scheme=scheme)
        browser.open(page)
        back = browser.run("return getComputedStyle(document.body).backgroundColor")
        keys = browser.run(
            "return [...document.querySelectorAll('.key .edge')].map(e =>"
            " [getComputedStyle(e).stroke, getComputedStyle(e).strokeDasharray])"
        )
        assert len({dash for _, dash in keys}) == len(keys) > 4
        marks = browser.run("return [getComputedStyle(document.querySelector('.bad .shape')).fill]")
        assert all(contrast(ink, back) >= 3 for ink in (*(ink for ink, _ in keys), *marks))


def test_without_script_the_list_has_everything(browser: Browser, page: Path, report: CheckReport) -> None:
    assert report.small_graph is not None
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        rows = browser.run("return document.querySelectorAll('.listed tbody tr').length")
        assert rows == len(report.small_graph.states)
        assert browser.run("return document.querySelector('.atlas .keys').hidden") is True
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_the_file_says_what_a_state_is_while_it_has_the_focus(
    browser: Browser, report: CheckReport, tmp_path: Path
) -> None:
    assert report.small_graph is not None
    path = tmp_path / "states.svg"
    path.write_text(to_svg(report.small_graph), encoding="utf-8")
    script = (
        "return [...document.querySelectorAll('.said')]"
        ".filter(e => getComputedStyle(e).display !== 'none').map(e => e.id)"
    )
    for scheme in ("light", "dark"):
        browser.emulate(1280, 800, prefers_color_scheme=scheme)
        browser.open(path)
        assert browser.run(script) == []
        browser.run("document.getElementById('s7').focus()")
        assert browser.run(script) == ["t7"]
        ink, back = browser.run(
            "return [getComputedStyle(document.querySelector('.said text')).fill,"
            " getComputedStyle(document.querySelector('.page')).fill]"
        )
        assert contrast(ink, back) >= 4.5
    assert browser.messages() == []
