"""`what-if`: what it refuses to read and where, the order of its lists, and ids of any size."""

from __future__ import annotations

import copy
import io
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.what_if.ask import answer
from elrcheck.model.control_plane import creation
from elrcheck.model.protocol import load_model

Json = dict[str, Any]

QUESTION: Json = {
    "variant": "code_4_1",
    "min_isr": 2,
    "elr_enabled": True,
    "unclean_leader_election_enable": False,
    "bump_leader_epoch_on_isr_shrink": False,
    "brokers": {
        "1": {"fenced": False, "in_controlled_shutdown": False, "epoch": 101},
        "2": {"fenced": False, "in_controlled_shutdown": False, "epoch": 102},
        "3": {"fenced": True, "in_controlled_shutdown": False, "epoch": 103},
    },
    "partition": {
        "replicas": [1, 2, 3],
        "isr": [1],
        "elr": [2],
        "last_known_elr": [],
        "adding": [],
        "removing": [],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 2,
        "leader_recovery_state": "RECOVERED",
    },
    "op": {"type": "fence", "broker": 1},
}
ALTER: Json = {
    "type": "alter_partition",
    "sender": 1,
    "sender_broker_epoch": 101,
    "leader_epoch": 0,
    "partition_epoch": 2,
    "new_isr": [[2, 102], [1, 101]],
    "leader_recovery_state": "RECOVERED",
}
MISSING = object()


def changed(path: str, value: Any, base: Json = QUESTION) -> Json:
    """The question with one field replaced, added or (MISSING) left out; `/` separates the keys."""
    copied = copy.deepcopy(base)
    *parents, last = path.split("/")
    place: Any = copied
    for key in parents:
        place = place[key]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return copied


def refusal(question: Json) -> UsageFault:
    with pytest.raises(UsageFault) as caught:
        answer(question)
    return caught.value


def test_what_is_not_given_is_healthy() -> None:
    short = {"variant": "code_4_1", "min_isr": 2, "partition": {"replicas": [1, 2, 3]}}
    fenced = answer({**short, "op": {"type": "fence", "broker": 1}})
    assert fenced["partition"] == {
        **QUESTION["partition"],
        "isr": [2, 3],
        "elr": [],
        "leader": 2,
        "leader_epoch": 1,
        "partition_epoch": 1,
    }
    assert fenced["brokers"]["1"] == {"fenced": True, "in_controlled_shutdown": False, "epoch": 0}
    shrunk = answer({**short, "op": {"type": "alter_partition", "new_isr": [1, 2]}})
    assert (shrunk["error"], shrunk["partition"]["isr"]) == ("NONE", [1, 2])
    reply = answer({"op": {"type": "create_partition", "replicas": [4, 5]}})
    assert (reply["partition"]["isr"], list(reply["brokers"])) == ([4, 5], ["4", "5"])


def test_the_example_of_the_contract() -> None:
    reply = answer(QUESTION)
    assert reply == {
        "error": "NONE",
        "partition": {
            **QUESTION["partition"],
            "isr": [2],
            "elr": [1],
            "leader": 2,
            "leader_epoch": 1,
            "partition_epoch": 3,
        },
        "brokers": changed("1/fenced", True, QUESTION["brokers"]),
    }


