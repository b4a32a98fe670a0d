"""The questions of a certificate, answered by another solver; if requested, with proofs that ethos checks.

A question is first asked with the lines that it needs alone (`RelevantLines`): whatever refutes them refutes the whole.
Any other answer is asked again with the whole text. A proof is checked against the whole text.

An `unsat` is stored (`base/kept/`) by the digests of the texts and the version of the solver, with the digest of its
proof and the answer of the checker, so that a run which was killed goes on where it was; an answer with a proof counts
only while the folder of proofs has this very proof. Anything else is asked again.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from elrcheck.base.atomic import write_bytes
from elrcheck.base.kept import named_digests
from elrcheck.base.kept.age import KeptOrigin, kept_at
from elrcheck.base.kept.store import LAST_SECOND, Store
from elrcheck.base.requests import ProofSolver
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.runner import each
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.version import __version__
from elrcheck.proof import check_proofs
from elrcheck.proof.certificate import Manifest, Script, read_premises, read_script
from elrcheck.proof.ethos_program import ProofChecker
from elrcheck.proof.second_solver import ATTEMPTS, PROVES, Cvc5, RelevantLines, SatVerdict, open_solver, solver_version

ProofVerdict: TypeAlias = Literal["checked", "holes", "refused", "undecided", "missing"]
"""What the checker says of a proof: `holes` if it trusts some steps, `missing` if the solver gave none."""
CHECK = ("(check-sat)",)
CHECK_FACTOR = 5.0
"""Seconds that ethos has for a proof, for each second that the solver has for its answer."""


@dataclass(frozen=True)
class HowToDischarge:
    """What answers the questions. timeout: seconds for each; proofs: the folder for proofs, if checker checks them.

    fresh: ignore stored answers.
    """

    solver: ProofSolver
    timeout: float
    proofs: Path | None = None
    checker: ProofChecker | None = None
    fresh: bool = False


@dataclass(frozen=True)
class ScriptTask:
    """One script for one process to discharge."""

    folder: Path
    manifest: Manifest
    script: Script
    how: HowToDischarge


class QuestionAnswer(Record, frozen=True):
    """The answer to a question. seconds: of the solver; checked_in: of the checker.

    proof: digest of the compressed proof, size: its bytes; of_proof: what the checker says of it, why: in more words.
    when: seconds since 1970.
    """

    verdict: SatVerdict
    seconds: float
    when: Annotated[int, Meta(ge=0, le=LAST_SECOND)]
    proof: str = ""
    size: int = 0
    of_proof: ProofVerdict = "missing"
    why: str = ""
    checked_in: float = 0.0


class StoredAnswers(Record, frozen=True):
    """The answers to questions of a script that need not be asked again, by number."""

    answers: dict[str, QuestionAnswer]


@dataclass(frozen=True)
class ScriptAnswers:
    """The answers to all questions of a script. origins: of those that an earlier run found."""

    answers: tuple[QuestionAnswer, ...]
    origins: tuple[KeptOrigin, ...]


def discharge(
    folder: Path, manifest: Manifest, how: HowToDischarge, workers: int | None
) -> Iterator[tuple[Script, ScriptAnswers]]:
    """Yield the answers to the questions of each script, in the order of the manifest."""
    tasks = [ScriptTask(folder, manifest, script, how) for script in manifest.scripts]
    answers = each(discharge_script, tasks, useful_workers(workers, len(tasks)))
    return zip(manifest.scripts, answers, strict=True)


def discharge_script(task: ScriptTask) -> ScriptAnswers:
    """Ask a solver the questions of one script; runs in a worker process."""
    how, script = task.how, task.script
    premises = read_premises(task.folder, task.manifest)
    texts = read_script(task.folder, script)
    store = Store("discharged", StoredAnswers, fresh=how.fresh)
    key = named_digests.key(
        elrcheck=__version__,
        solver=f"{how.solver} {solver_version(how.solver)}",
        premises=task.manifest.premises.sha256,
        script=script.sha256,
        checker="" if how.checker is None else [how.checker.digest, _own_part()],
    )
    entry = store.get(key)
    before = {} if entry is None else entry.value.answers
    solving = _ScriptSolver(how, (*premises, *texts.premises))
    answers, origins, stored = [], [], dict[str, QuestionAnswer]()
    for number, question in enumerate(texts.questions):
        name = check_proofs.proof_file(script.file, number)
        answer = before.get(str(number))
        if answer is not None and solving.still_there(answer, name):
            origins.append(kept_at(answer.when, key))
        else:
            answer = solving.answer(check_proofs.assertions(question), name)
        answers.append(answer)
        if answer.verdict == "unsat" and (how.checker is None or answer.of_proof in ("checked", "holes")):
            stored[str(number)] = answer
            store.put(key, StoredAnswers(before | stored))
    return ScriptAnswers(tuple(answers), tuple(origins))


@functools.cache
def _own_part() -> str:
    """Return the digest of the file that decides, beside ethos, which proofs are accepted."""
    return hashlib.sha256(Path(check_proofs.__file__).read_bytes()).hexdigest()


class _ScriptSolver:
    """Answers the questions of one script. before: the lines before them."""

    def __init__(self, how: HowToDischarge, before: Sequence[str]) -> None:
        self._how = how
        self._shared = [line for command in before for line in check_proofs.without_parameters(command)]
        self._relevant = RelevantLines(self._shared)
        self._of_checker = [] if how.checker is None else [one for line in before for one in check_proofs.plain(line)]

    def answer(self, question: Sequence[str], name: str) -> QuestionAnswer:
        """Return the answer to one question. name: of the file for its proof."""
        started = time.perf_counter()
        answer, proof = self._solve([*self._relevant.of(question), *question])
        if answer == "sat":
            answer, proof = self._solve([*self._shared, *question])
        seconds, now = round(time.perf_counter() - started, 3), int(time.time())
        if answer != "unsat" or not proof or self._how.proofs is None or self._how.checker is None:
            return QuestionAnswer(answer, seconds, now)
        packed = gzip.compress(proof.encode(), compresslevel=6, mtime=0)
        write_bytes(self._how.proofs / name, packed)
        started = time.perf_counter()
        checker, limit = self._how.checker, CHECK_FACTOR * self._how.timeout
        of_proof = check_proofs.check(checker.program, checker.signatures, [*self._of_checker, *question], proof, limit)
        checked_in = round(time.perf_counter() - started, 3)
        digest = hashlib.sha256(packed).hexdigest()
        return QuestionAnswer(answer, seconds, now, digest, len(packed), of_proof.verdict, of_proof.why, checked_in)

    def _solve(self, lines: Sequence[str]) -> tuple[SatVerdict, str]:
        """Return the answer about these assertions, with its proof if one is requested."""
        how = self._how
        if how.solver != "cvc5":
            solver = open_solver(how.solver, how.timeout)
            solver.read(lines)
            return solver.ask(CHECK).verdict, ""
        for options in ATTEMPTS:
            prover = Cvc5(how.timeout, {**options, **(PROVES if how.checker else {})})
            prover.read(lines)
            answer = prover.ask(CHECK)
            if answer.verdict != "unknown" or answer.seconds >= how.timeout:
                break
        return answer.verdict, prover.proof() if how.checker and answer.verdict == "unsat" else ""

    def still_there(self, answer: QuestionAnswer, name: str) -> bool:
        """Return whether the folder of proofs has the proof of a stored answer, if proofs are requested."""
        if self._how.proofs is None:
            return True
        try:
            return hashlib.sha256((self._how.proofs / name).read_bytes()).hexdigest() == answer.proof
        except OSError:
            return False
