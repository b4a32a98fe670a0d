"""The exported module: what is printed, that it is legal, and that it means what the model means."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.expr import Constant, NamedConjunction
from elrcheck.lang.load import Model, load
from elrcheck.lang.node import Expr
from elrcheck.lang.tree import UnsupportedNode
from elrcheck.lang.types import BOOL
from elrcheck.model.choices import CleanCheck
from elrcheck.model.config import Config
from elrcheck.tla_export.names import Names
from elrcheck.tla_export.printed import PrintScope
from elrcheck.tla_export.printer import ExpressionPrinter
from elrcheck.tla_export.spec import Spec, spec_text
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc
from support import tiny_model
from support.readings import model_of
from support.tiny_model import Colour, Room, Tiny


@pytest.fixture(scope="module")
def tiny() -> Model:
    return load(Room, Tiny, [tiny_model])


@pytest.fixture(scope="module")
def spec(checked_model: Model) -> Spec:
    return spec_text(checked_model, Config(), "Exported", "a comment")


def definition(spec: Spec, name: str) -> str:
    """The lines from `name ==` or `name(..) ==` to the next blank line."""
    result = re.search(rf"^{name}(\(.*\))? ==(.|\n)*?(?=\n\n)", spec.tla, re.MULTILINE)
    assert result is not None, name
    return result[0]


# ---------------------------------------------------------------------------- what is printed


def test_action_reads_like_its_source(spec: Spec) -> None:
    assert definition(spec, "Unfence") == "\n".join(
        (
            "Unfence(b) ==",
            "    /\\ registration[b].registered  \\* b is registered",
            "    /\\ registration[b].fenced  \\* b is fenced",
            '    /\\ broker[b].status = "RUNNING"  \\* b is running',
            "    /\\ broker[b].view.partition_epoch > 0  \\* b has applied its own registration",
            "    /\\ ~registration[b].in_controlled_shutdown  \\* b is not shutting down",
            "    /\\ LET decided == UnfenceDecided(ControllerOf, [broker |-> b])",
            '       IN  /\\ decided.error = "NONE"  \\* the controller does not fault',
            "           /\\ partition' = decided.controller.partition",
            "           /\\ metadata' = Logged(metadata, settings, partition, decided.controller.partition)",
            "           /\\ recovery' = RecoveryAfter(recovery, decided.controller.partition)",
            "           /\\ registration' = decided.controller.registration",
            "           /\\ broker' = ForgetAtCommit(decided.controller.partition)",
            "           /\\ promised' = PromisedLess(promised,",
            "                                       committed,",
            "                                       MinIsrInForce(settings,",
            "                                                     decided.controller.partition.replicas))",
            "           /\\ undone' = UndoneAfter(MinIsrInForce(settings, decided.controller.partition.replicas))",
            "           /\\ favoured' = IF decided.controller.partition.leader = partition.leader THEN favoured",
            "                          ELSE None",
            "           /\\ UNCHANGED <<settings, fetching, committed, lossy, spent, acked>>",
        )
    )
    assert "\\* A heartbeat of b arrives after it has applied its own registration (handle" in spec.tla


def test_next_tries_what_our_search_tries(checked_model: Model, spec: Spec) -> None:
    lines = re.sub(r" :\n +", " : ", definition(spec, "Next")).splitlines()[1:]
    called = [re.findall(r"(?:: |\\/ )(\w+)(?:\(|$)", line)[-1] for line in lines]
    assert called == [fn.name for fn in checked_model.actions]
    assert "    \\/ \\E b \\in Brokers, keep \\in 0..LOG_SLOTS : Crash(b, keep)" in lines


def test_guards_true_for_two_reasons_are_values(spec: Spec, tiny: Model) -> None:
    assert 'TRUE = (acks # "ZERO" \\/ ACKS_ZERO > 0)' in definition(spec, "Produce")
    put = definition(spec_text(tiny, Tiny(), "T"), "Put")
    assert 'TRUE = (size > 0 \\/ colour = "RED")' in put
    assert "/\\ Len(me.queue) < SLOTS  \\* room" in put


def test_configuration_names_every_constant(checked_model: Model) -> None:
    config = Config(clean_check=CleanCheck.ALWAYS_CLEAN, elr_enabled=False, records=3)
    spec = spec_text(checked_model, config, "Exported")
    declared = re.search(r"^CONSTANTS((?:.|\n)*?)\n\n", spec.tla, re.MULTILINE)
    assert declared is not None
    constants = dict(line.split(" = ") for line in spec.constants.splitlines()[1:])
    assert [name.strip() for name in declared[1].split(",")] == [name.strip() for name in constants]
    assert constants["    CLEAN_CHECK"] == '"ALWAYS_CLEAN"'
    assert constants["    ELR_ENABLED"] == "FALSE"
    assert constants["    RECORDS"] == "3"
    assert constants["    None"] == "None"
    assert spec.tla == spec_text(checked_model, Config(), "Exported").tla, "only the configuration depends on values"


def test_every_property_is_checked(checked_model: Model, spec: Spec) -> None:
    parts = spec.cfg.split("INVARIANTS")[1].split()
    for fn in checked_model.always:
        assert (f"{fn.name}_Step" if fn.is_step else f"{fn.name}_InBudget") in parts
    assert len(parts) == len(checked_model.always) + len(("TypeOK", "PROPERTIES"))
    assert "INVARIANT" not in spec.count_cfg
    assert spec.cfg.startswith(spec.count_cfg)


def test_definitions_come_before_uses(spec: Spec) -> None:
    code = re.sub(r"\\\*.*", "", spec.tla)
    defined = re.finditer(r"^([A-Z]\w*)(?:\(.*\))? ==", code, re.MULTILINE)
    for match in defined:
        first = re.search(rf"\b{match[1]}\b", code.split("VARIABLES", 1)[1])
        assert first is not None
        assert code.index("VARIABLES") + len("VARIABLES") + first.start() == match.start(), match[1]


def test_text_is_plain_and_not_wide(spec: Spec) -> None:
    assert spec.tla.isascii()
    assert "\t" not in spec.tla
    code = [line for line in spec.tla.splitlines() if not line.lstrip().startswith("\\*")]
    assert max(map(len, code)) <= 110


def test_the_same_model_gives_the_same_text(checked_model: Model, spec: Spec) -> None:
    assert spec_text(load_checked_model(), Config(), "Exported", "a comment") == spec


# ---------------------------------------------------------------------------- names and primes


def test_names_never_clash(tiny: Model) -> None:
    spec = spec_text(tiny, Tiny(), "T")
    assert "Doubled == " in spec.tla
    assert "Doubled_(queue) ==" in spec.tla, "the operator gives way to the property"
    assert "\\E y \\in DOMAIN queue : \\E x \\in DOMAIN queue : queue[x].size < queue[y].size" in spec.tla
    assert "Longest(slots_of2, picked2) ==" in spec.tla, "parameters give way to variables"
    assert {"Doubled", "Doubled_", "BusyNext", "Few", "vars"} <= spec.taken


def test_next_state_of_an_operator(spec: Spec, tiny: Model) -> None:
    """One prime behind it where the argument is rigid, a copy where it is not."""
    assert "Leads(b)'" in definition(spec, "StillLeads")
    text = spec_text(tiny, Tiny(), "T")
    grew = "BusyNext(b, Least(Cardinality(picked), 1)) /\\ ~Busy(b, Least(Cardinality(picked), 1))"
    assert definition(text, "Grew").split(" == ")[1] == grew
    assert "MineNext(b) == slots_of'[b]" in text.tla


QUEUE = """
Node = Annotated[int, sort("Node", "nodes")]
@config
class C:
    nodes: int = 2
