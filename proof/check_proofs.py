"""Check proof objects of a certificate by ethos: `python check_proofs.py CERTIFICATE PROOFS ETHOS SIGNATURES`.

It needs neither elrcheck nor a solver. For each question of the certificate, PROOFS has a proof in CPC, the calculus of
cvc5: NAME/07.cpc.gz for question 7 of the script NAME.smt2.gz. ETHOS is the program that checks it, SIGNATURES the
folder of cvc5's sources with the rules (`proofs/eo/cpc`). All that a proof may assume is the text of its question,
which is made here from the certificate. A proof may define abbreviations, but neither declare nor include anything, and
its last step derives `false` from no further assumption. Exit code 0: every question has a proof without holes;
1: some have none, with their names; 2: no such folder or program.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

SIGNATURE = "Cpc.eo"
LIMIT = 512 * 2**20
QUERY, ASKS = 4, "(check-sat-assuming ("
NAME = r"(?:\|[^|]*\||[^\s()|]+)"
TOKEN = re.compile(r"[()]|\|[^|]*\||[^\s()|]+")
PARAMETERS = re.compile(rf"\(define-fun ({NAME}) (\((?:\({NAME} {NAME}\) ?)+\)) Bool (.*)\)")
PARAMETER = re.compile(rf"\(({NAME}) ({NAME})\)")
COMMAND = re.compile(r"\((?:define @t\d+ \(\)|(?:assume|assume-push|step|step-pop) @p\d+) ")
OTHER = re.compile(
    r"\(\s*(?:declare-|program\b|include\b|reference\b|set-|reset\b|exit\b|echo\b|define-|define\s(?!@t\d+ \(\)))|;"
)
END = re.compile(r"\(step @p\d+ false :rule ")
HOLE = re.compile(r" :rule trust\b")
REMARK = re.compile(r"; [\w :]*")
REASON = re.compile(r"^; trust ([\w :]*)$", re.MULTILINE)


class ProofAnswer(NamedTuple):
    """The checker's answer about a proof. why: what it takes on trust, or the reason."""

    verdict: Literal["checked", "holes", "refused", "undecided", "missing"]
    why: str = ""


def assertions(question: Sequence[str]) -> list[str]:
    """Return what a question asserts, its assumptions too. question: its lines in the script."""
    literals = question[2].removeprefix(ASKS).removesuffix("))").split()
    return [question[1], *(f"(assert {literal})" for literal in literals)]


def without_parameters(command: str) -> Iterator[str]:
    """Yield a line from before the questions, in which a definition has no parameters, for which ethos has no form.

    One with parameters becomes a declaration, and an assertion for all their values.
    """
    match = PARAMETERS.fullmatch(command)
    if match is None:
        yield command
        return
    name, bound, body = match.groups()
    parameters = PARAMETER.findall(bound)
    yield f"(declare-fun {name} ({' '.join(sort for _, sort in parameters)}) Bool)"
    yield f"(assert (forall {bound} (= ({name} {' '.join(one for one, _ in parameters)}) {body})))"


def plain(command: str) -> Iterator[str]:
    """Yield a line as ethos reads it: also without `:pattern`, which only advises a solver."""
    return map(_without_patterns, without_parameters(command))


def _without_patterns(command: str) -> str:
    if "(! " not in command:
        return command
    stack: list[list[str]] = [[]]
    for token in TOKEN.findall(command):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            term = stack.pop()
            advised = term[0] == "!" and set(term[2::2]) == {":pattern"} if term else False
            stack[-1].append(term[1] if advised else f"({' '.join(term)})")
        else:
            stack[-1].append(token)
    return " ".join(" ".join(part) for part in stack)


def fault_of(proof: str) -> str:
    """Return why a text is not a proof of `false` from the assertions of its question; empty if ethos may check it."""
    depth, last = 0, ""
    for number, line in enumerate(proof.splitlines(), start=1):
        if REMARK.fullmatch(line):
            continue
        if COMMAND.match(line) is None or OTHER.search(line) is not None:
            return f"line {number} is no step of a proof: {line[:40]!r}"
        depth += line.startswith("(assume-push ") - line.startswith("(step-pop ")
        if depth < 0:
            return f"line {number} ends an assumption that does not begin"
        last = line
    if depth:
        return "an assumption does not end"
    return "" if END.match(last) else "its last step does not derive false"


