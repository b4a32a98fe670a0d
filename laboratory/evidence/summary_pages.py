"""The pages that sum up: findings at a glance, properties by variant, and the README's table of comparisons.

They are docs/findings.md, docs/findings/table.md and docs/proofs-by-variant.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from elrcheck.catalogue.evidence.conformance import SIDES, Conformance
from elrcheck.catalogue.finding_file import Finding
from elrcheck.laboratory.evidence.page_lines import head, paragraphs, table
from elrcheck.laboratory.evidence.proved_variants import Breach, ProvedVariant, breaches
from elrcheck.model.variants import VARIANTS
from elrcheck.results.risk.finding_table import LEVELS, FindingRow, FindingTable, Level

COLUMNS = (
    "Variant",
    "Kafka",
    *(f"{side.capitalize()} answers" for side in SIDES),
    "Explained differences",
    "Unexplained",
    "Date",
    "Rules unchanged since",
)


def conformance_table(record: Conformance) -> str:
    """Return the Markdown table, with a row for every variant that was compared."""
    return "\n".join(table(COLUMNS, _rows(record)))


def _rows(record: Conformance) -> Iterator[Sequence[str]]:
    for variant in VARIANTS:
        entries = [entry for entry in record.comparisons if entry.variant == variant.name]
        if entries:
            stale = [entry.name for entry in entries if record.changes(entry)]
            yield (
                f"`{variant.name}`",
                ", ".join(dict.fromkeys(entry.kafka for entry in entries)),
                *(f"{sum(entry.compared for entry in entries if entry.side == side):,}" for side in SIDES),
                f"{sum(part.count for entry in entries for part in entry.explained):,}",
                f"{sum(entry.unexplained for entry in entries):,}",
                max(entry.day for entry in entries),
                "yes" if not stale else f"**stale**: {'; '.join(stale)}" if len(stale) < len(entries) else "**stale**",
            )


# ---------------------------------------------------------------------------- findings

SEVERITY = {"loss": "Records are lost", "unavailable": "No leader, or no broker"}


def index_page(findings: Sequence[Finding]) -> str:
    """Return docs/findings.md: a section for each severity that occurs, with a row for each finding, in their order."""
    lines = [head("findings")]
    for severity, title in SEVERITY.items():
        rows = [
            (_link("findings/", each.id), each.title, each.versions) for each in findings if each.severity == severity
        ]
        if rows:
            lines += (f"## {title}", "", *table(("finding", "what is wrong", "Kafka"), rows))
    return "\n".join(lines)


def version_page(finding_table: FindingTable, older: Collection[str]) -> str:
    """Return docs/findings/table.md: a row for each finding, a column for releases in a row with the same letters.

    older: findings whose searches are of an older model.
    """
    letters = {
        kafka: tuple("".join(_letter(row, each, kafka) for each in LEVELS) for row in finding_table.rows)
        for kafka in finding_table.releases
    }
    columns = [(", ".join(alike), column) for column, alike in groupby(letters, key=letters.__getitem__)]
    names = (_link("", row.finding) for row in finding_table.rows)
    rows = zip(names, *(column for _, column in columns), strict=True)
    stale = f"The model's source has changed since the searches of {', '.join(older)}."
    note = tuple(paragraphs(stale)) if older else ()
    return "\n".join((head("table"), *note, *table(("finding", *(releases for releases, _ in columns)), rows)))


def _link(folder: str, finding: str) -> str:
    return f"[{finding}]({folder}{finding}.md)"


def _letter(row: FindingRow, level: Level, kafka: str) -> str:
    states = {cell.state for cell in row.cells if (cell.level, cell.kafka) == (level, kafka)}
    letters: Iterator[str] = (
        letter
        for state, letter in (("shown", level[0].upper()), ("not-shown", level[0]), ("inconclusive", "?"))
        if state in states
    )
    return next(letters, "-")


WIDTH = 8
"""Variants in one table."""
COUNTED = ("variant", "proved", "refuted", "open", "lemmas left", "actions", "made")


def proof_page(proofs: Sequence[ProvedVariant], properties: Sequence[str]) -> str:
    """Return the page as Markdown. properties: ids, in the order of the table."""
    breaches_of = {proof.variant: breaches(proof) for proof in proofs}
    lines = [head("proofs"), *table(COUNTED, map(_counts, proofs))]
    for first in range(0, len(proofs), WIDTH):
        part = proofs[first : first + WIDTH]
        alike: dict[tuple[str, ...], list[str]] = {}
        for ident in properties:
            cells = tuple(_cell(proof, ident, breaches_of[proof.variant]) for proof in part)
            alike.setdefault(cells, []).append(ident)
        rows = ((", ".join(idents), *cells) for cells, idents in alike.items() if any(cells))
        lines += table(("property", *(proof.variant for proof in part)), rows)
    for proof in proofs:
        for step in proof.void:
            lines += paragraphs(f"Nothing is proved of {proof.variant}: without the dropped lemmas {step} is open.")
    lines += ("## Commands", "", *_commands(proofs))
    return "\n".join(lines).rstrip() + "\n"


def _counts(proof: ProvedVariant) -> Sequence[str]:
    standings = [proof.standing(name) for name in (*proof.proved, *proof.open)]
    proved = standings.count("proved") + standings.count("conditional")
    return (
        proof.variant,
        str(proved),
        str(standings.count("refuted")),
        str(standings.count("open")),
        f"{proof.lemmas} of {proof.lemmas + len(proof.dropped)}",
        str(proof.actions),
        proof.day,
    )


def _cell(proof: ProvedVariant, ident: str, breaches_of: Sequence[Breach]) -> str:
    standing = proof.standing(ident)
    inside = [one.finding for one in breaches_of if ident in one.properties and not one.outside]
    if standing == "refuted" or (inside and standing == "open"):
        return " ".join(["**refuted**", *dict.fromkeys(inside)])
    return {"proved": "proved", "conditional": "proved *", "open": "open", "silent": ""}[standing]


def _commands(proofs: Sequence[ProvedVariant]) -> Iterator[str]:
    """Yield the commands of the variants, with one line for all that differ in the variant alone."""
    variants: dict[str, list[str]] = {}
    for proof in proofs:
        variants.setdefault(proof.command.replace(proof.variant, "VARIANT"), []).append(proof.variant)
    yield "```sh"
    for command, names in variants.items():
        yield f"{command.replace('VARIANT', names[0])}   # {', '.join(names)}"
    yield from ("```", "")
