"""Pages of a report, read strictly, and what holds for every one of them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from elrcheck.report.formats import render
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import ActionReport, VariableReport
from elrcheck.results.trace_view import Argument, Change, Step, TraceView, Truth

if TYPE_CHECKING:
    from support.browser import Browser

# What would run, load or end something if it were not escaped.
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'`${x}{{ 7*7 }}]]>\u2028"


class Page(HTMLParser):
    """Reads a page strictly; what a page must never have fails at once."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})
    SHAPES = frozenset({"rect", "line", "circle", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.within: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), "an attribute is given twice"
        assert tag not in ("iframe", "object", "embed", "base", "form", "img")
        assert not any(name.startswith("on") or name == "style" for name in attributes), "forbidden by the policy"
        self.tags.append((tag, attributes))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.SHAPES
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.within.setdefault(tag, []).append(data)

    def all(self, name: str) -> list[str]:
        """The values of an attribute."""
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]

    def text(self, tag: str = "body") -> str:
        return " ".join("".join(self.within[tag]).split())


def html(report: Report) -> str:
    return render(report, "html")


def assert_sound(report: Report) -> Page:
    """What holds for every page: sound links, everything named, nothing from elsewhere, always the same."""
    text = html(report)
    page = Page(text)
    ids = page.all("id")
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[A-Za-z0-9_-]+", ident) for ident in ids)
    anchors = [href[1:].partition("/")[0] for href in page.all("href") if href.startswith("#")]
    assert {*anchors, *page.all("aria-labelledby")} <= set(ids)
    assert len(anchors) + 1 == len(page.all("href")), "besides anchors only the empty icon"
    assert all(attributes.get("scope") in ("row", "col") for tag, attributes in page.tags if tag == "th")
    assert all(
        "aria-labelledby" in attributes or attributes.get("aria-hidden")
        for tag, attributes in page.tags
        if tag == "svg"
    )
    assert all(
        "aria-label" in attributes or "aria-labelledby" in attributes
        for _, attributes in page.tags
        if "role" in attributes and attributes["role"] in ("region", "group")
    )
    assert [tag for tag, _ in page.tags].count("h1") == 1 and ("html", {"lang": "en"}) in page.tags
    assert "http:" not in text and "https:" not in text and "url(" not in text
    assert html(report) == text, "the same report is the same page"
    return page


def hostile(value: Any) -> Any:
    """A copy of a report with every free text replaced."""
    trace = TraceView(
        {f"partition.{EVIL}": EVIL, EVIL: EVIL, f"broker[0].{EVIL}": EVIL},
        (Step(1, EVIL, (Argument("b", EVIL),), EVIL, (Change(f"partition.{EVIL}", EVIL, EVIL),), EVIL),),
        EVIL,
        truths=(Truth(EVIL, EVIL, "always", False, (1,)), Truth(EVIL + "2", EVIL, "sometimes")),
    )
    first = replace(
        value.properties[0],
        id=EVIL,
        name=EVIL,
        conjunct=EVIL,
        witness=EVIL,
        trace=EVIL,
        source=EVIL,
        counterexample=trace,
    )
    return replace(
        value,
        variant=EVIL,
        scope=EVIL,
        config={EVIL: EVIL},
        properties=(first, *value.properties[1:]),
        run_dir=EVIL,
        actions=(ActionReport(EVIL, 0, 0, 0, (EVIL,)),),
        variables=(VariableReport(EVIL, 1),),
    )


def width(browser: Browser) -> tuple[int, int]:
    wide, inner = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    return int(wide), int(inner)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2 between two colours of the form `rgb(1, 2, 3)`."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