@pytest.mark.parametrize(
    ("path", "value", "code", "where", "words"),
    [
        ("partition/isr", [1, 9], "unknown-id", "partition.isr[1]", "broker 9 is not in brokers"),
        ("partition/replicas", [1, 2, 7], "unknown-id", "partition.replicas[2]", "broker 7"),
        ("partition/leader", 4, "unknown-id", "partition.leader", "broker 4"),
        ("partition/last_known_elr", [8], "unknown-id", "partition.last_known_elr[0]", "broker 8"),
        ("op/broker", 5, "unknown-id", "op.broker", "broker 5"),
        ("partition/replicas", [1, 2, 1], "duplicate-id", "partition.replicas[2]", "broker 1 is given twice"),
        ("partition/elr", [2, 2], "duplicate-id", "partition.elr[1]", "broker 2 is given twice"),
        ("partition/replicas", [], "bad-value", "partition.replicas", "no replica"),
        ("brokers", {}, "bad-value", "brokers", "no broker"),
        ("brokers", [], "bad-value", "brokers", "expected an object, not a list"),
        ("brokers/x1", {}, "bad-value", "brokers.x1", "`x1` is not a broker id"),
        ("brokers/01", {}, "bad-value", "brokers.01", "`01` is not a broker id"),
        ("brokers/-1", {}, "bad-value", "brokers.-1", "`-1` is not a broker id"),
        ("brokers/1/epoch", -1, "bad-value", "brokers.1.epoch", "0 or more"),
        ("brokers/2/fenced", 0, "bad-value", "brokers.2.fenced", "expected true or false, not 0"),
        ("brokers/2/fence", True, "unknown-key", "brokers.2.fence", "unknown key `fence`"),
        ("partition", MISSING, "missing-key", "partition", "`partition` is missing"),
        ("partition", None, "bad-value", "partition", "expected an object, not null"),
        ("partition/replicas", MISSING, "missing-key", "partition.replicas", "`replicas` is missing"),
        ("partition/isr", 1, "bad-value", "partition.isr", "expected a list, not 1"),
        ("partition/isr", ["1"], "bad-value", "partition.isr[0]", "expected a whole number, not '1'"),
        ("partition/isr", [True], "bad-value", "partition.isr[0]", "not true"),
        ("partition/leader_epoch", 1.0, "bad-value", "partition.leader_epoch", "not 1.0"),
        ("partition/leader_recovery_state", "", "bad-value", "partition.leader_recovery_state", "RECOVERED"),
        ("partition/isrs", [], "unknown-key", "partition.isrs", "unknown key `isrs`"),
        ("partition/last_known_leader", 2, "bad-value", "partition.last_known_leader", "no such field"),
        ("op", MISSING, "missing-key", "op", "`op` is missing"),
        ("op", "fence", "bad-value", "op", "expected an object"),
        ("op/type", MISSING, "missing-key", "op.type", "`type` is missing"),
        ("op/type", 3, "bad-value", "op.type", "expected a name"),
        ("op/broker", MISSING, "missing-key", "op.broker", "`broker` is missing"),
        ("op/clean", True, "unknown-key", "op.clean", "unknown key `clean`"),
        ("min_isr", 0, "bad-value", "min_isr", "1 or more"),
        ("min_isr", "2", "bad-value", "min_isr", "whole number"),
        ("elr_enabled", 1, "bad-value", "elr_enabled", "true or false"),
        ("clean_check", "MAYBE", "bad-value", "clean_check", "EPOCH"),
        ("crashes", 1, "unknown-key", "crashes", "unknown key `crashes`"),
        ("broker_count", 3, "unknown-key", "broker_count", "unknown key `broker_count`"),
        ("variant", 4, "bad-value", "variant", "expected a name"),
    ],
)
def test_refusals_name_the_path(path: str, value: Any, code: str, where: str, words: str) -> None:
    fault = refusal(changed(path, value))
    assert (fault.code, fault.where) == (f"what-if-{code}", where)
    assert words in fault.message
    assert fault.exit_code == 2


@pytest.mark.parametrize(
    ("path", "value", "suggestion"),
    [
        ("min_isrs", 2, "min_isr"),
        ("partition/elrs", [], "elr"),
        ("op/brokr", 1, "broker"),
        ("brokers/1/fencd", True, "fenced"),
        ("variant", "code_4_11", "code_4_1_1"),
    ],
)
def test_near_misses_get_a_suggestion(path: str, value: Any, suggestion: str) -> None:
    assert refusal(changed(path, value)).help == f"did you mean `{suggestion}`?"


def test_an_unknown_operation_is_told_all_there_are() -> None:
    fault = refusal(changed("op/type", "reasign"))
    assert (fault.code, fault.where) == ("what-if-unknown-op", "op.type")
    supported = [
        "fence",
        "unfence",
        "controlled_shutdown",
        "register",
        "unregister",
        "directory_failed",
        "assign_directories",
        "alter_partition",
        "create_partition",
        "balance_preferred",
        "maybe_elect_unclean",
        "elect_leaders",
        "reassign",
        "cancel_reassignment",
        "set_min_isr",
        "change",
    ]
    assert fault.help is not None
    assert fault.help.endswith("supported: " + ", ".join(supported))
    elections = refusal(changed("op", {"type": "elect_leaders", "election_type": "RANDOM"}))
    assert elections.where == "op.election_type"
    assert elections.message.startswith("expected PREFERRED or UNCLEAN or DESIGNATION or LONGEST_LOG")


@pytest.mark.parametrize(
    ("field", "value", "where"),
    [
        ("new_isr", [[1, 101], "2"], "op.new_isr[1]"),
        ("new_isr", [[1, 101, 0]], "op.new_isr[0]"),
        ("new_isr", [["1", 101]], "op.new_isr[0][0]"),
        ("new_isr", [[1, -2]], "op.new_isr[0][1]"),
        ("new_isr", MISSING, "op.new_isr"),
        ("leader_recovery_state", "", "op.leader_recovery_state"),
        ("sender", "1", "op.sender"),
    ],
)
def test_alter_partition_fields(field: str, value: Any, where: str) -> None:
    question = changed("op", ALTER)
    assert refusal(changed(f"op/{field}", value, question)).where == where


# ---------------------------------------------------------------------------- order and ids


