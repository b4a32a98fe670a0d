"""No action and no branch of the model is idle, except those listed here with a reason.

The list is exact: what it names must still be out of reach, so a change of the model that brings a
branch to life has to take it off.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.config import Config
from elrcheck.model.control_plane import partition
from elrcheck.model.protocol import load_model
from support.branch_coverage import PROBE, Arm, Coverage, CoverageSearch
from support.coverage_suite import cases
from support.knob_cases import CASES, TWO

# Functions that no action calls.
NOT_CALLED = {
    "waits": "properties ask what a producer is told; it follows from a step and is not part of a state",
    "answer_after": "as waits",
    "may_lead": "properties ask who may lead; an election takes the same brokers from its target",
    "balance_fails": "as balance_preferred",
    "balance_decided": "as balance_preferred",
    "creation_decided": "a behaviour of the model starts with the partition created",
    "created_partition": "as creation_decided",
    "balance_preferred": "ElectPreferred stands for the periodic balancing too; what-if asks for it alone",
}

STALE = "response.error == Error.STALE_BROKER_EPOCH"
NOT_CONTROLLER = "response.error == Error.NOT_CONTROLLER"
RETRIES = "c.alter_retries"
AHEAD = "r.leader_epoch > p.leader_epoch"
AHEAD_TOO = "r.partition_epoch > p.partition_epoch"
FOREIGN = "not r.isr <= frozenset(p.replicas)"
WITHOUT_SENDER = "r.sender not in r.isr"
RECOVERING = "r.recovery == Recovery.RECOVERING"
MORE = "len(r.isr) > 1"
FAULTLESS = "decided.error == Error.NONE"
NO_GRANT = "r.fenced or not r.in_controlled_shutdown or controller.partition.leader == b"
RECOVERED = "p.recovery == Recovery.RECOVERED"
# Reason -> what is out of reach: function, condition, value. What-if may reach it from any partition.
OUT_OF_REACH: dict[str, list[tuple[str, str, bool]]] = {
    "a running broker is the incarnation that is registered: without live_unregistrations, only brokers that are down "
    "are unregistered, and a registration drops the request of the incarnation before it": [
        ("StartControlledShutdown", "s.broker[b].epoch == r.epoch", False),
        ("validate_alter", "r.sender_epoch != sender.epoch", True),
        ("LeaderLearns", STALE, True),
        ("LeaderLearns", f"stale and {RETRIES}", True),
        ("LeaderLearns", RETRIES, True),
        ("LeaderLearns", RETRIES, False),
    ],
    "there is one metadata log, so no leader is ahead of the controller": [
        ("validate_alter", AHEAD, True),
        ("validate_alter", AHEAD_TOO, True),
        ("validate_alter", f"{AHEAD} or {AHEAD_TOO}", True),
        ("LeaderLearns", NOT_CONTROLLER, True),
        ("LeaderLearns", "stale", True),
    ],
    "another leader has another leader epoch": [("validate_alter", "p.leader != r.sender", True)],
    "a proposal comes from the leader's view: replicas, itself among them": [
        ("validate_alter", FOREIGN, True),
        ("validate_alter", WITHOUT_SENDER, True),
        ("validate_alter", f"{FOREIGN} or {WITHOUT_SENDER}", True),
    ],
    "a leader proposes RECOVERED and nothing else (KIP-704)": [
        ("validate_alter", f"{RECOVERING} and ({MORE} or {RECOVERED})", True),
        ("validate_alter", RECOVERING, True),
        *(
            ("validate_alter", text, value)
            for text in (f"{MORE} or {RECOVERED}", MORE, RECOVERED)
            for value in (False, True)
        ),
    ],
    "a leader that has no record of an epoch names an earlier one, and the first half says so": [
        ("fetch_diverges", "unknown_epoch(c, leader, follower.log)", True)
    ],
    "a min ISR as small as one that was lifted has taken its entry off when it came into force": [
        ("undone_after", "u.min_isr != before", False)
    ],
    "the action has asked for it in a guard": [
        ("designate", "desired is None", True),
        ("maybe_elect_unclean", "not unclean_election_allowed(c, controller.settings)", True),
        ("periodic_election_fails", "unclean_election_allowed(c, controller.settings)", False),
        ("min_isr_changed", "before.topic_min_isr == after.topic_min_isr", True),
        ("min_isr_changed", "same", True),
        ("reassign", "len(new_replicas) == 0", True),
        ("fence_decided", "r.fenced", True),
        ("unfence_decided", "not r.fenced", True),
        ("shutdown_decided", "r.fenced or r.in_controlled_shutdown", True),
        ("shutdown_decided", "r.fenced", True),
        ("shutdown_decided", "r.in_controlled_shutdown", True),
        ("grant_decided", NO_GRANT, True),
        *(("grant_decided", part, True) for part in NO_GRANT.split(" or ")),
        ("unregistration_decided", "not r.registered", True),
        ("directory_failure_decided", "controller.registration[b].directory != Directory.ONLINE", True),
        ("directory_move_decided", "not r.registered", True),
        ("directory_move_decided", "b not in frozenset(controller.partition.replicas)", True),
        ("feature_decided", "event.enabled == controller.settings.elr_enabled", True),
        ("may_start", "strategy == RecoveryStrategy.AGGRESSIVE", False),
    ],
    "only the topic's min ISR is deleted, and only a log may say that a report has no news": [
        ("min_isr_error", "value is None", True),
        ("min_isr_error", "deleted", True),
        ("with_min_isr", "value is not None", False),
        ("directories_decided", "event.moved", False),
    ],
    "a last known leader is stored with itself in the ELR or LastKnownELR, and cleared with them": [
        ("without_elr", "p.last_known_leader is None", False)
    ],
    "no variant has a shadow ISR together with ELR": [("update_shadow_isr", "not target.elr_enabled", False)],
    "a leader is only named together with another change": [("merge", "not draft.names_leader", False)],
    "a last known leader that is not a replica, or is -1, takes more events than a search here has; so does an "
    "election that fails: tests/model/test_release_rules.py decides them": [
        ("Fence", FAULTLESS, False),
        ("Register", FAULTLESS, False),
        ("StartControlledShutdown", FAULTLESS, False),
        ("Unfence", FAULTLESS, False),
        ("Unregister", FAULTLESS, False),
        ("fence_fails", "election_fails(c, p, fence_target(c, controller, b))", True),
        ("registration_fails", "election_fails(c, controller.partition, target_without_b)", True),
        ("unfence_fails", "election_fails(c, p, unfence_target(c, controller, b))", True),
        ("unregistration_fails", "election_fails(c, controller.partition, target_without_b)", True),
        ("elect_preferred", "election_fails(c, p, election_target(c, controller, Election.PREFERRED))", True),
        ("elect_unclean", "election_fails(c, p, election_target(c, controller, Election.UNCLEAN))", True),
        ("ReportFailedDirectory", FAULTLESS, False),
        ("UnfenceWithoutDirectory", FAULTLESS, False),
        ("directory_failure_decided", "directory_failure_fails(c, controller, b)", True),
        ("directory_failure_decided", "changed.error != Error.NONE", True),
        ("directory_failure_fails", "election_fails(c, p, without_directory_target(c, controller, b))", True),
        ("AssignDirectories", FAULTLESS, False),
        ("ReportNewDirectory", FAULTLESS, False),
        ("fence_decided", "fence_fails(c, controller, b)", True),
        ("unfence_decided", "unfence_fails(c, controller, b)", True),
        ("registration_decided", "registration_fails(c, controller, b, clean)", True),
        ("shutdown_decided", "fence_fails(c, controller, b)", True),
        ("unregistration_decided", "unregistration_fails(c, controller, b)", True),
        ("directory_move_decided", "directories_fail(c, controller)", True),
        ("directories_decided", "directories_fail(c, controller)", True),
        ("periodic_election_decided", "periodic_election_fails(c, controller)", True),
        ("periodic_election_fails", "election_fails(c, p, unclean)", True),
        ("directories_assigned", "failed", True),
        ("directories_reported", "directories_fail(c, controller)", True),
        ("without_elr", "not p.last_known_none", False),
        ("attempted_change", "election_fails(c, p, target)", True),
        ("elect", "elects_none(c, p, draft, target)", True),
        ("election_fails", "winner not in frozenset(p.replicas)", True),
        ("elects_none", "p.last_known_none", True),
        ("keep_last_known_in_elr_field", "p.last_known_none", True),
        ("keep_last_known_in_elr_field", "not stored", False),
        ("keep_last_known_in_elr_field", "p.last_known_elr != only", False),
        ("keep_last_known_in_elr_field", "p.last_known_elr != only or p.last_known_none != none", False),
        ("keep_last_known_in_elr_field", "p.last_known_none != none", False),
        ("keep_last_known_in_elr_field", "p.last_known_none != none", True),
        ("cancel_reassignment", "election_fails(c, p, restored)", True),
        ("reassign", "election_fails(c, p, reassigned)", True),
    ],
    "no search here clears an ELR that stays in the index, or is of another partition than number 0": [
        ("is_indexed", "controller.registration[b].stale_entries > 0", True),
        ("is_indexed", "stale", True),
        ("left_indexes", "b in p.isr or b in p.elr", False),
        ("left_indexes", "b in p.elr", False),
        ("needed", "c.partition_zero_replicas > 0", True),
        ("index_after", "c.elr_index_goes_stale", True),
        ("index_after", "c.metadata == Propagation.LATEST", False),
        ("index_after", "c.metadata == Propagation.LATEST", True),
        ("index_after", "counts and b in cleared", True),
        ("index_after", "counts", True),
        ("index_after", "b in cleared", False),
        ("index_after", "b in cleared", True),
    ],
    "only conform and what-if ask for a heartbeat that fences or begins a shutdown": [
        ("control_state_decided", "event.becomes == ControlState.FENCED", True),
        ("control_state_decided", "event.becomes == ControlState.CONTROLLED_SHUTDOWN", True),
    ],
    "both records of a heartbeat change the partition where another replica could have led before, or a last member "
    "stayed in the ISR: tests/kafka/conformance/test_failed_directories.py decides them": [
        ("batch_committed", "single", False),
        ("replayed", "second.last_known_elr != before.last_known_elr", True),
        ("replayed", "second.last_known_none != before.last_known_none", True),
        ("replayed", "second.replicas != before.replicas", True),
        ("replayed", "second.adding != before.adding", True),
        ("replayed", "second.removing != before.removing", True),
        ("replayed", "second.isr != before.isr", False),
        ("replayed", "second.elr != before.elr", False),
        ("replayed", "last_known", True),
        ("replayed", "second.recovery != before.recovery", True),
    ],
    "a watermark moves in steps of brokers that act on metadata": [("acked_after", "acts(after)", False)],
    "a leader whose watermark falls loses the records too, and writes others": [
        ("acked_after", "not was_acked(s.acked, e)", False)
    ],
    "a follower whose cache has an epoch too many copies records of another epoch, without a truncation, only from a "
    "leader that has both epochs: that takes three brokers": [
        ("grown", "entry.epoch > latest", False),
        ("grown", "broker.stray_start < len(broker.log)", True),
        ("grown", "stays", True),
    ],
    "some replica is wanted": [("reassignment_completes", "replicas == EMPTY", True)],
    "some replica was there before": [("forced_isr", "first is not None", False)],
}


def key(arm: Arm) -> tuple[str, str, bool]:
    return arm.condition.function, arm.condition.text, arm.value


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model()


@pytest.fixture(scope="module")
def covered(model: Model) -> Coverage:
    run = CoverageSearch(model)
    for case in cases():
        run.explore(case.config, max_states=case.max_states, after=case.after)
    return run.coverage


def test_every_action_fires(covered: Coverage) -> None:
    assert covered.never_fired() == []


def test_every_branch_is_taken_or_excused(covered: Coverage) -> None:
    excused = {entry for entries in OUT_OF_REACH.values() for entry in entries}
    left = [arm for arm in covered.never_taken() if arm.condition.function not in NOT_CALLED]
    unexpected = [str(arm) for arm in left if key(arm) not in excused]
    assert not unexpected, "\n".join(unexpected)
    assert excused - {key(arm) for arm in left} == set(), "these are taken now: remove their excuse"


def test_branches_of_the_change_builder(covered: Coverage) -> None:
    """Whole branches: only single operands of its conditions are excused."""
    left = {arm.condition for arm in covered.never_taken("partition") if arm.condition.kind != "operand"}
    failing = {("attempted_change", "election_fails(c, p, target)"), ("elect", "elects_none(c, p, draft, target)")}
    assert {(condition.function, condition.text) for condition in left} == failing
    conditions = {arm.condition for arm in covered.taken if arm.condition.module == "partition"}
    assert len({condition.function for condition in conditions}) >= 10
    assert {"if", "choice", "filter", "operand"} == {condition.kind for condition in conditions}


def test_functions_that_nothing_calls(covered: Coverage) -> None:
    for function in NOT_CALLED:
        arms = [arm for arm in covered.taken if arm.condition.function == function]
        assert arms and not any(covered.taken[arm] for arm in arms)


# ---------------------------------------------------------------------------- the measure itself


def test_counts_are_those_of_the_reference_search(model: Model) -> None:
    config = Config(**{**TWO, **CASES["gates"]})
    expected = search(model, config)
    outcome = CoverageSearch(model).explore(config, max_states=10**6)
    assert outcome.complete and outcome.states == expected.distinct == 146
    assert sum(outcome.fired.values()) == expected.generated - 1 - expected.cut
    # Start is never cut and has one guard, asked for each broker in each state; nobody is ever down.
    guard = {arm.value: n for arm, n in outcome.taken.items() if arm.condition.function == "Start"}
    assert guard == {False: 2 * 146, True: 0}


def test_steps_beyond_the_budgets_count_for_nothing(model: Model) -> None:
    """With empty logs a crash that keeps nothing is always possible, and never within the budgets."""
    config = Config(**{**TWO, "crashes": 0, "records": 0})
    outcome = CoverageSearch(model).explore(config, max_states=10**6)
    assert search(model, config).enabled["Crash"] > 0
    assert outcome.fired["Crash"] == 0 and "Crash" in outcome.never_fired()
    idle = {key(arm) for arm in outcome.never_taken("lifecycle")}
    assert ("Crash", "keep <= len(broker.log)", True) in idle
    assert ("Crash", "keep <= len(broker.log)", False) not in idle


def test_a_limit_is_told(model: Model) -> None:
    config = Config(**{**TWO, **CASES["unclean"]})
    run = CoverageSearch(model)
    assert not run.explore(config, max_states=50).complete
    assert run.coverage.states >= 50


def test_a_story_begins_the_search(model: Model) -> None:
    config = Config(**{**TWO, "crashes": 1, "fences": 0})
    run = CoverageSearch(model)
    run.explore(config, max_states=1, after=[Label("Crash", (1, 0)), Label("Start", (1,))])
    assert run.coverage.fired["Crash"] == run.coverage.fired["Start"] == 1
    with pytest.raises(NotEnabled, match="b is offline"):
        run.explore(config, max_states=1, after=[Label("Start", (1,))])
    with pytest.raises(NotEnabled, match="budgets"):
        run.explore(config, max_states=1, after=[Label("Crash", (1, 0)), Label("Crash", (0, 0))])


def test_the_model_itself_has_no_probes(model: Model) -> None:
    CoverageSearch(model)
    assert PROBE not in vars(partition)
    assert PROBE not in partition.elect.__code__.co_names


def test_an_arm_says_where_it_is(model: Model) -> None:
    arms = CoverageSearch(model).coverage.never_taken("partition")
    first = next(arm for arm in arms if arm.condition.function == "elect" and arm.condition.kind == "if")
    expected = "if `target.election == Election.PREFERRED and preferred in valid` was never false"
    assert str(first) == f"partition.elect:{first.condition.line}: {expected}"
    source = Path(partition.__file__).read_text().splitlines()[first.condition.line - 1]
    assert source[first.condition.column :].startswith("target.election == Election.PREFERRED and preferred")
