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


class TlcReport(Report, frozen=True, tag="elrcheck.tlc/1"):
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