def check(ethos: Path, signatures: Path, question: Sequence[str], proof: str, seconds: float = 300.0) -> ProofAnswer:
    """Have ethos check a proof. question: all lines that it may use, each by `plain`; seconds: limit of the time."""
    if fault := fault_of(proof):
        return ProofAnswer("refused", fault)
    with tempfile.TemporaryDirectory(prefix="elrcheck-proof-") as folder:
        text, steps = Path(folder) / "question.smt2", Path(folder) / "proof.cpc"
        text.write_text("".join(f"{line}\n" for line in question), "utf-8")
        # As an option, `--reference=`, ethos 0.2.3 forgets it when it opens the proof, and then accepts any assumption.
        steps.write_text(f'(reference "{text}")\n{proof}', "utf-8")
        command = [str(ethos), "--reference-define-fun", f"--include={signatures / SIGNATURE}", str(steps)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=seconds, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return ProofAnswer("undecided", f"ethos took more than {seconds:g} s")
    return answer(done.returncode, done.stdout, done.stderr, proof)


def answer(exit_code: int, out: str, err: str, proof: str) -> ProofAnswer:
    """Read the answer of ethos about a proof: only `correct`, alone, from a proof without holes, is `checked`."""
    holes = sorted(set(REASON.findall(proof))) or HOLE.findall(proof)[:1]
    if exit_code == 0 and not err and out == "correct\n" and not holes:
        return ProofAnswer("checked")
    if exit_code == 0 and not err and out in ("correct\n", "incomplete\n"):
        return ProofAnswer("holes", ", ".join(holes))
    reasons = [line for line in (err or out).splitlines() if line.startswith("Error: ")] or (err or out).splitlines()
    return ProofAnswer("refused", (reasons[0] if reasons else f"ethos ended with {exit_code}")[:200])


def proof_file(script: str, number: int) -> str:
    """Return the name of the proof of a question in the folder of proofs. script: its file in the certificate."""
    return f"{script.removesuffix('.smt2.gz')}/{number:02}.cpc.gz"


def read(folder: Path, name: str, sha256: str | None = None) -> str:
    """Read one compressed text of a folder; raise ValueError if it is not there, or not the one with this digest."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{name}: it is outside of the folder")
    try:
        with gzip.open(path) as stream:
            raw = stream.read(LIMIT + 1)
    except (OSError, EOFError, zlib.error) as fault:
        raise ValueError(f"{name}: cannot read it: {fault}") from fault
    if len(raw) > LIMIT or (sha256 is not None and hashlib.sha256(raw).hexdigest() != sha256):
        raise ValueError(f"{name}: not the text that the manifest names")
    return raw.decode("ascii", "replace")


def main(arguments: list[str]) -> int:
    if len(arguments) != 4 or not all(map(os.path.exists, arguments)):
        print("usage: python check_proofs.py CERTIFICATE PROOFS ETHOS SIGNATURES", file=sys.stderr)
        return 2
    certificate, proofs, ethos, signatures = map(Path, arguments)
    count: Counter[str] = Counter()
    try:
        manifest = json.loads((certificate / "manifest.json").read_text("utf-8"))
        premises = read(certificate, manifest["premises"]["file"], manifest["premises"]["sha256"]).splitlines()
        for script in manifest["scripts"]:
            lines = read(certificate, script["file"], script["sha256"]).splitlines()
            first = len(lines) - QUERY * len(script["cells"])
            shared = [line for command in (*premises, *lines[:first]) for line in plain(command)]
            for number, cell in enumerate(script["cells"]):
                at = first + QUERY * number
                name = proof_file(script["file"], number)
                if (proofs / name).exists():
                    question = [*shared, *assertions(lines[at : at + QUERY])]
                    verdict, why = check(ethos, signatures, question, read(proofs, name))
                else:
                    verdict, why = "missing", ""
                count[verdict] += 1
                if verdict != "checked":
                    print(f"{verdict.upper()}  {script['file']} x {cell['name']}  {why}".rstrip())
    except (OSError, KeyError, IndexError, TypeError, ValueError) as fault:
        print(f"REFUSED  {fault}")
        return 1
    print(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return 0 if count["checked"] == count.total() > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
