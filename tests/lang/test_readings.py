"""What the language offers for protocols in general means the same in every reading; TLC judges what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.lang.load import Model
from elrcheck.lang.source import ModelError
from support.invoked import Invoke
from support.reading_models import BAGS, MAPS, NUMBERS, OPTIONAL, PAIRS, QUORUMS, RING, SLICES
from support.readings import IMPORTS, assert_random_expressions_agree, assert_readings_agree, model_of


def case(text: str, *expressions: str) -> tuple[str, tuple[str, ...]]:
    return text, expressions


CASES = {
    "maps": case(
        MAPS,
        "s.count == locked(c)",
        "s.count[Mode.IDLE] == 1",
        "s.count[next_mode(s.mode)] > 0",
        "sum(s.count[k] for k in Mode) > 2",
        "s.best[1] != s.best[2] and s.best[1] is not None",
        "s.best[s.last.round] is None",
        "all(s.lock[(a, b)] for a, b in every(c, tuple[Node, Node]))",
        "any(s.lock[p] and p[0] != p[1] for p in every(c, tuple[Node, Node]))",
        "s.lock[(s.last.who, 0)] and not s.lock[(0, s.last.who)]",
        "Mode.DONE in s.seen[s.last]",
        "len(frozenset(s.seen[v] for v in every(c, Vote))) == 3",
        "s.seen[Vote(who=1, round=s.last.round)] == EMPTY",
        "s.seen == Map({v: EMPTY for v in every(c, Vote)})",
        "s.last in frozenset(v for v in every(c, Vote) if v.round == 2)",
        "frozenset(k for k in Mode if s.count[k] > 0) == frozenset({Mode.IDLE, Mode.DONE})",
        "Map({n: n is None or n == 1 for n in every(c, Node | None)})[s.best[s.last.round]]",
        "frozenset(Mode) == s.seen[s.last] | frozenset({Mode.BUSY, Mode.DONE})",
        "next((r for r in every(c, Round) if s.best[r] is not None), None) == 2",
    ),
    "bags": case(
        BAGS,
        "len(contents(s.net)) == 2",
        "waiting(c, s, 0) == EMPTY",
        "sum(s.net[m] for m in contents(s.net)) == 3",
        "s.got[Kind.ASK] > s.got[Kind.OK]",
        "contents(s.got) == frozenset({Kind.ASK})",
        "s.last is not None and s.last in contents(s.net)",
        "any(m.kind == Kind.OK for m in contents(s.net))",
        "s.net == Map({m: 1 if m.kind == Kind.ASK else 0 for m in every(c, Message)})",
        "add(s.net, Message(kind=Kind.OK, to=0))[Message(kind=Kind.OK, to=0)] == 2",
        "remove(s.net, Message(kind=Kind.ASK, to=1))[Message(kind=Kind.ASK, to=1)] == 1",
    ),
    "quorums": case(
        QUORUMS,
        "s.votes in quorums(c)",
        "any(q <= s.votes for q in quorums(c))",
        "all(any(n in q for q in s.chosen) for n in range(c.nodes))",
        "s.chosen <= frozenset(q for q in quorums(c) if 0 in q)",
        "all(len(p & q) > 0 for p in s.chosen for q in quorums(c)) and s.mode == Mode.BUSY",
        "frozenset({0, 2}) in s.chosen",
        "len(quorums(c) - s.chosen) == 3",
        "Map({q: len(q) for q in every(c, frozenset[Node])})[s.votes] == 2",
        "Map({b: s.mode == Mode.BUSY for b in every(c, bool)})[0 in s.votes]",
    ),
    "division": case(
        RING,
        "s.written % 4 == 3",
        "s.written // c.slots >= 1",
        "(s.head - s.written) % 5 == 2",
        "(s.head - s.written) // 4 < -2",
        "(s.head - 9) // c.size + (s.at - 1) % 2 == -2",
        "all((s.written + n) % c.size != s.at for n in range(2))",
        "any(k > 1 for k in range(s.head // 2))",
        "any(s.head == k for k in range(s.written % 5))",
        "(s.written % 16) // 8 == 1 and s.written // 1 % 1 == 0",
    ),
    "numbers": case(
        NUMBERS,
        "s.offset < 0 and -s.offset > 1",
        "4 in s.years and 5 not in s.years",
        "any(k == s.offset for k in range(-2, 0))",
        "all(k + s.debt + s.offset < 0 for k in range(s.offset - 1, s.offset + 1))",
        "sum(b.offset for b in s.bids) > 0",
        "sum(2 for y in s.log) == 4",
        "sum(b.offset - k for b in s.bids for k in range(s.offset) if k != b.offset) == 5",
        "sum(1 for b in s.bids for y in s.years if b.who == 0) == 1",
        "max((b.offset for b in s.bids for y in s.years if y > 4), default=-7) == 3",
        "min(s.years, default=9) + max(s.log, default=0) == 9",
        "min(s.offset, s.debt, 0) == -2",
        "next_years(s.years) == frozenset({5})",
        "s.years <= frozenset(k for k in range(4, s.offset + 6))",
        "len(frozenset(b.who for b in s.bids for y in s.years if y == 4)) == 1",
        "min((n for n in range(c.nodes) if s.mode[n] == Mode.BUSY), default=None) == 1",
        "max((b.who for b in s.bids), default=None) is None",
        "next((n for n in range(c.nodes) if s.mode[n] != Mode.IDLE), None) == 1",
        "next((k for k in range(4) if k not in s.years and s.offset < k), None) == 2",
        "min((y for y in s.years if y > 4), default=None) is None",
    ),
    "optionals": case(
        OPTIONAL,
        "s.mail[0] is None and s.mail[1] is not None",
        "s.mail[0] is not None and s.mail[0].delta < 0",
        "s.channel.first in s.sent and s.channel.first is not None",
        "s.channel.first == next((m for m in s.log if m is not None), None)",
        "s.votes == frozenset({1})",
        "s.votes is not None and 0 in s.votes",
        "s.channel.flag is None or s.delta == -1",
        "s.channel.flag == True",
        "None in frozenset(s.log)",
        "len(frozenset(s.mail[n] for n in range(c.nodes))) == 1",
        "any(m == s.mail[0] for m in s.log)",
        "sum(of(s.mail[n]) for n in range(c.nodes)) == 15",
        "of(s.channel.first) == 1",
        "(s.channel.first if s.delta == 1 else s.mail[1]) == None",
    ),
    "pairs": case(
        PAIRS,
        "s.best == (2, 1)",
        "(1, 0) in s.seen",
        "any(r == 1 and n == 1 for r, n in s.seen)",
        "s.last is not None and s.last[1] == Mode.BUSY and not s.last[2]",
        "all(above(s.best, b) for b in s.log)",
        "kind(s.best, Mode.IDLE) == 1",
        "kind(s.best, Mode.BUSY) == 7",
        "(2, 0) in all_pairs(c, s)",
        "len(all_pairs(c, s)) == 4",
        "s.per == tuple((1, n) for n in range(c.nodes))",
        "sum(r + m[0] for r, (_, m) in frozenset((b[0], (b[1], b)) for b in s.seen)) == 6",
        "s.seen == frozenset({s.best})",
        "s.last == (0, Mode.IDLE, True)",
    ),
    "slices": case(
        SLICES,
        "s.queue[: s.at] == s.queue[:2]",
        "s.queue[s.at :] == s.queue[1:]",
        "len(s.queue[:-1]) == 2",
        "len(s.queue[-2:]) == 1",
        "len(s.queue[: len(s.queue) - 2]) == 1",
        "s.queue[s.at - 1 :] == s.queue and len(s.queue) > 1",
        "len(s.queue[: max(0, s.at)]) == 1",
        "s.queue[: s.at] + s.queue[s.at :] == s.queue and s.at < 0 and len(s.queue) == 2",
        "any(k == 3 for k in range(narrow(s)))",
        "sum(k for k in range(narrow(s) - s.at, narrow(s))) == 3",
        "(s.queue + (1,))[1:] == s.queue",
        "last_of_more(s) == 1 and len(s.queue) == 3",
        "(*s.queue, 1)[3] == 1 if len(s.queue) == 3 else s.at > 0",
        "len((s.queue + s.queue)[2:]) == 4 and (s.queue + s.queue)[3] == 1",
        "any(n == 1 for n in (*s.queue, 0)) and 1 in (s.queue + s.queue)[3:][:2]",
        "(s.queue + (0,) if s.at > 0 else s.queue + s.queue)[:3][2:] == s.queue[2:]",
        "len(frozenset((*s.queue, 0))) == 2 and next((n for n in (*s.queue, 0) if n == 0), None) is not None",
        "s.queue[: narrow(s)] == s.queue[: s.at] and len(s.queue) == 3",
        "first(s.queue, s.at - 1) == s.queue[: s.at - 1] and len(s.queue) == 3",
        "(s.queue + (1,)) == (s.queue + (0,) if s.at > 0 else s.queue + (1,))",
        "rest(s.queue + (1,)) != s.queue and len(s.queue) == 3 and longer(s, 1)[3] == 1",
        "rest(rest(longer(s, 1) + (0,))) == s.queue",
        "tuple(n for n in (*s.queue, 0) if n == 0)[3:] == s.queue[:1]",
        "(s.at if s.at > 1 else s.few) == s.few and s.few is not None",
        "(narrow(s) - s.at - 1 if s.at < 1 else None) is None",
    ),
    "match": case(
        NUMBERS,
        "weight(s.mode[0], None) == -1",
        "weight(s.mode[0], None) == 3",
        "weight(s.mode[1], min(s.years, default=None)) == 2",
        "sum(value(b) for b in s.bids) > 18",
        "any(value(b) == -2 for b in s.bids)",
        "any(value(b) == 23 for b in s.bids)",
    ),
}
REFUSED = {
    "a key of another type": (MAPS, "s.count[s.last] == 1", "is indexed by a Mode, not by Vote"),
    "a map of some keys": (MAPS, "s.count == Map({k: 0 for k in Mode if k != s.mode})", "an entry for every key"),
    "a map of other keys": (MAPS, "s.count == Map({v: 0 for v in every(c, Vote)})", "can never be equal"),
    "a key that is not a name": (
        MAPS,
        "s.count == Map({next_mode(k): 0 for k in Mode})",
        "the key is what 'for' names",
    ),
    "a map over a sort": (MAPS, "Map({n: 0 for n in range(c.nodes)})[0] == 1", "is tuple(.. for n in range(c.nodes))"),
    "a vector over an enum": (MAPS, "tuple(0 for k in Mode)[0] == 1", "one value for each Mode is a map"),
    "a bare dict": (MAPS, "{k: 0 for k in Mode}[s.mode] == 1", "is a map: Map({k: x for k in Mode})"),
    "all numbers": (MAPS, "any(k == 1 for k in every(c, int))", "int is infinite"),
    "every as a value": (MAPS, "len(every(c, Vote)) == 4", "frozenset(every(c, T)) is the set of all values"),
    "the first of an enum": (MAPS, "next((k for k in Mode if s.count[k] > 0), None) is None", "takes the first of"),
    "in a bag": (BAGS, "Message(kind=Kind.ASK, to=0) in s.net", "of a bag, write bag[m] > 0"),
    "over a bag": (BAGS, "all(m.to == 0 for m in s.net)", "contents(bag) is what a bag has"),
    "copies of a map": (MAPS, "len(contents(s.lock)) == 1", "a bag is a map to bounded numbers"),
    "a set of any numbers": (NUMBERS, "len(frozenset(y + 1 for y in s.years)) == 1", "finitely many values have sets"),
    "two kinds of numbers": (NUMBERS, "s.years == frozenset(b.offset for b in s.bids)", "expected frozenset[Year]"),
    "an endless range": (NUMBERS, "all(k > 0 for k in range(s.debt, s.debt, 2))", "from m to n - 1"),
    "parts of a pair": (PAIRS, "s.best[2] == 1", "a part of tuple[Round, Node] is [0] to [1]"),
    "names of a pair": (PAIRS, "all(r == 1 for r, n, m in s.seen)", "cannot name tuple[Round, Node]"),
    "another pair": (PAIRS, "s.best == (0, Mode.IDLE)", "expected Node, this is Mode"),
    "numbers below 0 beside others": (OPTIONAL, "s.delta == max((n for n in s.sent), default=None)", "expected"),
    "an element from the end": (NUMBERS, "len(s.log) > 0 and s.log[-1] == 4", "an element has a number from 0 on"),
    "next of a set": (NUMBERS, "next((y for y in s.years), None) is None", "default=None) is the least"),
    "nothing beside a debt": (NUMBERS, "min((s.debt for y in s.years), default=None) is None", "never negative"),
    "min without default": (NUMBERS, "min(y for y in s.years) == 4", "needs default="),
    "by a variable": (RING, "s.head % s.written == 0", "a divisor is a positive number"),
    "by zero": (RING, "s.head // 0 == 0", "a divisor is a positive number"),
    "by a negative number": (RING, "s.head % (0 - 2) == 0", "a divisor is a positive number"),
    "true division": (RING, "s.head / 2 == 1", "numbers have +, -, // and %"),
}


@pytest.mark.parametrize(
    "tlc", [False, pytest.param(True, marks=[pytest.mark.tlc, pytest.mark.slow])], ids=["ours", "tlc"]
)
@pytest.mark.parametrize("name", CASES)
def test_all_readings_agree(name: str, tlc: bool, tmp_path: Path) -> None:
    text, expressions = CASES[name]
    model, module = model_of(tmp_path, text, expressions)
    assert_readings_agree(model, module.C(), tmp_path, tlc=tlc)


@pytest.mark.slow
@pytest.mark.parametrize("tlc", [False, pytest.param(True, marks=pytest.mark.tlc)], ids=["ours", "tlc"])
@pytest.mark.parametrize("seed", range(4))
def test_all_readings_agree_on_random_expressions(seed: int, tlc: bool, tmp_path: Path) -> None:
    """Every operator and type, nested; also properties of steps, which read both states."""
    assert_random_expressions_agree(tmp_path, seed, 24, tlc=tlc)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_reading_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, expression, message = REFUSED[name]
    with pytest.raises(ModelError) as caught:
        model_of(tmp_path, text, (expression,))
    assert message in str(caught.value) and ".py:" in str(caught.value) and "^" in str(caught.value)


def test_a_model_lists_what_it_divides_by(tmp_path: Path) -> None:
    model: Model = model_of(tmp_path, RING, CASES["division"][1])[0]
    assert model.divisors == {"size", "slots"}


def model_file(folder: Path, text: str, expression: str) -> Path:
    """A model that a command takes, with one property."""
    file = folder / "written.py"
    check = f'@always("P-1")\ndef Expected(c: C, s: S) -> bool:\n    """It holds."""\n    return {expression}\n'
    declared = "from elrcheck.lang.load import ProtocolModel\nMODEL = ProtocolModel(S, C)\n"
    file.write_text("\n".join([IMPORTS, text, check, declared]))
    return file


def test_a_divisor_of_zero_is_refused(tmp_path: Path, invoke: Invoke) -> None:
    file = model_file(tmp_path, RING, "s.head < c.slots")
    assert invoke("check", "--model", str(file))[0] == 0
    code, _, err = invoke("check", "--model", str(file), "--set", "slots=0")
    assert code == 2 and "`slots`: the model divides by it, so it must be positive" in err


def test_an_initial_state_outside_the_bound_is_refused(tmp_path: Path, invoke: Invoke) -> None:
    """TLC does not explore one; the engines did, and a suite, whose configurations share a kernel, could not."""
    bound = '@bound\ndef Bound(c: C, s: S) -> bool:\n    """Few."""\n    return s.written + 6 < c.slots\n'
    file = model_file(tmp_path, RING + bound, "s.head < 7")
    assert invoke("check", "--model", str(file))[0] == 0
    for engine in ("local", "numpy", "reference"):
        code, _, err = invoke("check", "--model", str(file), "--set", "slots=6", "--engine", engine)
        assert code == 2 and "an initial state is outside the bound" in err and "written.py:" in err, engine
    suite = tmp_path / "own.toml"
    both = "".join(f'[[configuration]]\nname = "n{slots}"\nset = {{ slots = {slots} }}\n' for slots in (6, 7))
    suite.write_text(f'description = "Two."\nscope = "default"\n{both}')
    code, out, _ = invoke("suite", "--model", str(file), "--file", str(suite))
    assert "an initial state is outside the bound" in out and "internal" not in out


def test_a_trace_stores_a_record_that_a_step_chooses(tmp_path: Path, invoke: Invoke) -> None:
    """The trace has a step that takes a message, into a place that may be empty."""
    file, run = model_file(tmp_path, OPTIONAL, "s.channel.first is None"), tmp_path / "run"
    assert invoke("check", "--model", str(file), "--run-dir", str(run))[0] == 1
    code, out, _ = invoke("trace", "show", str(run / "P-1.trace.json"), "--model", str(file))
    assert code == 0 and "Take(m=(sender=0 to=1 delta=-1))" in out
    assert "channel.first: none -> (sender=0 to=1 delta=1)" in out


@pytest.mark.tlc
@pytest.mark.parametrize(
    ("text", "invariant", "steps", "in_itf"),
    [
        (
            MAPS,
            "not s.lock[(1, 0)] or s.best[2] is None",
            ("lock[(1,0)]: false -> true", "seen[(who=0,round=1)]: {} -> {DONE}", "count: {} -> {DONE: 1}"),
            '"#map"',
        ),
        (PAIRS, "s.last is None or s.best != (2, 1)", ("See(b=(2, 1))", "best: (0, 0) -> ("), '"#tup"'),
    ],
    ids=["maps", "pairs"],
)
def test_traces_go_through_all_notations(
    tmp_path: Path, invoke: Invoke, text: str, invariant: str, steps: tuple[str, ...], in_itf: str
) -> None:
    file, run = model_file(tmp_path, text, invariant), tmp_path / "run"
    model = ("--model", str(file))
    assert invoke("check", *model, "--run-dir", str(run))[0] == 1
    trace = str(run / "P-1.trace.json")
    code, out, _ = invoke("trace", "show", trace, *model)
    assert code == 0 and all(step in out for step in steps)
    copy = tmp_path / "copied.py"
    copy.write_text(file.read_text())
    assert "SAME" in invoke("model", "diff", str(file), str(copy))[1]
    assert "CONFIRMED" in invoke("tlc", trace, *model)[1]
    assert invoke("export", "trace", trace, *model, "-f", "itf", "--out", str(tmp_path / "out"))[0] == 0
    (itf,) = (tmp_path / "out").glob("*.itf.json")
    assert in_itf in itf.read_text()
    assert invoke("replay", str(itf), *model)[0] == 0


@pytest.mark.parametrize("step", ["add(s.net, ask)", "remove(s.net, ask)"])
def test_copies_beyond_their_limit_are_never_cut_silently(step: str, tmp_path: Path, invoke: Invoke) -> None:
    text = BAGS.replace('s.net[ask] < 2 and s.got[Kind.OK] == 0, "there is room")', 'True, "always")')
    file = model_file(tmp_path, text.replace("net=add(s.net, ask)", f"net={step}"), "len(contents(s.net)) < 5")
    for engine in ("local", "numpy"):
        code, out, _ = invoke("check", "--model", str(file), "--engine", engine)
        assert code == 3 and "net[(kind=ASK,to=0)]" in out
    code, out, _ = invoke("prove", "--model", str(file))
    assert code == 1 and "Send does not preserve Types" in out
    code, out, _ = invoke("prove", "--any-size", "--model", str(file))
    assert code == 1 and "Send does not preserve Types" in out
