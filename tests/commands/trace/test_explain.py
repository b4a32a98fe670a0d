"""`elrcheck explain`: the part that decides, for whom, and the values it looked at."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.commands.trace.explain import ExplainQuestion, run_explain
from elrcheck.commands.trace.show import sample
from elrcheck.console.shell import run
from elrcheck.report.documents.explain_document import explain_blocks
from elrcheck.report.json_report import as_data
from elrcheck.report.terminal import plain_text
from elrcheck.results.trace_reports import Clause, ExplainReport
from elrcheck.stored_traces.recorded import subject_of
from elrcheck.traces.loaded import NamedSelection
from elrcheck.traces.replay import Replayed
from support.lost_record import LEGACY, lost_record, stored
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.explain-1.schema.json"


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return subject_of(stored(tmp_path_factory.mktemp("run"), lost_record()), None, NamedSelection())


def ask(subject: Replayed, *properties: str, action: str | None = None, at: int | None = None) -> ExplainReport:
    report = run_explain(subject, ExplainQuestion(properties, action, at))
    jsonschema.validate(json.loads(json.dumps(as_data(report))), json.loads(SCHEMA.read_text()))
    return report


def every(clause: Clause) -> list[Clause]:
    return [clause, *(below for part in clause.parts for below in every(part))]


# ------------------------------------------------------------------------------- properties


def test_why_a_property_fails(subject: Replayed) -> None:
    """P-8 is the trace's own property: record 0 is committed, and neither broker has it."""
    report = ask(subject)
    assert (report.verdict, report.at, report.led) == ("violated", 4, "Crash(b=0, keep=0)")
    assert report.exit_code == 1
    (explained,) = report.explained
    (conjunct,) = explained.clauses
    assert (explained.id, conjunct.name, conjunct.value) == ("P-8", "kept_somewhere", False)
    assert [(one.name, one.value) for one in conjunct.witness] == [("k", "0")]
    looked = {(one.text, one.value) for clause in every(conjunct) for one in clause.looked}
    assert {("broker[0].log", "[]"), ("broker[1].log", "[]"), ("committed", "[r1@1(all)]")} <= looked
    brokers = [c.witness[0].value for c in every(conjunct) if c.witness and c.witness[0].name == "b"]
    assert brokers == ["0", "1"]


def test_before_the_last_step_it_holds(subject: Replayed) -> None:
    report = ask(subject, at=3)
    assert (report.verdict, report.exit_code) == ("holds", 0)
    assert [clause.value for clause in report.explained[0].clauses] == [True]


def test_every_conjunct_is_shown(subject: Replayed) -> None:
    (explained,) = ask(subject, "CandidateCompleteness", at=4).explained
    assert [clause.name for clause in explained.clauses] == ["isr_holds_committed", "elr_holds_committed"]


def test_a_property_of_steps_needs_a_step(subject: Replayed) -> None:
    step_property = next(fn for fn in subject.model.always if fn.is_step)
    assert ask(subject, step_property.ident, at=1).verdict == "holds"
    with pytest.raises(UsageFault, match="is a property of steps"):
        ask(subject, step_property.ident, at=0)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (ExplainQuestion(("P-8",), None, 5), "no state 5; the last one is 4"),
        (ExplainQuestion(("P-88",)), "unknown property"),
        (ExplainQuestion((), "Fech"), "unknown action"),
        (ExplainQuestion((), "Fetch(f=1)"), "needs `leader`"),
        (ExplainQuestion((), "Fetch(f=9, leader=0)"), "there is no broker 9"),
        (ExplainQuestion((), "Fence(9)"), "cannot take these arguments"),
        (ExplainQuestion((), "Fence(__import__('os'))"), "not part of a TLA"),
        (ExplainQuestion((), "Crash(b=0, keep=99)"), "cannot take these arguments"),
        (ExplainQuestion(("V-1",)), "infinite behaviours, and this trace is finite"),
        (ExplainQuestion(("P-8",), "Fetch"), "exclude each other"),
    ],
)
def test_what_cannot_be_explained(subject: Replayed, question: ExplainQuestion, says: str) -> None:
    with pytest.raises(UsageFault, match=says):
        run_explain(subject, question)


# ---------------------------------------------------------------------------------- actions


def test_why_an_action_is_refused(subject: Replayed) -> None:
    """The scope has logs of one slot, and broker 0 has used it."""
    (explained,) = ask(subject, action="Produce(leader=0, acks=ALL)", at=2).explained
    assert (explained.value, explained.guard) == (False, "the log has room")
    assert [(clause.name, clause.value) for clause in explained.clauses] == [("the log has room", False)]
    looked = {one.text: one.value for one in explained.clauses[-1].looked}
    assert looked["broker[0].log"] == "[r1@1(all)]"
    assert looked["c.log_slots"] == "1"
    assert explained.later[0] == "leader serves"


