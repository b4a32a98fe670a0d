"""Write every generated page: `python docs/generate_pages.py`. A test compares.

The pages of findings are made from catalogue/findings/*.toml, the runs of the recipes and what was recorded of
releases; docs/proofs-by-variant.md from what docs/prove_variants.py recorded; the README's table from
catalogue/conformance.json and the rules as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.evidence.conformance import packaged
from elrcheck.catalogue.evidence.searched import of_older_model
from elrcheck.catalogue.packaged_findings import packaged_findings, worst_first
from elrcheck.catalogue.recipe_notation.recipe_file import recipes_of
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.kafka.upstream.issue_file import issue_names, issue_of
from elrcheck.laboratory.evidence.finding_page import FindingPage
from elrcheck.laboratory.evidence.hunt_page import hunt_page
from elrcheck.laboratory.evidence.hunted import packaged_hunt
from elrcheck.laboratory.evidence.proved_variants import packaged_proofs
from elrcheck.laboratory.evidence.summary_pages import conformance_table, index_page, proof_page, version_page

DOCS = Path(__file__).resolve().parent
FINDINGS = DOCS / "findings"
README = DOCS.parent / "README.md"
COMPARED = re.compile(r"(?<=<!-- compared -->\n).*?(?=<!-- end of compared -->)", re.DOTALL)


def main() -> None:
    """Write the pages, and remove those of findings that are gone."""
    pages = dict(generated())
    for page in FINDINGS.glob("*.md"):
        if page not in pages:
            page.unlink()
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")


def generated() -> Iterator[tuple[Path, str]]:
    """Yield each page with its text."""
    findings, releases = packaged_findings(), finding_table()
    yield DOCS / "findings.md", index_page(worst_first())
    older = sorted({finding for finding, _ in of_older_model()}, key=lambda name: int(name.removeprefix("F-")))
    yield FINDINGS / "table.md", version_page(releases, older)
    yield FINDINGS / "hunt.md", hunt_page(packaged_hunt())
    for finding in findings:
        rules = [rule.name for rule in audit_rules().by_name.values() if rule.hazard == finding.id]
        flags = [name for name in rules if name not in audit_rules().next_steps]
        warnings = [name for name in rules if name in audit_rules().next_steps]
        confirmed = issue_of(finding.id).confirmed if finding.id in issue_names() else ()
        page = FindingPage(finding, recipes_of(finding.id), flags, warnings, confirmed)
        yield FINDINGS / f"{finding.id}.md", page.text()
    properties = [fn.ident for fn in load_checked_model().always]
    yield DOCS / "proofs-by-variant.md", proof_page(packaged_proofs(), properties)
    yield README, COMPARED.sub(lambda _: conformance_table(packaged()), README.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
