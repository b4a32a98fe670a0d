"""Results of the functions: each is the report of a command, with methods for tables, documents and pages.

A result is a subclass of the report, so it has its fields, and every renderer accepts it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from msgspec import Struct, structs

from elrcheck.base.errors import EnvironmentFault, UsageFault, did_you_mean
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.check_report import CheckReport
from elrcheck.results.exploration_report import SimulationReport
from elrcheck.results.proofs.certificate_report import CertificateReport
from elrcheck.results.proofs.controller_report import ControllerReport, VariantReport
from elrcheck.results.prove_report import ProveReport
from elrcheck.results.risk.assess_report import AssessedGroup, AssessReport
from elrcheck.results.risk.risk_report import RiskReport, RiskSettings
from elrcheck.results.scenario_report import ScenarioReport
from elrcheck.results.suite_report import SweepReport
from elrcheck.results.trace_reports import ExplainReport, TraceReport

if TYPE_CHECKING:
    from pandas import DataFrame

    from elrcheck.results.any_report import Report


def tables_of(kind: type) -> Mapping[str, tuple[str, ...]]:
    """Return table -> its columns, the fields of its records that hold no records, in the order of the report."""
    tables: dict[str, tuple[str, ...]] = {}
    for name, hint in get_type_hints(kind).items():
        inner = get_args(hint)
        if get_origin(hint) is tuple and inner and _is_record(inner[0]):
            hints = get_type_hints(inner[0])
            tables[name] = tuple(field for field in inner[0].__struct_fields__ if not _holds_records(hints[field]))
    return tables


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Struct)


def _holds_records(hint: Any) -> bool:
    return _is_record(hint) or any(_holds_records(inner) for inner in get_args(hint))


def rows_of(report: object, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, each as column -> value. Raises UsageFault if the report has no such table."""
    tables = tables_of(type(report))
    if table not in tables:
        raise UsageFault("usage-bad-value", f"this report has no table `{table}`", help=did_you_mean(table, tables))
    return [{name: plain(getattr(row, name)) for name in tables[table]} for row in getattr(report, table)]


def plain(value: Any) -> Any:
    """Return the value of a cell, with lists and dictionaries for tuples and mappings."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return value


def to_frame(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> DataFrame:
    """Return a data frame. Raises EnvironmentFault if pandas, an optional dependency, is not installed."""
    try:
        from pandas import DataFrame
    except ModuleNotFoundError as fault:
        raise EnvironmentFault(
            "package-missing", "pandas, which `to_pandas` needs, is not installed", help="pip install 'pandas>=2.2,<3'"
        ) from fault
    return DataFrame(list(rows), columns=list(columns))


HEIGHT = "40em"


class Result:
    """A report with methods that render it."""

    TABLE: ClassVar[str]
    """The table that `to_pandas` returns if none is named."""

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables of `to_pandas`."""
        first = () if self._answers() is None else (self.TABLE,)
        return tuple(dict.fromkeys((*first, *tables_of(type(self)))))

    def to_pandas(self, table: str | None = None) -> DataFrame:
        """Return one of the tables as a data frame, by default the one with the answers."""
        name = self.TABLE if table is None else table
        answers = self._answers() if name == self.TABLE else None
        if answers is not None:
            return to_frame(*answers)
        return to_frame(rows_of(self, name), tables_of(type(self))[name])

    def _answers(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]] | None:
        """Return the rows and columns of `TABLE`; None if they are a list of the report."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `--format json` prints, described in docs/schemas."""
        from elrcheck.report.json_report import as_data

        return cast("dict[str, Any]", as_data(self))

    def render(self, form: str = "text") -> str:
        """Return the report in one of the formats of `--format`. Raises UsageFault for an unknown one."""
        from elrcheck.api.arguments import one_of
        from elrcheck.report.formats import EVERY, render

        one_of("form", form, EVERY)
        return render(cast("Report", self), form)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {getattr(self, 'verdict', '')}>"

    def _repr_html_(self) -> str:
        """Return the page of `--format html` in a frame, which separates its script and style from the notebook's.

        A report without a page is its text.
        """
        try:
            page = html.escape(self.render("html"))
        except UsageFault:
            return f"<pre>{html.escape(str(self))}</pre>"
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="{html.escape(repr(self))}" '
            f'style="width:100%;height:{HEIGHT};border:0"></iframe>'
        )


