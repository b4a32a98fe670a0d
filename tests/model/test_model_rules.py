"""The model's own rules, with expected results worked out by hand, and its hygiene."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.catalogue.configured import find_variant
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.nodes import cone
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model import config, state
from elrcheck.model.broker.logs import EpochEnd, diverges, end_offset_for, truncation_point
from elrcheck.model.choices import MinIsrPropagation
from elrcheck.model.config import Config
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, Broker, Entry

MODEL = Path(str(config.__file__)).parent
# What the rules may use of Python, and what the two files that put the model together use beside it.
PLAIN = {"__future__", "collections", "dataclasses", "enum", "typing"}
MORE = {"protocol.py": {"pathlib", "types"}, "knobs.py": {"inspect", "io", "tokenize"}}


def holding(*epochs: int) -> Broker:
    """A broker with records of these epochs."""
    return replace(Init(Config(broker_count=2)).broker[1], log=log(*epochs))


def log(*epochs: int) -> tuple[Entry, ...]:
    return tuple(Entry(id=10 * i + e, epoch=e, acks=Acks.ALL) for i, e in enumerate(epochs))


@pytest.mark.parametrize("path", sorted(MODEL.rglob("*.py")), ids=lambda path: str(path.relative_to(MODEL)))
def test_model_reads_as_prose(path: Path) -> None:
    """Every file: no engine, no solver, no more than 400 lines, and it says what it is."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= 400
    assert ast.get_docstring(tree)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    foreign = {name for name in imported if name.split(".")[0] not in PLAIN | MORE.get(path.name, set())}
    assert not {name for name in foreign if not name.startswith(("elrcheck.lang", "elrcheck.model"))}


def test_every_action_has_a_docstring() -> None:
    for fn in load_checked_model().actions:
        assert fn.doc, fn.name


def test_ghosts_are_never_read_by_protocol_rules() -> None:
    """No guard and no protocol variable depends on a ghost; only a record's id comes from a counter."""
    lowered = lower(load_checked_model(), Config(log_slots=2, records=2, clean_stops=1))
    program = lowered.program
    ghosts = {i for i, leaf in enumerate(program.leaves) if leaf.path.split("[")[0].split(".")[0] in state.GHOSTS}
    assert len(ghosts) > 5
    for instance in program.instances:
        read = {n.leaf for n in cone(instance.guards) if n.op == "var"}
        assert not read & ghosts, (instance.action, "guard")
        for leaf, node in instance.updates.items():
            path = program.leaves[leaf].path
            if leaf not in ghosts and not path.endswith(".id"):
                assert not {n.leaf for n in cone([node]) if n.op == "var"} & ghosts, (instance.action, path)


# ---------------------------------------------------------------------------- logs (KIP-101, KIP-279)


@pytest.mark.parametrize(
    ("leader", "own", "epoch", "expected"),
    [
        (holding(1, 1, 2), 3, 1, (1, 2)),  # end of epoch 1 is where epoch 2 starts
        (holding(1, 1, 2), 3, 2, (2, 3)),  # latest epoch with records: the log end
        (holding(1, 3), 4, 2, (1, 1)),  # epoch 2 unknown: the one below it, and where epoch 3 starts
        (holding(2, 2), 3, 1, (0, 0)),  # nothing at or below: the start
        (holding(), 5, 5, (5, 0)),  # the leader cached its own epoch when it took over (KAFKA-7415)
    ],
)
def test_end_offset_for(leader: Broker, own: int, epoch: int, expected: tuple[int, int]) -> None:
    end = end_offset_for(leader, own, epoch)
    assert (end.epoch, end.offset) == expected


def test_divergence_and_truncation() -> None:
    leader, follower = holding(1, 2, 2), holding(1, 1, 1)
    end = end_offset_for(leader, 2, 1)
    assert (end.epoch, end.offset) == (1, 1)
    assert diverges(end, last_fetched=1, fetch_offset=3)
    assert truncation_point(follower, end) == 1
    same = end_offset_for(leader, 2, 2)
    assert not diverges(same, last_fetched=2, fetch_offset=2)
    # The follower lacks the epoch the leader names: it cuts at its own end of a lower one and asks again.
    assert truncation_point(holding(1, 3), EpochEnd(epoch=2, offset=5)) == 1


# ---------------------------------------------------------------------------- scenario E-1


E1 = [
    Label("Fence", (0,)),
    Label("ApplyMetadata", (1,)),
    Label("Produce", (1, Acks.ALL)),
    Label("ApplyMetadata", (2,)),
    Label("Fetch", (2, 1, False)),
    Label("Fetch", (2, 1, False)),
    Label("Fence", (1,)),
    Label("Crash", (2, 0)),
    Label("Fence", (2,)),
]


def play(variant: str, labels: list[Label]) -> state.State:
    model = load_checked_model()
    plain = PlainModel(model, Config(**find_variant(variant).knobs, records=3, log_slots=3, fences=3))
    current = plain.initial()
    for label in labels:
        current = plain.step(current, label)
    assert isinstance(current, state.State)
    return current


def test_e1_legacy_keeps_the_last_replica() -> None:
    """T2 of the KIP's motivation: ISR stays [2], no leader; its return makes it leader without data."""
    after = play("legacy", E1)
    assert len(after.committed) == 1
    assert (after.partition.isr, after.partition.elr, after.partition.leader) == (frozenset({2}), frozenset(), None)
    back = play("legacy", [*E1, Label("Start", (2,)), Label("Register", (2,)), Label("ApplyMetadata", (2,))])
    back = play(
        "legacy",
        [*E1, Label("Start", (2,)), Label("Register", (2,)), Label("ApplyMetadata", (2,)), Label("Unfence", (2,))],
    )
    assert back.partition.leader == 2
    assert back.broker[2].log == ()


def test_e1_kip_full_elects_the_eligible_replica() -> None:
    """With ELR: ISR empties, ELR {1,2}, and broker 1 brings the committed record back."""
    after = play("kip_full", E1)
    assert (after.partition.isr, after.partition.elr, after.partition.leader) == (frozenset(), frozenset({1, 2}), None)
    assert after.partition.last_known_leader == 2
    assert after.partition.leader_epoch == 4
    one = play("kip_full", [*E1, Label("ApplyMetadata", (1,)), Label("Unfence", (1,))])
    assert (one.partition.leader, one.partition.isr, one.partition.elr) == (1, frozenset({1}), frozenset({2}))
    assert one.partition.leader_epoch == 5
    assert one.broker[1].log[0] == one.committed[0]
    gone = play("kip_full", [*E1, Label("Start", (2,)), Label("Register", (2,))])
    assert gone.partition.elr == frozenset({1}), "an unclean registration leaves the ELR"


def test_a_min_isr_that_cannot_change_is_told_to_nobody() -> None:
    """It is not part of the state then; what a broker knows has no room for a value."""
    plain = PlainModel(load_checked_model(), Config(min_isr_propagation=MinIsrPropagation.LOG))
    with pytest.raises(NotEnabled, match="b has an older value"):
        plain.step(plain.initial(), Label("ApplyMinIsr", (0,)))
