"""axe-core in a page that a browser shows; `npm install` in tests/axe brings it."""

from __future__ import annotations

from support.browser import Browser
from support.places import TESTS

AXE = TESTS / "axe" / "node_modules" / "axe-core" / "axe.min.js"
MISSING_AXE = None if AXE.is_file() else "`npm install` was not run in tests/axe"
_VIOLATIONS = (
    "const done = arguments[arguments.length - 1];"
    "axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map("
    "one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)))"
)


def violations(browser: Browser) -> list[str]:
    """What axe finds in the page as it is now."""
    browser.run(AXE.read_text(encoding="utf-8"))
    return [str(violation) for violation in browser.run_async(_VIOLATIONS)]