def test_an_isr_that_was_asked_for_keeps_the_order_asked_for() -> None:
    grown = answer(changed("op", ALTER))
    assert (grown["error"], grown["partition"]["isr"]) == ("NONE", [2, 1])
    raw = {"type": "change", "target_isr": [3, 1], "target_replicas": [1, 2, 3]}
    assert answer(changed("op", raw))["partition"]["isr"] == [3, 1]


def test_a_refused_or_idle_request_leaves_every_list_as_given() -> None:
    question = changed("partition/isr", [2, 1], changed("partition/elr", []))
    stale = answer(changed("op", {**ALTER, "partition_epoch": 1, "new_isr": [[1, 101]]}, question))
    assert (stale["error"], stale["partition"]["isr"]) == ("INVALID_UPDATE_VERSION", [2, 1])
    same = answer(changed("op", {**ALTER, "new_isr": [[1, 101], [2, 102]]}, question))
    assert (same["partition"]["isr"], same["partition"]["partition_epoch"]) == ([2, 1], 2)


def test_a_changed_elr_is_listed_in_ascending_order() -> None:
    live = {str(b): {"fenced": False, "in_controlled_shutdown": False, "epoch": 0} for b in (5, 4, 3, 2, 1)}
    question = changed("brokers", live, changed("min_isr", 5))
    question["partition"] |= {"replicas": [5, 4, 3, 2, 1], "isr": [5, 3, 1, 2], "elr": [4], "leader": 1}
    question["op"] = {"type": "change", "target_isr": [1]}
    reply = answer(question)
    assert reply["partition"]["elr"] == [2, 3, 4, 5]
    assert list(reply["brokers"]) == ["5", "4", "3", "2", "1"]


def renamed(value: Any, ids: dict[int, int], key: str = "") -> Any:
    """A question or an answer with other broker ids."""
    names = {"replicas", "isr", "elr", "last_known_elr", "adding", "removing", "leader", "broker", "sender"}
    if isinstance(value, dict):
        return {(str(ids[int(k)]) if key == "brokers" else k): renamed(v, ids, k) for k, v in value.items()}
    if key == "new_isr":
        return [[ids[member], epoch] for member, epoch in value]
    if isinstance(value, list):
        return [ids[v] for v in value] if key in names else value
    return ids.get(value, value) if key in names else value


@pytest.mark.parametrize("ids", [*itertools.permutations((1, 2, 3)), (0, 2**40, -7), (1001, 7, 300)])
@pytest.mark.parametrize("op", [ALTER, {"type": "fence", "broker": 1}, {"type": "unfence", "broker": 3}])
def test_only_the_order_of_replicas_tells_brokers_apart(ids: tuple[int, ...], op: Json) -> None:
    question = changed("op", op)
    others = dict(zip((1, 2, 3), ids, strict=True))
    assert answer(renamed(question, others)) == renamed(answer(question), others)


def test_epochs_may_be_any_whole_numbers() -> None:
    """No shift shows outside: an epoch of 0 is an epoch, only -1 is not known."""
    question = changed("brokers/3", {"fenced": False, "in_controlled_shutdown": False, "epoch": 0})
    question["partition"] |= {"leader_epoch": -3, "partition_epoch": 2**63}
    question["op"] = {**ALTER, "leader_epoch": -3, "partition_epoch": 2**63, "new_isr": [[1, 101], [3, 0]]}
    reply = answer(question)
    assert (reply["error"], reply["partition"]["isr"]) == ("NONE", [1, 3])
    assert (reply["partition"]["leader_epoch"], reply["partition"]["partition_epoch"]) == (-3, 2**63 + 1)
    assert reply["brokers"] == question["brokers"]


def test_the_question_is_left_as_it_was() -> None:
    question = copy.deepcopy(QUESTION)
    answer(question)
    assert question == QUESTION


def test_the_admin_rules_are_in_the_modelling_language() -> None:
    """They run in plain Python here; the compiler accepts them as well, so no reading is shut out."""
    fns = load_model(creation).fns
    assert {"elect_preferred", "elect_unclean", "balance_preferred", "created_partition"} <= set(fns)


# ---------------------------------------------------------------------------- the command

Feed = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def feed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Feed:
    monkeypatch.chdir(tmp_path)

    def call(text: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        code = run(cli, ["what-if"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_command_answers_each_line_until_one_is_wrong(feed: Feed) -> None:
    good, bad = json.dumps(QUESTION), json.dumps(changed("partition/isr", [1, 9]))
    code, out, _ = feed(f"{good}\n{good}\n")
    assert (code, [json.loads(reply) for reply in out.splitlines()]) == (0, [answer(QUESTION)] * 2)
    code, out, err = feed(f"{good}\n{bad}\n{good}\n")
    assert (code, out.count("\n")) == (2, 1)
    assert "error[what-if-unknown-id]: broker 9 is not in brokers\n  --> <stdin>:2: partition.isr[1]\n" in err