@state
class S:
    queue: Annotated[tuple[Node, ...], SeqMark(2)]
    up: frozenset[Node]
@init
def Init(c: C) -> S:
    return S(queue=(), up=EMPTY)
@action
def Step(c: C, s: S, n: Node) -> S:
    return replace(s, up=s.up | {n}, queue=(*s.queue[1:], n))
@op
def is_up(c: C, s: S, n: Node) -> bool:
    return n in s.up
@always("P-1")
def StayUp(c: C, s: S, t: S) -> bool:
    return RESULT
"""


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("all(is_up(c, t, n) for n in s.queue)", "\\A n \\in DOMAIN queue : IsUpNext(queue[n])"),
        ("any(is_up(c, t, n) for n in s.queue)", "\\E n \\in DOMAIN queue : IsUpNext(queue[n])"),
        (
            "len(frozenset(is_up(c, t, n) for n in s.queue)) < 2",
            "Cardinality({IsUpNext(queue[n]) : n \\in DOMAIN queue}) < 2",
        ),
        ("all(is_up(c, t, n) for n in s.up)", "\\A n \\in up : IsUp(n)'"),
    ],
)
def test_an_element_of_a_sequence_before_a_step_stays_that_element(written: str, printed: str, tmp_path: Path) -> None:
    """A prime behind an operator would read the element in the next state too."""
    model, module = model_of(tmp_path, QUEUE.replace("RESULT", written))
    assert definition(spec_text(model, module.C(), "Queue"), "StayUp").splitlines()[0] == f"StayUp == {printed}"


LETTERS = """
Value = Annotated[int, nat("Value", hi=2)]
@config
class C:
    pass
