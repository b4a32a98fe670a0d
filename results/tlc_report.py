"""The report of `elrcheck tlc`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

TlcVerdict: TypeAlias = Literal["confirmed", "rejected", "no_violation", "same", "different", "failed"]


class Counts(Record, frozen=True):
    """The counts of a model checker."""

    generated: int
    distinct: int
    diameter: int | None = None


class TraceJudged(Record, frozen=True):
    """TLC's verdict on one stored trace. module: the witness; detail: why it is not confirmed, or how it is."""

    file: str
    property: str
    module: str
    verdict: TlcVerdict
    detail: str
    exit_code: int | None
    """TLC's own: 12 if it violates the property at the end of the trace."""


class TlcReport(Report, frozen=True, tag="elrcheck.tlc/1"):
    """The result of `elrcheck tlc`: TLC's verdict on traces, or its counts next to ours.

    traces: in the order of checking, which ends with the first that TLC does not confirm; the other fields are of the
    last. stored: the traces there are.
    """

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
    traces: tuple[TraceJudged, ...] = ()
    stored: int = 0
