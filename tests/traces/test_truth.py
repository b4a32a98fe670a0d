"""What every property says along a trace, against the trace's own story."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.results.check_report import CheckReport
from elrcheck.results.trace_view import TraceView


def check(variant: str, *properties: str, overrides: tuple[str, ...] = (), folder: Path) -> CheckReport:
    selection = Selection(variant, "two-brokers", overrides)
    return run_check(CheckRequest(selection, properties, run_dir=folder), Silent())


def view_of(report: CheckReport) -> TraceView:
    (violated,) = report.properties
    assert violated.counterexample is not None
    return violated.counterexample


@pytest.mark.parametrize("ident", ["P-1", "P-14"])
def test_a_property_is_first_false_where_its_trace_ends(ident: str, tmp_path: Path) -> None:
    """The trace is shortest, so nothing before its end breaks the property; P-14 is about steps."""
    view = view_of(check("legacy", ident, folder=tmp_path))
    truth = {truth_.id: truth_ for truth_ in view.truths}
    assert truth[ident].hits == (len(view.steps),)
    assert truth[ident].step == (ident == "P-14")


def test_the_loss_is_seen_from_the_crash_on(tmp_path: Path) -> None:
    """P-8: no broker has the committed record any more, from the crash that loses it to the end."""
    view = view_of(check("legacy", "P-1", folder=tmp_path))
    crash = next(step.index for step in view.steps if step.action == "Crash")
    lost = next(truth for truth in view.truths if truth.id == "P-8")
    assert lost.hits == tuple(range(crash, len(view.steps) + 1))


def test_a_lasso_is_judged_where_it_closes_too(tmp_path: Path) -> None:
    """F-46: the proposal waits for ever, while every safety property holds."""
    overrides = ("response_loss=true", "alter_retries=false")
    view = view_of(check("kip_full", "V-3", overrides=overrides, folder=tmp_path))
    assert view.loop is not None and {truth.kind for truth in view.truths} == {"always", "sometimes"}
    assert not [truth.id for truth in view.truths if truth.kind == "always" and truth.hits]
    assert all(hit <= len(view.steps) for truth in view.truths for hit in truth.hits)


def test_a_report_without_counterexample_has_none(tmp_path: Path) -> None:
    (property_,) = check("kip_full", "P-1", folder=tmp_path).properties
    assert property_.counterexample is None