class CheckResult(Result, CheckReport, frozen=True):
    """The report of `check`. Tables: `properties`, `actions`, `variables`."""

    TABLE = "properties"


class SimulationResult(Result, SimulationReport, frozen=True):
    """The report of `simulate`. Tables: `properties`, `actions`."""

    TABLE = "properties"


class ProofResult(Result, ProveReport, frozen=True):
    """The report of `prove`. Tables: `implication` (the properties), `cells`, `initiation`, `phases`, .."""

    TABLE = "implication"


class ControllerResult(Result, ControllerReport, frozen=True):
    """The report of `prove_controller`. Tables: `cells` (event by rule, of all variants), `rules`, .."""

    TABLE = "cells"

    def _answers(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        rows = [{"variant": each.variant, **row} for each in self.variants for row in rows_of(each, self.TABLE)]
        return rows, ["variant", *tables_of(VariantReport)[self.TABLE]]


class CertificateResult(Result, CertificateReport, frozen=True):
    """The report of `check_certificate`. Table: `scripts`."""

    TABLE = "scripts"


class AuditResult(Result, AuditReport, frozen=True):
    """The report of `audit`. Tables: `flags`, `damage`, `logs`, `unread`."""

    TABLE = "flags"


class RiskResult(Result, RiskReport, frozen=True):
    """The report of `risk`. Tables: `answers` (about all settings), `outside`, `differences`."""

    TABLE = "answers"

    def tables(self) -> tuple[str, ...]:
        """Return all tables but `others`, whose answers are part of `answers`."""
        return tuple(name for name in super().tables() if name != "others")

    def _answers(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        rows = [{**structs.asdict(part.settings), **row} for part in self.parts for row in rows_of(part, self.TABLE)]
        return rows, [*self.settings.__struct_fields__, *tables_of(type(self))[self.TABLE]]


class AssessResult(Result, AssessReport, frozen=True):
    """The report of `assess`. Tables: `findings` (of all groups of settings), `flags`, `invisible`, .."""

    TABLE = "findings"

    def _answers(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        groups = [(structs.asdict(group.settings), rows_of(group, self.TABLE)) for group in self.groups]
        rows = [{**settings, **row} for settings, findings in groups for row in findings]
        return rows, [*RiskSettings.__struct_fields__, *tables_of(AssessedGroup)[self.TABLE]]


class ScenarioResult(Result, ScenarioReport, frozen=True):
    """The report of `scenario`. Table: `runs`."""

    TABLE = "runs"


class TraceResult(Result, TraceReport, frozen=True):
    """The report of `ModelWalk.show`. Tables: `violated`, `reached`, `evaluations`."""

    TABLE = "violated"


class ExplainResult(Result, ExplainReport, frozen=True):
    """The report of `ModelWalk.explain`. Table: `explained`."""

    TABLE = "explained"


class SweepResult(Result, SweepReport, frozen=True):
    """The report of `sweep`. Tables: `rows`, as CSV has them, and `axes`."""

    TABLE = "rows"

    def _answers(self) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        from elrcheck.report.sweep_table import columns, records

        return records(self), columns(self)

    def render(self, form: str = "text") -> str:
        """Return the report in one of the formats, also in `csv`; a page or Markdown shows a matrix."""
        if form == "csv":
            from elrcheck.report.sweep_table import to_csv

            return to_csv(self)
        return super().render(form)


@dataclass(frozen=True)
class WhatIfResult:
    """The controller's answer: Kafka's name of the error, and the state afterwards."""

    error: str
    partition: Mapping[str, Any] | None
    brokers: Mapping[str, Mapping[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that `elrcheck what-if` prints."""
        return asdict(self)

    def to_pandas(self) -> DataFrame:
        """Return a table with a row for each broker."""
        rows = [{"broker": int(name), **state} for name, state in self.brokers.items()]
        return to_frame(rows, rows[0] if rows else ("broker",))


R = TypeVar("R", bound=Result)


def as_result(kind: type[R], report: Report) -> R:
    """Return the report as a result of this kind, which shares its objects."""
    return kind(**structs.asdict(report))
