"""`elrcheck site`: every finding with a counterexample, and every scenario, is a page to step through from disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from elrcheck.catalogue.evidence.counterexamples import (
    Outdated,
    breaking_searches,
    followed,
    packaged_counterexamples,
    selection_of,
    shown_property,
)
from elrcheck.catalogue.packaged_findings import find_finding, packaged_findings
from elrcheck.catalogue.scenario_file import packaged_scenarios
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka import site
from elrcheck.kafka.site import finding_page, scenario_page
from support.axe import MISSING_AXE, violations
from support.browser import MISSING, Browser
from support.html_pages import Page, width

RECORDED = packaged_counterexamples()


def test_every_search_that_breaks_a_property_has_its_counterexample_on_record() -> None:
    """One that is missing, or too much: `python docs/record_counterexamples.py`."""
    searches = {
        (finding.id, selection_of(run), shown_property(run), run.breaks[shown_property(run)])
        for finding in packaged_findings()
        for run in breaking_searches(finding)
    }
    recorded = {
        (ident, one.selection, one.breaks, len(one.steps) if one.loop is None else one.loop)
        for ident, ones in RECORDED.items()
        for one in ones
    }
    assert recorded == searches and len(RECORDED) == 27


@pytest.mark.parametrize("ident", RECORDED)
def test_the_model_follows_what_is_recorded(ident: str) -> None:
    for one in RECORDED[ident]:
        trace = followed(one)
        assert len(trace.labels) == len(one.steps) and trace.rejection is None
        hit = {truth.id: truth.hits for truth in trace.truths}
        assert one.loop is not None or hit[one.breaks][-1] == len(one.steps)


def test_what_the_model_does_not_do_is_not_shown() -> None:
    one = RECORDED["F-20"][0]
    for changed, why in (
        (with_fields(one, steps=one.steps[:-1]), "holds at the end"),
        (with_fields(one, steps=("Fence(b=9)",)), "step 1, Fence"),
        (with_fields(one, steps=one.steps[1:]), "step "),
        (with_fields(one, settings=(*one.settings, "elr_intersect_replicas=true")), "step|holds"),
        (with_fields(one, breaks="P-999"), "no property P-999"),
    ):
        with pytest.raises(Outdated, match=why):
            followed(changed)
    waiting = RECORDED["F-21"][0]
    assert waiting.loop is not None
    with pytest.raises(Outdated):
        followed(with_fields(waiting, steps=waiting.steps[:1], loop=1))


def test_a_finding_is_a_page_to_step_through() -> None:
    traces = [(one, followed(one)) for one in RECORDED["F-20"]]
    page = Page(finding_page(find_finding("F-20"), traces, site.BACK))
    assert "show F-20" in page.text("h1") and "Counterexample: P-1 LeaderCompleteness" in page.text("h3")
    assert "What operators can do".lower() in page.text() and "brokers" in page.text() and "data-go" in str(page.tags)
    assert "index.html" in page.all("href")
    bare = Page(finding_page(find_finding("F-64"), ()))
    assert "show F-64" in bare.text("h1") and "data-go" not in str(bare.tags)


def test_a_scenario_is_a_page_to_step_through() -> None:
    scenario = next(one for one in packaged_scenarios() if one.id == "E-22")
    page = Page(scenario_page(scenario, load_checked_model()))
    assert "Run: " in page.text() and "data-go" in str(page.tags) and "E-22" in page.text("h1")
    assert {href.partition("/")[0][1:] for href in page.all("href") if "/" in href} <= set(page.all("id"))


def of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gallery has two findings and a scenario, and the documents are not made."""
    findings = tuple(map(find_finding, ("F-25", "F-68")))
    scenarios = tuple(one for one in packaged_scenarios() if one.id == "E-22")
    monkeypatch.setattr(site, "worst_first", lambda: findings)
    monkeypatch.setattr(site, "packaged_scenarios", lambda: scenarios)
    monkeypatch.setattr(site, "SETTINGS", Path("absent.yml"))
    site.gallery.cache_clear()


def test_without_documents_the_gallery_is_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Callable[..., tuple[int, str, str]]
) -> None:
    of_few(monkeypatch)
    code, out, _ = invoke("site", "--out", str(tmp_path / "site"))
    assert code == 0 and "2 findings, 1 scenario, 1 counterexample\n" in out
    assert "left out the documents: this installation does not contain them" in out
    assert "left out a trace of F-68: no trace is recorded" in out
    built = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")}
    assert built == {"index.html", *(f"gallery/{name}.html" for name in ("index", "F-25", "F-68", "E-22"))}
    listed = Page((tmp_path / "site/gallery/index.html").read_text(encoding="utf-8"))
    assert {"F-25.html", "F-68.html", "E-22.html"} <= set(listed.all("href"))
    site.gallery.cache_clear()


def test_a_trace_that_is_outdated_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Callable[..., tuple[int, str, str]]
) -> None:
    of_few(monkeypatch)
    old = with_fields(RECORDED["F-25"][0], steps=("Fence(b=9)",))
    monkeypatch.setattr(site, "packaged_counterexamples", lambda: {"F-25": (old,)})
    code, out, _ = invoke("site", "--out", str(tmp_path))
    assert code == 3 and "left out F-25, P-9: step 1, Fence(b=9)" in out
    site.gallery.cache_clear()


@pytest.mark.slow
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.skipif(MISSING_AXE is not None, reason=str(MISSING_AXE))
def test_axe_finds_nothing_in_a_finding(browser: Browser, tmp_path: Path) -> None:
    """Nor at the step that breaks the property, whose row is marked twice."""
    page = tmp_path / "F-20.html"
    traces = [(one, followed(one)) for one in RECORDED["F-20"]]
    page.write_text(finding_page(find_finding("F-20"), traces, site.BACK), encoding="utf-8")
    for size, scheme in (((1280, 900), "light"), ((1280, 900), "dark"), ((390, 844), "light")):
        browser.emulate(*size, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        browser.open(page)
        assert violations(browser) == [] and browser.messages() == []


@pytest.mark.slow
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_a_link_from_disk_opens_at_its_step(browser: Browser, tmp_path: Path) -> None:
    traces = [(one, followed(one)) for one in RECORDED["F-51"]]
    page = tmp_path / "F-51.html"
    page.write_text(finding_page(find_finding("F-51"), traces, site.BACK), encoding="utf-8")
    for size in ((1280, 900), (1440, 900), (390, 844)):
        browser.emulate(*size, prefers_reduced_motion="reduce")
        browser.call("POST", "/url", {"url": f"{page.resolve().as_uri()}#step=5"})
        browser.run_async("const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))")
        assert browser.text(".stepper .now").startswith("State 5 of 17")
        assert width(browser) == (size[0], size[0]) and browser.messages() == []
    browser.press(".stepper", "ArrowRight")
    assert browser.text(".stepper .now").startswith("State 6 of 17")
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
