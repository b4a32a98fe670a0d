"""Finds ethos, the program that checks cvc5's proofs, and the rules that it reads.

ethos is that of the caller (`--ethos FILE`), else of the variable ETHOS, else the one on PATH; the rules are those of
`--signatures DIR`, else of CPC_SIGNATURES.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.programs import run_program
from elrcheck.proof.check_proofs import SIGNATURE

NEEDED = "--reference-define-fun"
REMEDY = "build ethos 0.2.3 or later from its source (github.com/cvc5/ethos), and put it on PATH, or set ETHOS"
RULES_REMEDY = "set CPC_SIGNATURES, or pass --signatures, the folder proofs/eo/cpc of cvc5's source"


@dataclass(frozen=True)
class ProofChecker:
    """A program that checks proofs. version: of ethos; digest: of the program and of all rules that it may read."""

    program: Path
    signatures: Path
    version: str
    digest: str


def find_ethos(program: Path | None, signatures: Path | None, environ: Mapping[str, str]) -> ProofChecker:
    """Return ethos and the rules; raise EnvironmentFault (exit 4) with a remedy for what is missing or too old."""
    named = str(program or environ.get("ETHOS") or "ethos")
    place = shutil.which(named, path=environ.get("PATH", ""))
    if place is None:
        raise EnvironmentFault("ethos-missing", f"no program {named}, which checks cvc5's proofs", help=REMEDY)
    folder = signatures or (Path(environ["CPC_SIGNATURES"]) if environ.get("CPC_SIGNATURES") else None)
    if folder is None or not (folder / SIGNATURE).is_file():
        where = f"{folder} has no {SIGNATURE}" if folder else "no folder is named"
        raise EnvironmentFault("ethos-missing", f"the rules of cvc5's proofs are missing: {where}", help=RULES_REMEDY)
    if NEEDED not in _answer(place, "--help"):
        raise EnvironmentFault("ethos-missing", f"{place} is not ethos, or is too old: it lacks {NEEDED}", help=REMEDY)
    digest = hashlib.sha256(Path(place).read_bytes())
    for file in sorted(folder.rglob("*.eo")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    version = next((line for line in _answer(place, "--show-config").splitlines() if line.strip()), "")
    number = version.removeprefix("This is ethos version ").rstrip(".")
    return ProofChecker(Path(place), folder, number, digest.hexdigest())


def _answer(program: str, option: str) -> str:
    try:
        return run_program([program, option], 30).output
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("ethos-missing", f"{program} does not run: {fault}", help=REMEDY) from fault
