"""The report of `elrcheck tlc`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.results.trace_view import Argument as Argument
from elrcheck.results.trace_view import Change as Change
from elrcheck.results.trace_view import Scalar as Scalar
from elrcheck.results.trace_view import Step as Step
from elrcheck.results.trace_view import TraceView as TraceView
from elrcheck.results.trace_view import Truth as Truth

TlcVerdict: TypeAlias = Literal["confirmed", "rejected", "no_violation", "same", "different", "failed"]


@dataclass(frozen=True)
class Counts:
    """The counts of a model checker."""

    generated: int
    distinct: int
    diameter: int | None = None


@dataclass(frozen=True)
class TlcReport:
    """The result of `elrcheck tlc`: TLC's verdict on a trace, or its counts next to ours."""

    verdict: TlcVerdict
    module: str
    jar: str
    version: str
    command: tuple[str, ...]
    tlc_exit_code: int | None
    seconds: float
    ours: Counts | None = None
    theirs: Counts | None = None
    output_tail: tuple[str, ...] = ()
    schema: Literal["elrcheck.tlc/1"] = "elrcheck.tlc/1"

    @property
    def exit_code(self) -> ExitCode:
        match self.verdict:
            case "confirmed" | "same":
                return ExitCode.HOLDS
            case "rejected" | "no_violation" | "different":
                return ExitCode.FINDING
            case "failed":
                return ExitCode.ENVIRONMENT
