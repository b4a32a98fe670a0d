"""One page of each kind in headless Chromium: axe, console, requests, widths, keyboard and links to a state.

Needs `chromium` and `chromedriver`, and axe-core (`npm install` in tests/axe); skipped where one is missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from elrcheck.report.formats import render
from elrcheck.results.any_report import Report
from support.axe import MISSING_AXE, violations
from support.browser import MISSING, Browser
from support.html_pages import width
from support.page_samples import AUDIT, DRAWN, PAGES, SEVERAL, SWEEP

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING is not None, reason=str(MISSING))]
KINDS: dict[str, Report] = {**PAGES, "graph": DRAWN}
STATE = "c1-P-8"


def written(folder: Path, name: str) -> Path:
    path = folder / f"{name}.html"
    path.write_text(render(SWEEP if name == "sweep" else KINDS[name], "html"), encoding="utf-8")
    return path


def go(browser: Browser, page: Path, place: str) -> None:
    browser.call("POST", "/url", {"url": f"{page.resolve().as_uri()}#{place}"})
    browser.run_async("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")


@pytest.mark.skipif(MISSING_AXE is not None, reason=str(MISSING_AXE))
@pytest.mark.parametrize("name", [*KINDS, "sweep"])
def test_axe_finds_nothing_and_the_page_needs_nothing_else(browser: Browser, tmp_path: Path, name: str) -> None:
    page = written(tmp_path, name)
    for size, scheme in (((1280, 800), "light"), ((1280, 800), "dark"), ((390, 844), "light")):
        browser.emulate(*size, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        browser.open(page)
        assert width(browser) == (size[0], size[0]), "only boxes scroll sideways"
        assert violations(browser) == []
        browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
        assert violations(browser) == [], "nor in what was folded"
        assert width(browser) == (size[0], size[0])
        assert browser.run("return performance.getEntriesByType('resource').length") == 0
        assert browser.messages() == []


def test_a_link_opens_at_its_state(browser: Browser, tmp_path: Path) -> None:
    page = written(tmp_path, "check")
    browser.emulate(1280, 800, prefers_reduced_motion="reduce")
    now = f"#{STATE}-stepper .now"
    go(browser, page, f"{STATE}/2")
    assert browser.text(now).startswith("State 2 of 5, after Crash(b=0)")
    assert browser.run(f"return document.getElementById('{STATE}').closest('details').open") is True
    assert -1 < browser.run(f"return document.getElementById('{STATE}').getBoundingClientRect().top") < 400
    browser.press(f"#{STATE}-stepper", "ArrowRight")
    assert browser.run("return location.hash") == f"#{STATE}/3"
    go(browser, page, f"{STATE}/1")
    assert browser.text(now).startswith("State 1 of 5"), "on the page that is open already"
    go(browser, page, "c1-P-1")
    assert browser.text("#c1-P-1-stepper .now").startswith("State 4 of 4")
    go(browser, page, f"{STATE}/99")
    assert browser.text(now).startswith("State 5 of 5") and browser.messages() == []


def test_everything_is_reached_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    """Tab goes from the skip link through every control, and Enter unfolds what is folded."""
    browser.emulate(1280, 800, prefers_reduced_motion="reduce")
    browser.open(written(tmp_path, "check"))
    seen = []
    for _ in range(60):
        browser.type("Tab")
        seen.append(browser.run("return document.activeElement.className + document.activeElement.localName"))
        if seen[-1] == "body":
            break
    assert seen[0] == "skipa" and "stepperdiv" in seen and seen.count("button") >= 4
    folds = browser.run("return [...document.querySelectorAll('details.fold')].length")
    assert folds == len(SEVERAL.properties) - 4 and "summary" in seen
    browser.press("details.fold > summary", " ")
    assert browser.run("return document.querySelector('details.fold').open") is True
    assert browser.messages() == []


def test_a_table_is_sorted_and_filtered_with_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    offsets = (90, 5, 100, 7, 20, 3, 8, 60, 11)
    flags = tuple(replace(AUDIT.flags[0], offset=offset, topic=f"t{n}") for n, offset in enumerate(offsets))
    page = tmp_path / "flags.html"
    page.write_text(render(replace(AUDIT, flags=flags), "html"), encoding="utf-8")
    browser.emulate(390, 844)
    browser.open(page)
    table = "[aria-label^='Flags']"
    rows = f'return [...document.querySelectorAll("{table} tbody tr:not([hidden]) th")].map(cell => +cell.textContent)'
    for key, order in (("\ue007", sorted(offsets)), (" ", sorted(offsets, reverse=True)), (" ", list(offsets))):
        browser.press(f"{table} thead button", key)
        assert browser.run(rows) == order
    field = f"p.filter:has(+ {table})"
    browser.press(f"{field} input", "T3 low")
    assert browser.run(rows) == [7] and browser.text(f"{field} [role=status]") == "1 of 9 rows"
    browser.press(f"{field} input", "x")
    assert browser.run(rows) == [] and browser.text(f"{field} [role=status]") == "0 of 9 rows"
    assert width(browser) == (390, 390) and browser.messages() == []


def test_a_graph_fits_its_box_and_its_state_is_in_the_address(browser: Browser, tmp_path: Path) -> None:
    browser.emulate(1280, 800, prefers_reduced_motion="reduce")
    page = written(tmp_path, "graph")
    browser.open(page)
    inside = (
        "const box = document.querySelector('.atlas .scroll');"
        "return [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]"
    )
    assert browser.run(inside) == [0, 0]
    go(browser, page, "c1-states/1")
    assert browser.text(".atlas .chosen").startswith("State 1, depth 1")
    browser.type("Home")
    assert browser.run("return location.hash") == "#c1-states/0" and browser.messages() == []
