"""The README's table: which releases of Kafka each variant was compared with, and which comparisons are stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.catalogue.evidence.conformance import SIDES, Conformance
from elrcheck.laboratory.evidence.page_lines import table
from elrcheck.model.variants import VARIANTS

COLUMNS = (
    "Variant",
    "Kafka",
    *(f"{side.capitalize()}'s answers" for side in SIDES),
    "Differ, explained",
    "Not explained",
    "Day",
    "Today's rules",
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
