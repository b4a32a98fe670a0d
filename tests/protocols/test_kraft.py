"""KRaft: what its rules prevent, which faults of Raft and of Kafka it shows, and TLC's counts in several scopes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.model_file import read_model
from elrcheck.declared.select import resolve
from elrcheck.lang.runtime import NotEnabled
from support.invoked import Invoke
from support.places import protocol

KRAFT = protocol("kraft")
LEADER_REMOVES_ITSELF = {"servers": 4, "voters": 4, "changes": 1, "longest": 3, "pre_vote": False}
SINGLE_SERVER_BUG = (
    ("TimeOut", 1),
    ("RemoveVoter", 0, 3),  # 0, 1 and 2 vote in the log of 0
    ("GiveVote", 2, 1),
    ("GiveVote", 3, 1),
    ("Lead", 1),
    ("RemoveVoter", 1, 2),  # 0, 1 and 3 vote in the log of 1
    ("Follow", 3, (2, 1)),
    ("Ask", 3),
    ("Answer", 3, 1, 3),
    ("Ask", 3),
    ("Answer", 3, 1, None),  # 1 and 3 are two of those three: this is committed
    ("LearnEpoch", 0, 1),
    ("TimeOut", 0),
    ("GiveVote", 2, 0),
    ("Lead", 0),  # 0 and 2 are two of the others
)
"""D. Ongaro, "bug in single-server membership changes", raft-dev, 2015, with removals only."""


def _verdict(ident: str, **selection: Any) -> tuple[str, int | None]:
    """Verdict and depth of a property, in up to a million and a half states."""
    report = elrcheck.check(model=KRAFT, properties=ident, max_states=1_500_000, **selection)
    (violated,) = report.properties
    return violated.verdict, violated.depth


@pytest.mark.slow
def test_a_voter_that_is_cut_off_raises_its_epoch_without_pre_vote_only() -> None:
    assert _verdict("P-7", scope="cut-off", variant="no-pre-vote") == ("violated", 2)
    assert _verdict("P-7", scope="cut-off") == ("holds", None)


@pytest.mark.slow
def test_a_restarted_follower_that_had_voted_for_itself_stands_with_an_entry_of_its_epoch() -> None:
    """Kafka 4.0 to 4.4: QuorumState.initialize looks for the vote before the leader. 3.9 stored one or the other."""
    assert _verdict("P-8", scope="restart") == ("violated", 12)
    assert _verdict("P-8", scope="restart", variant="follows-again") == ("holds", None)
    assert _verdict("P-8", scope="restart", variant="no-pre-vote") == ("holds", None)


@pytest.mark.slow
def test_a_leader_that_counts_itself_without_a_vote_loses_what_it_committed() -> None:
    """KAFKA-16530; with the rule, the same number of states shows nothing."""
    assert _verdict("P-5", variant="KAFKA-16530", settings=LEADER_REMOVES_ITSELF) == ("violated", 11)
    assert _verdict("P-5", settings=LEADER_REMOVES_ITSELF) == ("inconclusive", None)


@pytest.mark.slow
def test_a_leader_commits_entries_of_earlier_epochs_with_one_of_its_own_only() -> None:
    """D. Ongaro and J. Ousterhout, figure 8."""
    settings = {"last_epoch": 3, "longest": 3}
    assert _verdict("P-5", variant="no-pre-vote", settings={**settings, "own_epoch": False}) == ("violated", 13)
    report = elrcheck.check("no-pre-vote", model=KRAFT, settings=settings, properties="P-5")
    assert (report.verdict, report.search.distinct) == ("holds", 1_563_549)


def test_voters_do_not_change_before_a_commit_in_the_epoch() -> None:
    """Two changes of different epochs, each counted by its own voters, would not see each other."""
    lost = _run(SINGLE_SERVER_BUG, waits=False)
    assert not lost["P-5"] and lost["P-1"]
    at = SINGLE_SERVER_BUG.index(("RemoveVoter", 1, 2))
    assert _run(SINGLE_SERVER_BUG[:at])["P-5"]
    with pytest.raises(NotEnabled, match="n has committed in its epoch"):
        _run(SINGLE_SERVER_BUG[: at + 1])


def _run(steps: tuple[tuple[Any, ...], ...], waits: bool = True) -> dict[str, bool]:
    """Take the steps in the plain model, and return which properties of states are true at their end."""
    rules = {name: value for module in read_model(KRAFT).modules for name, value in vars(module).items()}
    selected = resolve(
        Selection(scope="four-voters", overrides=("pre_vote=false", f"waits={str(waits).lower()}"), model=KRAFT)
    )
    c = selected.config
    state = rules["Init"](c)
    for action, *arguments in steps:
        if action == "Follow":
            epoch, leader = arguments[1]
            arguments[1] = rules["Elected"](epoch=epoch, leader=leader)
        state = rules[action](c, state, *arguments)
    always = {fn.ident: fn for fn in selected.declared.whole().always}
    return {ident: rules[fn.name](c, state) for ident, fn in always.items() if len(fn.states) == 1}


@pytest.mark.tlc
@pytest.mark.slow
@pytest.mark.parametrize("settings", [(), ("voters=2", "changes=2"), ("restarts=1",), ("cuts=1",)])
def test_tlc_counts_the_same_without_pre_vote(settings: tuple[str, ...], invoke: Invoke) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    code, out, _ = invoke(
        "tlc", "--count", "--model", str(KRAFT), "--variant", "no-pre-vote", *options, "--format", "json"
    )
    assert (code, json.loads(out)["verdict"]) == (0, "same")
