"""The report of `elrcheck prove --check-certificate`: the texts of a certificate, and what a solver answers to each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.prove_report import Coverage, SecondSolver, SolverReport

CertificateVerdict: TypeAlias = Literal["fits", "discharged", "checked", "differs", "refuted", "inconclusive"]
Fit: TypeAlias = Literal["same", "changed", "gone", "new"]


class CheckerReport(Record, frozen=True):
    """The program that checked proofs."""

    name: str
    version: str


class ProofFault(Record, frozen=True):
    """A proof that the checker does not accept without more."""

    question: str
    verdict: Literal["checked", "holes", "refused", "undecided", "missing"]
    """`holes`: some steps are taken on trust; `missing`: the solver gave no proof."""
    why: str
    """The rules of its holes, or the checker's reason."""


class ProofObjects(Record, frozen=True):
    """The proofs of a script's answers. size: bytes of their files; seconds: of the checker."""

    checked: int
    """Complete proofs that the checker accepted."""
    faults: tuple[ProofFault, ...]
    size: int
    seconds: float


class ScriptReport(Record, frozen=True):
    """One text of a certificate, with the obligations of one instance of an action, or of one phase."""

    file: str
    """Empty if the certificate lacks this part of the proof."""
    action: str
    """Empty for initiation and implication."""
    arguments: Mapping[str, str]
    fit: Fit
    """`new`: only the proof of this source has it; `gone`: only the certificate has it."""
    questions: int
    discharged: int
    """Questions that the solver answered with `unsat`; 0 if no solver was asked."""
    unknown: tuple[str, ...]
    """Questions that it did not decide within the time limit."""
    refuted: tuple[str, ...]
    """Questions that it answered with `sat`: the obligation does not hold."""
    seconds: float
    proofs: ProofObjects | None = None
    """Set if proofs of the answers were requested."""
    answered: bool = True
    """False if a solver was asked, and an interrupt came before its answers."""

    @property
    def complete(self) -> bool:
        """Return whether the solver, if asked, answered `unsat` throughout, with accepted proofs if requested."""
        faults = self.proofs is not None and self.proofs.faults
        return self.answered and not (self.unknown or self.refuted or faults)

    @property
    def subject(self) -> str:
        """Return the phase, or the action with its arguments."""
        if not self.action:
            return self.file.split(".")[0]
        return f"{self.action}({', '.join(f'{name}={value}' for name, value in self.arguments.items())})"


class CertificateReport(Report, frozen=True, tag="elrcheck.certificate-check/1"):
    """The result of `elrcheck prove --check-certificate`."""

    verdict: CertificateVerdict
    """`fits`: the certificate is of this source, and no solver was asked; `discharged`: it is, and every answer was
    `unsat`; `checked`: and a checker accepted a complete proof of each answer."""
    variant: str
    folder: str
    written_by: str
    """The version of elrcheck and the solver that made the proof."""
    same_source: bool
    """The manifest names this source; in any case every text was generated anew from this source and compared."""
    solver: SolverReport | None
    scripts: tuple[ScriptReport, ...]
    open: tuple[str, ...]
    """Obligations that were not proved, and so are not in the certificate."""
    seconds: float
    assumptions: tuple[str, ...] = ()
    """Names of the assumptions about steps that are part of the claim."""
    coverage: Coverage | None = None
    """The extent of the claim, read with this source from the settings of the certificate."""
    checker: CheckerReport | None = None
    """Set if proofs were requested."""
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""
    interrupted: bool = False
    """An interrupt came before all answers; they are stored, and the same command asks only for the others."""


def certificate_verdict(
    scripts: tuple[ScriptReport, ...], discharging: bool, open_: tuple[str, ...]
) -> CertificateVerdict:
    """Return the verdict over all texts. discharging: a solver was asked; open_: obligations that were not proved."""
    if any(script.refuted for script in scripts):
        return "refuted"
    if any(script.fit != "same" for script in scripts):
        return "differs"
    if open_ or not all(script.complete for script in scripts):
        return "inconclusive"
    if discharging and all(script.proofs is not None for script in scripts):
        return "checked"
    return "discharged" if discharging else "fits"


def second_solver(report: CertificateReport) -> SecondSolver:
    """Return the answers of the solver as a part of a `ProveReport`."""
    assert report.solver is not None
    return SecondSolver(
        report.solver,
        sum(script.questions for script in report.scripts),
        sum(script.discharged for script in report.scripts),
        tuple(f"{script.subject} x {name}" for script in report.scripts for name in script.unknown),
        tuple(f"{script.subject} x {name}" for script in report.scripts for name in script.refuted),
        report.seconds,
    )
