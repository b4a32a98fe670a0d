"""Writes the README's table of comparisons: `python docs/generate_conformance.py`. A test compares.

It is made from catalogue/conformance.json and from the rules as they are: run it after
`elrcheck conform --refresh`, and after a change of a rule that was compared.
"""

from __future__ import annotations

import re
from pathlib import Path

from elrcheck.catalogue.evidence.conformance import packaged
from elrcheck.laboratory.evidence.conformance_table import conformance_table

README = Path(__file__).resolve().parents[1] / "README.md"
TABLE = re.compile(r"(?<=<!-- compared -->\n).*?(?=<!-- end of compared -->)", re.DOTALL)


def page(readme: str) -> str:
    return TABLE.sub(lambda _: conformance_table(packaged()), readme)


if __name__ == "__main__":
    README.write_text(page(README.read_text(encoding="utf-8")), encoding="utf-8")
