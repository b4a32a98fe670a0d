"""docs/proofs-by-variant.md: how every property stands in every variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.catalogue.evidence.proved_variants import Breach, ProvedVariant, breaches
from elrcheck.laboratory.evidence.page_lines import paragraphs, table

WIDTH = 8
"""Variants in one table."""
COUNTED = ("variant", "proved", "refuted", "open", "lemmas left", "actions", "made")
HEAD = """\
# What is proved of each variant

<!-- Written by `python docs/generate_pages.py` from what `python docs/prove_variants.py` recorded. -->

`elrcheck prove --surviving` proves each variant with the largest set of lemmas of `kip_full` that every step preserves:
three brokers, min ISR 2, logs of one record, any order of the replica list, the actions of [proofs.md](proofs.md),
epochs and disturbances without bound. Where a rule of the variant breaks the lemmas about an action, the action is left
out: directories that fail or are lost (F-52), late answers (F-58), changes of min ISR where each makes the index of
ELR members staler ([commands](#commands)).

| Word | Means |
|---|---|
| proved | the lemmas that are left prove it |
| proved * | they prove it where fewer than min ISR brokers have ever lost records |
| **refuted** | a run of what the proof covers breaks it: a random walk, or the search of the finding named |
| open | neither: a lemma that its proof needs is not preserved, and no run is known that breaks it |
| | it says nothing here: ELR is off, replicas do not change, no recovery runs, or it needs `tracks_acks` |

A [property](model/properties.md) that says nothing in any variant has no row. [Findings](findings.md) break more, at
other sizes and with operations beyond the proof. A row older than that of `kip_full` has the lemmas and actions of its
day. `python docs/prove_variants.py VARIANT` repeats proof and walks.
"""


def proof_page(proofs: Sequence[ProvedVariant], properties: Sequence[str]) -> str:
    """Return the page as Markdown. properties: ids, in the order of the table."""
    breaches_of = {proof.variant: breaches(proof) for proof in proofs}
    lines = [HEAD, *table(COUNTED, map(_counts, proofs))]
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
