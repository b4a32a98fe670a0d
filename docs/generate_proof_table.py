"""Writes docs/proofs-by-variant.md: `python docs/generate_proof_table.py`. A test compares.

It is made from what `python docs/prove_variants.py` recorded, and from the findings: run it after both.
"""

from __future__ import annotations

from pathlib import Path

from elrcheck.catalogue.evidence.proved_variants import packaged_proofs
from elrcheck.invariants.modules import load_checked_model
from elrcheck.laboratory.evidence.proof_page import proof_page

PAGE = Path(__file__).resolve().parent / "proofs-by-variant.md"


def page() -> str:
    properties = {fn.ident: fn.name for fn in load_checked_model().always}
    return proof_page(packaged_proofs(), properties)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
