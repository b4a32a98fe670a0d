"""The controller's rules, proved from all legal registrations, and what known hazards break."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from elrcheck.base.errors import ExitCode, NothingChecked, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ControllerRequest
from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.invariants.controller_events import EventKind
from elrcheck.invariants.modules import rules_of
from elrcheck.kafka.controller_proof import Counterexample, StepProver, replayed, run_controller
from elrcheck.lang.load import Model
from elrcheck.model.choices import CleanCheck, LastKnownLeader, MinIsrChange, ReassignGate, Reregistration
from elrcheck.model.config import Config
from elrcheck.model.min_isr import effective_min_isr
from elrcheck.model.replication_control import active
from elrcheck.model.state import configured_min_isr
from elrcheck.model.variants import variant_named
from elrcheck.report.json_report import to_json
from elrcheck.results.proofs.controller_report import ControllerReport
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.controller-1.schema.json"
EMPTY = frozenset[int]()


def variant_config(name: str, **more: Any) -> Config:
    variant = variant_named(name)
    assert variant is not None
    return Config(**{**variant.knobs, **more})


def refutation(model: Model, config: Config, kind: EventKind, ident: str) -> Counterexample:
    """The replayed counterexample of a cell; the solver must find it in less than a second."""
    prover = StepProver(model, config, 60.0)
    rule = next(fn for fn in rules_of(model) if fn.ident == ident)
    answer = prover.keeps(prover.open_step(kind), rule)
    assert answer.verdict == "refuted"
    assert answer.seconds < 1.0
    assert answer.counterexample is not None
    assert replayed(model, rule, answer.counterexample).replayed
    return answer.counterexample


def proved(model: Model, config: Config, kind: EventKind, ident: str) -> bool:
    prover = StepProver(model, config, 60.0)
    rule = next(fn for fn in rules_of(model) if fn.ident == ident)
    return prover.keeps(prover.open_step(kind), rule).verdict == "proved"


def controller(variant: str = "kip_full", **more: Any) -> ControllerReport:
    return run_controller(ControllerRequest(Selection(variant), **more), Silent())


# ---------------------------------------------------------------------------- what holds


def assert_everything_holds(report: ControllerReport, brokers: int) -> None:
    (variant,) = report.variants
    assert (report.verdict, report.brokers) == ("proved", brokers)
    assert (variant.refuted, variant.unknown) == (0, 0)
    assert {event.name for event in variant.events} == {kind.name for kind in EventKind}
    assert all(event.verdict == "possible" for event in variant.events)
    assert variant.proved == len(EventKind) * 20
    assert "unclean_leader_election_enable" in variant.open


@pytest.mark.slow
def test_kip_full_keeps_every_rule_with_two_brokers() -> None:
    assert_everything_holds(controller(brokers=2, workers=1), 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        EventKind.REGISTER_UNCLEAN,
        EventKind.ALTER_PARTITION,
        EventKind.REASSIGN,
        EventKind.CANCEL_REASSIGNMENT,
        EventKind.FINISH_RECOVERY,
    ],
)
def test_kip_full_keeps_every_rule_with_three_brokers(controller_model: Model, kind: EventKind) -> None:
    """A sample of the events; all of them are in the slow tests."""
    prover = StepProver(controller_model, Config(broker_count=3), 60.0)
    step = prover.open_step(kind)
    assert {fn.ident: prover.keeps(step, fn).verdict for fn in rules_of(controller_model)} == {
        f"CT-{number}": "proved" for number in range(1, 21)
    }


@pytest.mark.slow
@pytest.mark.parametrize("brokers", [1, 3, 4, 5])
def test_kip_full_keeps_every_rule(brokers: int) -> None:
    assert_everything_holds(controller(brokers=brokers), brokers)


@pytest.mark.slow
def test_kip_phase1_keeps_every_rule() -> None:
    """It has neither designation nor a recovery manager; everything else is as in kip_full."""
    (variant,) = controller("kip_phase1", brokers=3).variants
    impossible = {event.name for event in variant.events if event.verdict == "impossible"}
    assert (variant.verdict, impossible) == ("proved", {"DESIGNATE", "FINISH_RECOVERY"})


# ---------------------------------------------------------------------------- F-1, F-20, F-27


def test_a_fenced_last_known_leader_is_elected(controller_model: Model) -> None:
    """F-1, KAFKA-19522: unfencing somebody else elects the last known leader, who is not alive."""
    counterexample = refutation(controller_model, variant_config("code_4_0"), EventKind.UNFENCE, "CT-13")
    before, after = counterexample.before.partition, counterexample.after.partition
    assert before.leader is None
    assert before.isr == before.elr == EMPTY
    (last,) = before.last_known_elr
    assert last != counterexample.event.broker
    assert last not in active(counterexample.config, counterexample.before.registration)
    assert (after.leader, after.isr) == (last, {last})
    assert after.leader_epoch == before.leader_epoch + 1
    assert not counterexample.config.unclean_leader_election_enable


def test_only_active_last_known_leaders_are_elected_in_4_1(controller_model: Model) -> None:
    """The fix; and with the knob as in 4.0, phase 1 of the KIP has the bug too."""
    assert proved(controller_model, variant_config("code_4_1"), EventKind.UNFENCE, "CT-13")
    assert proved(controller_model, variant_config("kip_phase1"), EventKind.UNFENCE, "CT-13")
    broken = variant_config("kip_phase1", last_known_leader=LastKnownLeader.ANY)
    assert refutation(controller_model, broken, EventKind.UNFENCE, "CT-13").after.partition.leader is not None


@pytest.mark.parametrize("config", [Config(elr_intersect_replicas=False), variant_config("code_4_1")])
def test_the_elr_names_a_broker_that_is_no_replica(controller_model: Model, config: Config) -> None:
    """F-20 by cancelling: an adding replica in ISR or ELR leaves the replicas, and stays eligible."""
    counterexample = refutation(controller_model, config, EventKind.CANCEL_REASSIGNMENT, "CT-8")
    before, after = counterexample.before.partition, counterexample.after.partition
    strangers = after.elr - frozenset(after.replicas)
    assert strangers != EMPTY
    assert strangers <= before.adding
    assert strangers <= before.isr | before.elr
    assert strangers <= frozenset(before.replicas)
    assert after.adding == EMPTY


@pytest.mark.parametrize("kind", [EventKind.FENCE, EventKind.REASSIGN, EventKind.ALTER_PARTITION])
def test_a_completion_leaves_a_removed_broker_eligible(controller_model: Model, kind: EventKind) -> None:
    """F-20 by completing: the broker was to be removed, is not a replica any more, and may be elected."""
    counterexample = refutation(controller_model, variant_config("code_4_1"), kind, "CT-8")
    before, after = counterexample.before.partition, counterexample.after.partition
    strangers = (after.elr | after.last_known_elr) - frozenset(after.replicas)
    assert strangers != EMPTY
    assert strangers <= frozenset(before.replicas)
    assert (after.adding, after.removing) == (EMPTY, EMPTY)
    assert len(after.replicas) < len(before.replicas)


def test_an_election_from_the_elr_leaves_others_beside_an_isr_that_is_enough(controller_model: Model) -> None:
    """F-27: one member elected from an ELR of two is min ISR already, and the other one stays eligible."""
    config = Config(recheck_elr_after_election=False)
    counterexample = refutation(controller_model, config, EventKind.UNFENCE, "CT-7")
    before, after = counterexample.before.partition, counterexample.after.partition
    assert before.leader is None
    assert before.isr == EMPTY
    assert counterexample.event.broker in before.elr
    assert after.isr == {counterexample.event.broker}
    assert after.elr != EMPTY
    assert after.elr < before.elr
    assert configured_min_isr(counterexample.after.settings) == 1 or len(after.replicas) == 1
    assert effective_min_isr(counterexample.after.settings, after.replicas) == 1
    assert proved(controller_model, Config(), EventKind.UNFENCE, "CT-7")


# hazard -> (knobs that differ from kip_full, event, rule it breaks)
HAZARDS: dict[str, tuple[dict[str, Any], EventKind, str]] = {
    "F-2": ({"elr_enabled": False, "rereg_without_elr": Reregistration.IGNORE}, EventKind.REGISTER_UNCLEAN, "CT-5"),
    "F-3 kept": ({"clean_check": CleanCheck.ALWAYS_CLEAN}, EventKind.REGISTER_UNCLEAN, "CT-18"),
    "F-3 lost": ({"clean_check": CleanCheck.ALWAYS_UNCLEAN}, EventKind.REGISTER_CLEAN, "CT-17"),
    "F-4": ({"alter_checks_fenced": False}, EventKind.ALTER_PARTITION, "CT-5"),
    "F-19": ({"min_isr_change": MinIsrChange.NEVER}, EventKind.MIN_ISR_TOPIC, "CT-7"),
    "F-20 by an unclean stop": ({"elr_intersect_replicas": False}, EventKind.REGISTER_UNCLEAN, "CT-8"),
    "F-21": ({"unregister_prunes_elr": False}, EventKind.UNREGISTER, "CT-9"),
    "F-23": ({"dirs_wipe_elr": True}, EventKind.ASSIGN_DIRECTORIES, "CT-17"),
    "F-25": ({"min_isr_change": MinIsrChange.ALWAYS}, EventKind.MIN_ISR_CLUSTER, "CT-17"),
    "F-28": ({"downgrade_ignores_elr": False}, EventKind.FENCE, "CT-12"),
    "F-28 cuts the ISR": ({"downgrade_ignores_elr": False}, EventKind.ALTER_PARTITION, "CT-20"),
    "F-29": (
        {"last_known_leader": LastKnownLeader.ACTIVE, "last_known_in_every_election": True},
        EventKind.ELECT_PREFERRED,
        "CT-12",
    ),
    "F-30": ({"reassign_gate": ReassignGate.ADDING}, EventKind.ALTER_PARTITION, "CT-20"),
    "F-43": ({"log_info_checks": False}, EventKind.FINISH_RECOVERY, "CT-13"),
    "E-20": ({"cancel_gate": False}, EventKind.CANCEL_REASSIGNMENT, "CT-20"),
    "C-50": ({"cancel_forces_first_replica": True, "cancel_gate": False}, EventKind.CANCEL_REASSIGNMENT, "CT-19"),
    "B.7 quirk": ({"retarget_overwrites": False}, EventKind.REASSIGN, "CT-2"),
}


@pytest.mark.slow
@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_hazard_breaks_its_rule(controller_model: Model, hazard: str) -> None:
    """Without the knob the cell holds: it is one of those proved of kip_full above."""
    knobs, kind, ident = HAZARDS[hazard]
    counterexample = refutation(controller_model, Config(**knobs), kind, ident)
    assert counterexample.event.kind == kind
    assert counterexample.after != counterexample.before


# ---------------------------------------------------------------------------- reports and the command


@pytest.mark.slow
def test_a_report_fits_its_schema() -> None:
    report = controller("code_4_0", brokers=2, workers=1, rules=("CT-13", "CT-8"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(to_json(report))
    jsonschema.validate(document, schema)
    assert next(iter(document)) == "schema"
    assert set(schema["properties"]) == set(document)
    assert [rule["id"] for rule in document["rules"]] == ["CT-8", "CT-13"]
    assert report.exit_code == ExitCode.FINDING
    broken = [cell for cell in report.variants[0].cells if cell.verdict == "refuted"]
    assert broken
    assert all(cell.failure is not None and cell.failure.replayed for cell in broken)


@pytest.mark.slow
def test_two_processes_find_what_one_finds() -> None:
    one = controller("code_4_1", brokers=2, workers=1, rules=("CT-1*",))
    two = controller("code_4_1", brokers=2, workers=2, rules=("CT-1*",))
    assert [(c.event, c.rule, c.verdict) for c in one.variants[0].cells] == [
        (c.event, c.rule, c.verdict) for c in two.variants[0].cells
    ]
    assert len(one.variants[0].cells) == 25 * 11
    assert "refuted" in {cell.verdict for cell in one.variants[0].cells}


@pytest.mark.slow
def test_a_knob_that_is_set_is_not_arbitrary(controller_model: Model) -> None:
    """Cancelling in 4.1 empties nothing where unclean election is forbidden (CT-19 needs it allowed)."""
    refutation(controller_model, variant_config("code_4_1"), EventKind.CANCEL_REASSIGNMENT, "CT-19")
    selection = Selection("code_4_1", overrides=("unclean_leader_election_enable=false",))
    fixed = run_controller(ControllerRequest(selection, brokers=2, workers=1, rules=("CT-19",)), Silent())
    assert fixed.verdict == "proved"
    assert "unclean_leader_election_enable" not in fixed.variants[0].open
    assert fixed.variants[0].config["unclean_leader_election_enable"] is False


@pytest.mark.slow
def test_running_out_of_time_is_inconclusive() -> None:
    report = controller(brokers=3, workers=1, timeout=0.000001, rules=("CT-13", "CT-17"))
    assert report.verdict == "inconclusive"
    assert report.exit_code == ExitCode.INCONCLUSIVE
    assert any(cell.verdict == "unknown" and cell.reason for cell in report.variants[0].cells)


@pytest.mark.slow
def test_rules_are_chosen_by_id_or_name() -> None:
    assert [r.name for r in controller(brokers=1, workers=1, rules=("leaderalive",)).rules] == ["LeaderAlive"]
    with pytest.raises(UsageFault, match="unknown rule `CT-99`"):
        controller(brokers=1, rules=("CT-99",))
    with pytest.raises(NothingChecked):
        controller(brokers=1, rules=("X-*",))


@pytest.mark.slow
def test_the_command_prints_a_table_and_a_counterexample(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["prove", "--controller", "--brokers", "2", "--workers", "1", "-p", "CT-13"]
    assert run(cli, [*arguments, "--variant", "code_4_0"]) == ExitCode.FINDING
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("REFUTED  CT-13 LeaderAlive by UNFENCE") for line in lines)
    assert "      replayed  yes, in plain Python" in lines
    assert any(line.split() == ["UNFENCE", "F"] for line in lines)
    assert any(line.split() == ["FENCE", "."] for line in lines)
    assert any(line.split() == ["DESIGNATE", "impossible"] for line in lines)
    assert lines[-1].startswith("REFUTED  code_4_0")
    assert run(cli, [*arguments, "--brokers", "1"]) == ExitCode.HOLDS
    assert capsys.readouterr().out.splitlines()[-1].startswith("PROVED  kip_full")


@pytest.mark.slow
def test_all_variants_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """F-1 is in October 2024 and 4.0; in 3.9 a leader that registers again is fenced and stays the leader."""
    arguments = ["prove", "--controller", "--all-variants", "--brokers", "2", "--workers", "1", "-p", "CT-13"]
    assert run(cli, [*arguments, "--format", "json"]) == ExitCode.FINDING
    report = json.loads(capsys.readouterr().out)
    verdicts = {v["variant"]: v["verdict"] for v in report["variants"]}
    assert verdicts == {
        "kip_full": "proved",
        "kip_phase1": "proved",
        "code_2024_10": "refuted",
        "code_3_9": "refuted",
        "code_4_0": "refuted",
        "code_4_1_0": "proved",
        "code_4_1_1": "proved",
        "code_4_3": "proved",
        "repaired_4_3": "proved",
        "legacy_strict": "proved",
        "legacy": "proved",
        "rejected_soft_min_isr": "proved",
        "rejected_n_answers": "proved",
        "rejected_empty_isr": "proved",
        "rejected_shadow_isr": "proved",
    }


@pytest.mark.parametrize("option", [["--brokers", "3"], ["--all-variants"]])
def test_options_of_the_controller_proof_need_it(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["prove", *option]) == ExitCode.DID_NOT_RUN
    assert "error[usage-controller]" in capsys.readouterr().err
