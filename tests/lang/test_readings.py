"""What the language offers for protocols in general means the same in every reading; TLC judges what is printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.lang.load import Model
from elrcheck.lang.source import ModelError
from support.readings import IMPORTS, assert_readings_agree, model_of

Invoke = Callable[..., tuple[int, str, str]]

RING = """
Slot = Annotated[int, nat("Slot", hi=6)]
Node = Annotated[int, sort("Node", "size", ordered=True)]
Index = Annotated[int, nat("Index", cap=30)]
@config
class C:
    size: int = 3
    slots: int = 7
@state
class S:
    head: Slot
    written: Index
    at: Node
@init
def Init(c: C) -> S:
    return S(head=0, written=0, at=0)
@action
def Write(c: C, s: S) -> S:
    require(s.written - s.head // 2 < 20, "there is room")
    return replace(s, head=(s.head + 5) % c.slots, written=s.written + 1, at=(s.at + 2) % c.size)
@action
def Read(c: C, s: S, n: Node) -> S:
    require((s.written // c.size) % 2 == 1 and n == (s.at + s.written) % c.size, "the round is odd")
    return replace(s, at=(n - 1) % c.size)
"""


OPTIONAL = """
Node = Annotated[int, sort("Node", "nodes")]
Delta = Annotated[int, nat("Delta", lo=-1, hi=1)]
@config
class C:
    nodes: int = 2
@record
class Message:
    sender: Node
    to: Node | None
    delta: Delta
@record
class Channel:
    first: Message | None
    flag: bool | None
@state
class S:
    channel: Channel
    mail: Annotated[tuple[Message | None, ...], Per(Node)]
    sent: frozenset[Message]
    votes: frozenset[Node] | None
    delta: Delta | None
    log: Annotated[tuple[Message | None, ...], SeqMark(2)]
@init
def Init(c: C) -> S:
    mail = tuple(None for n in range(c.nodes))
    return S(channel=Channel(first=None, flag=None), mail=mail, sent=EMPTY, votes=None, delta=None, log=())
@op
def of(m: Message | None) -> int:
    match m:
        case None:
            return 7
        case Message(to=None):
            return 8
        case Message(delta=d):
            return d
@op
def answer(m: Message) -> Message | None:
    return None if m.to is None else replace(m, delta=0 - m.delta)
@action
def Send(c: C, s: S, n: Node, to: Node | None, delta: Delta | None) -> S:
    require(s.mail[n] is None and delta is not None and s.delta != delta, "n has sent nothing")
    message = Message(sender=n, to=to, delta=delta)
    require(len(s.log) < 2 and message not in s.sent and (to is None or to != n), "it is new")
    log = (*s.log, s.channel.first)
    return replace(s, mail=put(s.mail, n, message), sent=s.sent | {message}, delta=delta, log=log)
@action
def Take(c: C, s: S, m: Message | None) -> S:
    require(any(s.mail[n] == m for n in range(c.nodes)) and m is not None and s.channel.first is None, "m is there")
    mail = tuple(None if s.mail[n] == m else s.mail[n] for n in range(c.nodes))
    votes = frozenset({m.sender}) if s.votes is None else s.votes | {m.sender}
    return replace(s, mail=mail, channel=Channel(first=answer(m), flag=m.to == 0), votes=votes)
"""


PAIRS = """
Node = Annotated[int, sort("Node", "nodes")]
Round = Annotated[int, nat("Round", hi=2)]
Ballot = tuple[Round, Node]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
@config
class C:
    nodes: int = 2
@state
class S:
    best: Ballot
    seen: frozenset[Ballot]
    last: tuple[Node, Mode, bool] | None
    per: Annotated[tuple[Ballot, ...], Per(Node)]
    log: Annotated[tuple[Ballot, ...], SeqMark(2)]
@init
def Init(c: C) -> S:
    return S(best=(0, 0), seen=EMPTY, last=None, per=tuple((1, n) for n in range(c.nodes)), log=())
@op
def above(a: Ballot, b: Ballot) -> bool:
    (r, n), m = a, b[1]
    return r > b[0] or (r == b[0] and n != m)
@op
def kind(a: Ballot, mode: Mode) -> int:
    match a, mode:
        case (0, _), Mode.IDLE:
            return 1
        case (r, 1), _ if r > 0:
            return r + 5
        case _:
            return 0
@op
def all_pairs(c: C, s: S) -> frozenset[Ballot]:
    return frozenset((r + 1, n) for r, _ in s.seen for n in range(c.nodes) if r < 2)
@action
def See(c: C, s: S, b: Ballot) -> S:
    require(above(b, s.best) and len(s.log) < 2, "it is higher")
    r, n = b
    return replace(s, best=b, seen=s.seen | {(r, n)}, log=(*s.log, s.best), per=put(s.per, n, (r, s.best[1])))
@action
def Note(c: C, s: S, n: Node, what: tuple[Mode, bool]) -> S:
    require(s.last is None and (s.best[0], n) in s.seen, "nothing is noted")
    return replace(s, last=(n, what[0], what[1]))
"""


def case(text: str, *expressions: str) -> tuple[str, tuple[str, ...]]:
    return text, expressions


NUMBERS = """
Offset = Annotated[int, nat("Offset", lo=-2, hi=3)]
Year = Annotated[int, nat("Year", lo=4, hi="last")]
Debt = Annotated[int, nat("Debt", lo=-9, cap=9)]
Node = Annotated[int, sort("Node", "nodes")]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
    DONE = 3
@config
class C:
    nodes: int = 2
    last: int = 5
@record
class Bid:
    who: Node
    offset: Offset
@state
class S:
    offset: Offset
    debt: Debt
    years: frozenset[Year]
    bids: frozenset[Bid]
    log: Annotated[tuple[Year, ...], SeqMark(2)]
    mode: Annotated[tuple[Mode, ...], Per(Node)]
@init
def Init(c: C) -> S:
    return S(offset=-1, debt=0, years=EMPTY, bids=EMPTY, log=(), mode=tuple(Mode.IDLE for n in range(c.nodes)))
@op
def weight(mode: Mode, year: Year | None) -> int:
    match mode:
        case Mode.IDLE | Mode.BUSY if year is None:
            return -1
        case Mode.IDLE:
            return 0
        case Mode.BUSY:
            weighed = 2
        case _:
            weighed = 3
    return weighed
@op
def next_years(years: frozenset[Year]) -> frozenset[Year]:
    return frozenset(y + 1 for y in years if y < 5)
@op
def value(b: Bid) -> int:
    match b:
        case Bid(who=0, offset=-2 | -1 as low):
            return low
        case Bid(who=0):
            return 10
        case Bid(offset=other):
            return other + 20
@action
def Move(c: C, s: S, by: Offset, n: Node) -> S:
    require(by in (-2, 3) and -2 <= s.offset + by <= 3, "inside")
    require(len(s.bids) < 3, "few bids")
    bid = Bid(who=n, offset=by)
    return replace(s, offset=s.offset + by, debt=s.debt - by, bids=s.bids | {bid}, mode=put(s.mode, n, Mode.BUSY))
@action
def Mark(c: C, s: S, y: Year) -> S:
    require(len(s.log) < 2 and s.offset < 0, "there is room")
    return replace(s, years=s.years | {y}, log=(*s.log, y), mode=put(s.mode, 0, Mode.DONE))
"""
CASES = {
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
    "a set of any numbers": (NUMBERS, "len(frozenset(y + 1 for y in s.years)) == 1", "finitely many values have sets"),
    "two kinds of numbers": (NUMBERS, "s.years == frozenset(b.offset for b in s.bids)", "expected frozenset[Year]"),
    "an endless range": (NUMBERS, "all(k > 0 for k in range(s.debt, s.debt, 2))", "from m to n - 1"),
    "parts of a pair": (PAIRS, "s.best[2] == 1", "a part of tuple[Round, Node] is [0] to [1]"),
    "names of a pair": (PAIRS, "all(r == 1 for r, n, m in s.seen)", "cannot name tuple[Round, Node]"),
    "another pair": (PAIRS, "s.best == (0, Mode.IDLE)", "expected Node, this is Mode"),
    "next of a set": (NUMBERS, "next((y for y in s.years), None) is None", "default=None) is the least"),
    "nothing beside a debt": (NUMBERS, "min((s.debt for y in s.years), default=None) is None", "never negative"),
    "min without default": (NUMBERS, "min(y for y in s.years) == 4", "needs default="),
    "by a variable": (RING, "s.head % s.written == 0", "a divisor is a positive number"),
    "by zero": (RING, "s.head // 0 == 0", "a divisor is a positive number"),
    "by a negative number": (RING, "s.head % (0 - 2) == 0", "a divisor is a positive number"),
    "true division": (RING, "s.head / 2 == 1", "numbers have +, -, // and %"),
}


@pytest.mark.parametrize("tlc", [False, pytest.param(True, marks=pytest.mark.tlc)], ids=["ours", "tlc"])
@pytest.mark.parametrize("name", CASES)
def test_all_readings_agree(name: str, tlc: bool, tmp_path: Path) -> None:
    text, expressions = CASES[name]
    model, module = model_of(tmp_path, text, expressions)
    assert_readings_agree(model, module.C(), tmp_path, tlc=tlc)


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
    assert code == 2 and "`slots`: the model divides by it, so it has to be positive" in err


def test_a_trace_stores_a_record_that_a_step_chooses(tmp_path: Path, invoke: Invoke) -> None:
    """The trace has a step that takes a message, into a place that may be empty."""
    file, run = model_file(tmp_path, OPTIONAL, "s.channel.first is None"), tmp_path / "run"
    assert invoke("check", "--model", str(file), "--run-dir", str(run))[0] == 1
    code, out, _ = invoke("trace", "show", str(run / "P-1.trace.json"), "--model", str(file))
    assert code == 0 and "Take(m=(sender=0 to=1 delta=-1))" in out
    assert "channel.first: none -> (sender=0 to=1 delta=1)" in out


@pytest.mark.tlc
def test_traces_with_pairs_go_through_all_notations(tmp_path: Path, invoke: Invoke) -> None:
    file, run = model_file(tmp_path, PAIRS, "s.last is None or s.best != (2, 1)"), tmp_path / "run"
    model = ("--model", str(file))
    assert invoke("check", *model, "--run-dir", str(run))[0] == 1
    trace = str(run / "P-1.trace.json")
    code, out, _ = invoke("trace", "show", trace, *model)
    assert code == 0 and "See(b=(2, 1))" in out and "best: (0, 0) -> (" in out
    assert "CONFIRMED" in invoke("tlc", trace, *model)[1]
    assert invoke("export", "trace", trace, *model, "-f", "itf", "--out", str(tmp_path / "out"))[0] == 0
    (itf,) = (tmp_path / "out").glob("*.itf.json")
    assert '"#tup"' in itf.read_text()
    assert invoke("replay", str(itf), *model)[0] == 0
