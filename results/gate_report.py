"""The report of `elrcheck gate`: what differs from a committed baseline.

An entry of the baseline is one configuration with what was found in it. The gate runs it again, as `check`
and `prove` do, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.requests import GateFailOn
from elrcheck.results.check_report import CheckReport
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.prove_report import ProveReport

DifferenceKind: TypeAlias = Literal[
    "violated", "inconclusive", "proof", "verdict", "witness", "coverage", "guard", "teeth", "count", "new"
]
EntryVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive"]
GateVerdict: TypeAlias = Literal["same", "drift", "tolerated", "inconclusive", "updated"]


@dataclass(frozen=True)
class Difference:
    """One thing that is not as the baseline says, or that `--fail-on` does not accept.

    subject: the id of a property, an action, an obligation or a count; what: the same in words. kind:
    violated (a property), inconclusive, proof (an obligation), verdict (a property, for the better), witness
    (reached or not), coverage (an action fires or not), guard (an action's condition is new or gone), teeth
    (which property notices when a guard is left out), count (how many states, or how often an action
    fired), new (the entry expects nothing yet). worse: the found is worse than the expected. fails:
    `--fail-on` makes it a failure.
    """

    subject: str
    what: str
    expected: str
    found: str
    kind: DifferenceKind
    worse: bool
    fails: bool = False


@dataclass(frozen=True)
class EntryReport:
    """One entry. place: where it is in the baseline, ``file:line``.

    renamed: guards that the baseline knows by a name of the release before, `Action: old name`.
    """

    name: str
    place: str
    verdict: EntryVerdict
    differences: tuple[Difference, ...]
    check: CheckReport
    """As `elrcheck check --format json`."""
    proof: ProveReport | None = None
    """As `elrcheck prove --format json`."""
    mutations: MutateReport | None = None
    """As `elrcheck mutate --guards --format json`."""
    renamed: tuple[str, ...] = ()
    """Guards that the baseline names by an earlier name, as `Action: name`."""


@dataclass(frozen=True)
class GateReport:
    """The result of `elrcheck gate`. written: the baseline was, and now says what was found."""

    verdict: GateVerdict
    """tolerated: there are differences, but none that --fail-on names."""
    baseline: str
    fail_on: tuple[GateFailOn, ...]
    seconds: float
    entries: tuple[EntryReport, ...]
    written: bool = False
    schema: Literal["elrcheck.gate/1"] = "elrcheck.gate/1"

    @property
    def exit_code(self) -> ExitCode:
        match self.verdict:
            case "same" | "tolerated" | "updated":
                return ExitCode.HOLDS
            case "drift":
                return ExitCode.FINDING
            case "inconclusive":
                return ExitCode.INCONCLUSIVE