def test_why_an_action_is_possible(subject: Replayed) -> None:
    report = ask(subject, action="fence(1)", at=0)
    (explained,) = report.explained
    assert (report.verdict, report.exit_code, explained.guard, explained.later) == ("enabled", 0, None, ())
    assert all(clause.value for clause in explained.clauses)
    assert ("registration[1].fenced", "false", "true") in [(c.path, c.old, c.new) for c in explained.changes]


ISR_SHRINKS = "ShrinkIsr(leader=0, out={1})"


def test_a_guard_that_a_setting_waives_does_not_apply() -> None:
    """With one broker left of a min ISR of two, `yes  min ISR members remain` would be false."""
    walk = subject_of(None, "1/5", NamedSelection(Selection("code_4_3", "two-brokers")))
    report = ask(walk, action=ISR_SHRINKS)
    waived = {one.name: [(each.text, each.value) for each in one.waived] for one in report.explained[0].clauses}
    assert {name: settings for name, settings in waived.items() if settings} == {
        "min ISR members remain": [("keep_min_isr", "false")]
    }
    assert "-    min ISR members remain: not applicable (keep_min_isr is false)" in plain_text(explain_blocks(report))


def test_a_guard_whose_setting_waives_nothing_applies() -> None:
    """The scope has no writes with acks=0, so the guard decides: it refuses them, and only them."""
    walk = subject_of(None, "1", NamedSelection(Selection("code_4_3", "two-brokers")))
    guards = [one for each in ask(walk, action="Produce").explained for one in each.clauses]
    acks = [one for one in guards if one.name == "the scope has writes with acks=0"]
    assert acks and not any(one.waived for one in acks)


@pytest.mark.parametrize(("shrinks", "beyond"), [(0, True), (1, False)])
def test_an_action_beyond_the_budgets_is_marked(shrinks: int, beyond: bool) -> None:
    chosen = Selection("code_4_3", "two-brokers", (f"shrinks={shrinks}",))
    walk = subject_of(None, "1/5", NamedSelection(chosen))
    for action in (ISR_SHRINKS, "ShrinkIsr"):
        report = ask(walk, action=action)
        assert (report.verdict, report.exit_code) == ("enabled", 0)
        assert [one.beyond for one in report.explained if one.value] == [beyond]
        text = plain_text(explain_blocks(report))
        assert ("(beyond the budgets)" in text, "beyond the budgets in state 2" in text) == (beyond, beyond)


def test_all_choices_of_an_action(subject: Replayed) -> None:
    """Broker 1 is fenced after the first step, broker 0 is not."""
    report = ask(subject, action="Fence", at=1)
    assert report.verdict == "enabled"
    answers = {one.arguments[0].value: one.guard for one in report.explained}
    assert answers == {"0": None, "1": "b is unfenced"}


# ------------------------------------------------------------------------- the whole model


@pytest.mark.parametrize(("variant", "scope"), [("kip_full", "recovery"), ("code_4_1", "late-fetches")])
def test_ir_and_plain_python_agree_on_everything(variant: str, scope: str) -> None:
    """run_explain refuses to answer where the two readings differ."""
    states = sample(NamedSelection(Selection(variant, scope)), 11, 12)
    idents = tuple(fn.ident for fn in states.model.checks)
    report = run_explain(states, ExplainQuestion(idents, None, 12))
    assert len(report.explained) == len(idents)
    refused = 0
    for fn in states.model.actions:
        answers = run_explain(states, ExplainQuestion((), fn.name, 12)).explained
        refused += sum(not one.value for one in answers)
        guards = {one.guard for one in answers} - {None}
        assert all(clause.text for one in answers for clause in one.clauses)
        assert guards <= {clause.name for one in answers for clause in one.clauses}
    enabled = sum(1 for _ in states.plain.successors(states.states[12]))
    assert refused == len(states.plain.steps) - enabled


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(stored(tmp_path, lost_record()))
    assert run(cli, ["explain", path]) == 1
    out = capsys.readouterr().out
    assert "FAIL  P-8 NoCommittedRecordLost in state 4" in out
    assert "no   kept_somewhere, for k=0" in out
    assert run(cli, ["explain", path, "--action", "Fetch", "--at", "2"]) == 0
    out = capsys.readouterr().out
    assert "the follower is not leader" in out and "refused by" in out
    options = ["--variant", LEGACY.variant, "--scope", LEGACY.scope]
    assert run(cli, ["explain", "--repro", "", *options, "--property", "P-1"]) == 0
    assert run(cli, ["explain", "--repro", "", *options]) == 5
    assert run(cli, ["explain", path, "--exit-zero"]) == 0
