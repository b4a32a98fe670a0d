"""docs/proofs-by-variant.md: how every property stands in every variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.laboratory.evidence.page_lines import head, paragraphs, table
from elrcheck.laboratory.evidence.proved_variants import Breach, ProvedVariant, breaches

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