@state
class S:
    s: Annotated[tuple[Value, ...], SeqMark(2)]
    n: Annotated[int, nat("Depth", lo=-1, cap=3)]
    x: Value
    y: frozenset[Value]
    T: Value
@init
def Init(c: C) -> S:
    return S(s=(), n=-1, x=0, y=EMPTY, T=0)
@action
def Add(c: C, s: S, k: Value) -> S:
    require(len(s.s) < 2 and s.n < 2, "there is room")
    total = min(2, sum(v for v in s.y))
    return replace(s, s=s.s + (k,), n=s.n + 1, x=max(s.y, default=0), y=s.y | {k}, T=total)
@always("P-1")
def Short(c: C, s: S) -> bool:
    return len(s.s[: s.n]) <= 2 and len(s.s[s.n :]) <= 2 and next((v for v in s.s if v > 2), None) is None
"""


@pytest.mark.tlc
def test_a_variable_may_be_called_like_a_letter_of_the_module(tmp_path: Path) -> None:
    """Helpers and sets of types have letters of their own; a model without a setting has no assumption."""
    model, module = model_of(tmp_path, LETTERS)
    spec = spec_text(model, module.C(), "Letters")
    (tmp_path / "Letters.tla").write_text(spec.tla)
    (tmp_path / "Letters.cfg").write_text(spec.cfg)
    done = run_tlc(find_tools(), tmp_path / "Letters.tla", options=TlcOptions(deadlock=False))
    assert done.exit_code == 0, done.output_tail
    assert done.output.distinct == search(model, module.C()).distinct
    assert "MaxOf(S, default) ==" in spec.tla and "ASSUME" not in spec.tla


class Power(Expr):
    """A node that the printer does not know."""


def test_unknown_node_is_refused() -> None:
    printer = ExpressionPrinter({}, {}, Names(), {})
    with pytest.raises(UnsupportedNode, match=r"TLA\+ cannot print the node 'Power' \(source line 7\)"):
        printer.doc(Power(BOOL, line=7), PrintScope("f", {}))  # type: ignore[arg-type]


def test_nothing_is_dropped_inside_one_line() -> None:
    """A named conjunction has comments, so it cannot stand where only one line fits."""
    parts = (Constant(BOOL, True), Constant(BOOL, False))
    named = NamedConjunction(("a", "b"), parts)
    with pytest.raises(UnsupportedNode, match="NamedConjunction"):
        ExpressionPrinter({}, {}, Names(), {}).text(named, PrintScope("f", {}))


# ---------------------------------------------------------------------------- what it means


@pytest.mark.tlc
@pytest.mark.parametrize(
    "config",
    [
        pytest.param(Tiny(), id="plain"),
        pytest.param(Tiny(strict=False, paint=Colour.GREEN), id="knobs", marks=pytest.mark.slow),
        pytest.param(Tiny(broker_count=1, slots=1, steps=4), id="one-broker", marks=pytest.mark.slow),
        pytest.param(Tiny(steps=2, slots=3), id="longer", marks=pytest.mark.slow),
    ],
)
def test_tlc_counts_the_tiny_model(tiny: Model, config: Tiny, tmp_path: Path) -> None:
    """Every printer that the protocol's model does not use; properties hold as they do for us."""
    expected = search(tiny, config)
    spec = spec_text(tiny, config, "T")
    (tmp_path / "T.tla").write_text(spec.tla)
    broken = [fn.ident for fn in tiny.always if fn.ident in expected.first]
    assert broken == []
    (tmp_path / "T.cfg").write_text(spec.cfg)
    run = run_tlc(find_tools(), tmp_path / "T.tla", None, TlcOptions(deadlock=False, brief=True))
    assert run.exit_code == 0, run.output_tail
    assert run.output.counts == (expected.generated, expected.distinct, expected.diameter)


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_checks_types_and_properties(checked_model: Model, tmp_path: Path) -> None:
    """The whole configuration passes where our own search finds nothing."""
    small = {"broker_count": 2, "records": 1, "log_slots": 1, "acks_one": 0, "fences": 0, "shrinks": 0}
    config = dataclasses.replace(Config(), **small)
    spec = spec_text(checked_model, config, "Checked")
    (tmp_path / "Checked.tla").write_text(spec.tla)
    (tmp_path / "Checked.cfg").write_text(spec.cfg)
    run = run_tlc(find_tools(), tmp_path / "Checked.tla", None, TlcOptions(deadlock=False, brief=True))
    assert run.exit_code == 0, run.output_tail
    assert run.output.counts == (12674, 1218, 18)
