"""Random expressions of every type and operator of the language, and random states in which to evaluate them.

An expression is a text, made by its type: `of("node", ..)` returns one of the forms of that type. What a guard would
have to exclude is excluded in the text: an element beyond the end, a field of None, a number that a set cannot have.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from elrcheck.lang.domains import domain
from elrcheck.lang.runtime import Map
from elrcheck.lang.types import Ty

MODEL = """
class Mode(enum.Enum):
    A = 1
    B = 2
    C = 3
Node = Annotated[int, sort("Node", "nodes")]
Place = Annotated[int, sort("Place", "places", ordered=True)]
Num = Annotated[int, nat("Num", lo=-2, hi=3)]
Few = Annotated[int, nat("Few", hi=2)]
Pair = tuple[Few, Node]
Log = Annotated[tuple[Node, ...], SeqMark("most")]
@config
class C:
    nodes: int = 2
    places: int = 3
    most: int = 3
    two: int = 2
    strict: bool = False
    first: Mode = Mode.B
@record
class Rec:
    who: Node
    num: Num
    via: Node | None
@state
class S:
    up: frozenset[Node]
    place: Place
    num: Num
    few: Few
    mode: Mode
    modes: frozenset[Mode]
    flag: bool
    rec: Rec
    mail: Rec | None
    leader: Node | None
    some_num: Num | None
    some_few: Few | None
    spot: Place | None
    either: Mode | None
    recs: frozenset[Rec]
    pairs: frozenset[Pair]
    nums: frozenset[Num]
    log: Log
    box: Annotated[tuple[Rec | None, ...], SeqMark(2)]
    vec: Annotated[tuple[Num, ...], Per(Node)]
    ring: Annotated[tuple[Few, ...], Per(Place)]
    sets: Annotated[tuple[frozenset[Node], ...], Per(Node)]
    tally: Map[Mode, Few]
    lit: Map[Pair, bool]
@init
def Init(c: C) -> S:
    return S(up=EMPTY, place=0, num=0, few=0, mode=Mode.A, modes=EMPTY, flag=False, rec=Rec(who=0, num=0, via=None),
        mail=None, leader=None, some_num=None, some_few=None, spot=None, either=None, recs=EMPTY, pairs=EMPTY,
        nums=EMPTY, log=(), box=(), vec=tuple(0 for n in range(c.nodes)), ring=tuple(0 for p in range(c.places)),
        sets=tuple(EMPTY for n in range(c.nodes)), tally=Map({k: 0 for k in Mode}),
        lit=Map({p: False for p in every(c, Pair)}))
@action
def Change(c: C, s: S, f: bool) -> S:
    num = 0 if s.num == 3 else s.num + 1
    few = 2 - s.few if f else s.few
    node: Node = 0 if s.flag else 1
    return replace(s, up=frozenset(range(c.nodes)) - s.up, place=(s.place + 1) % c.places, num=num, few=few,
        mode=Mode.B if f else Mode.C, modes=frozenset(Mode) - s.modes, flag=not s.flag,
        rec=Rec(who=node, num=num, via=s.leader), mail=s.rec if f else None, leader=node if f else None,
        some_num=num if f else None, some_few=few if f else None, spot=s.place if f else None,
        either=s.mode if f else None, recs=frozenset(every(c, Rec)) - s.recs, pairs=frozenset(every(c, Pair)) - s.pairs,
        nums=frozenset(every(c, Num)) - s.nums, log=(*s.log, node) if len(s.log) < c.most else (),
        box=(*s.box, s.mail) if len(s.box) < 2 else (), vec=tuple(num for n in range(c.nodes)),
        ring=tuple(few for p in range(c.places)), sets=tuple(s.up | {n} for n in range(c.nodes)),
        tally=Map({k: few for k in Mode}), lit=Map({p: not s.lit[p] for p in every(c, Pair)}))
@op
def is_up(c: C, s: S, n: Node) -> bool:
    return n in s.up and s.vec[n] < 2
@op
def weight(c: C, s: S, r: Rec) -> int:
    if r.via is None:
        return r.num + s.few
    k = s.num - r.num
    return k if r.who in s.up else s.vec[r.who]
@op
def agrees(c: C, s: S, m: Mode, b: bool) -> bool:
    return s.tally[m] == s.few or (b and m in s.modes)
@op
def passed(c: C, n: Node, k: int) -> int:
    return k + 1 if n == 0 else k
@op
def narrow(s: S, k: Few) -> Few:
    return k + s.num
@op
def rest(q: Log) -> Log:
    same = q
    return same[1:]
@op
def first(q: Log, k: Few) -> Log:
    return q[:k]
@op
def more(s: S, n: Node) -> Log:
    return s.log + (n,)
@op
def best(s: S, ns: frozenset[Node]) -> Node | None:
    return min((n for n in ns if n in s.up), default=None)
"""
ATOMS = {
    "bool": ("{s}.flag", "({s}.num < 1)", "({s}.mode == Mode.B)", "({s}.leader is None)", "(0 in {s}.up)", "c.strict"),
    "int": ("{s}.num", "{s}.few", "{s}.place", "0", "2", "(-1)", "c.most", "{s}.rec.num", "len({s}.log)"),
    "node": ("{s}.rec.who", "{s}.rec.who", "0"),
    "mode": ("{s}.mode", "Mode.A", "c.first"),
    "nodes": ("{s}.up", "{s}.up", "frozenset(range(c.nodes))", "frozenset({{{s}.rec.who}})"),
    "modes": ("{s}.modes", "frozenset(Mode)", "contents({s}.tally)"),
    "some node": ("{s}.leader", "{s}.rec.via"),
    "some mode": ("{s}.either",),
    "some num": ("{s}.some_num",),
    "some few": ("{s}.some_few",),
    "some place": ("{s}.spot",),
    "some rec": ("{s}.mail",),
    "log": ("{s}.log",),
    "rec": ("{s}.rec",),
    "num": ("{s}.num", "{s}.rec.num"),
    "place": ("{s}.place",),
    "pair": ("({s}.few, {s}.rec.who)",),
    "vec": ("{s}.vec",),
    "tally": ("{s}.tally",),
}
"""Type -> expressions without parts; {s} is a state, {o} maybe another."""
FORMS = {
    "bool": (
        *("(not <bool>)", "(<bool> and <bool>)", "(<bool> or <bool>)", "implies(<bool>, <bool>)"),
        *("(<bool> if <bool> else <bool>)", "(<int> < <int>)", "(<int> >= <int>)", "(<int> <= <int> < <int>)"),
        *("(<nodes> <= <nodes>)", "(<modes> >= <modes>)", "(<node> in <nodes>)", "(<mode> not in <modes>)"),
        *("(<rec> in {s}.recs)", "(<some node> in {s}.up)", "(<some node> is not None)", "({s}.mail is None)"),
        *("(<pair> in {s}.pairs)", "{s}.lit[({s}.few, <node>)]", "(<mode> in (Mode.A, <mode>))", "(<node> in <log>)"),
        *("(<num> in {s}.nums)", "is_up(c, {s}, <node>)", "agrees(c, {s}, <mode>, <bool>)", "(<int> == <int>)"),
        *("(<node> != <node>)", "(<mode> == <mode>)", "(<nodes> == <nodes>)", "(<log> == <log>)", "(<rec> != <rec>)"),
        *("(<some rec> == <some rec>)", "(<bool> == <bool>)", "(<tally> == <tally>)", "(<vec> == <vec>)"),
        *("(<some node> == <some node>)", "(<some mode> != <some mode>)", "(<some num> == <some num>)"),
        *("(<some few> == <some few>)", "(<some place> != <some place>)", "(<place> == <place>)", "(<pair> == <pair>)"),
        *("all(is_up(c, {o}, VAR) for VAR in <log>)", "any(weight(c, {o}, VAR) > <int> for VAR in {s}.recs)"),
        *("all(<bool> LOOP)", "any(<bool> LOOP)", "all(<bool> LOOP LOOP)", "any(<bool> LOOP LOOP)"),
    ),
    "int": (
        *("(<int> + <int>)", "(<int> - <int>)", "(<int> - <int> - <int>)", "(<int> // 2)", "(<int> // c.most)"),
        *("(<int> % 3)", "(<int> % c.two)", "(-<int>)", "min(<int>, <int>)", "max(<int>, <int>)"),
        *("max({s}.nums, default=<int>)", "len(<nodes>)", "len(<modes>)", "len({s}.recs)", "len(<log>)"),
        *("(<int> if <bool> else <int>)", "{s}.vec[<node>]", "{s}.tally[<mode>]", "<rec>.num", "<pair>[0]"),
        *("weight(c, {s}, <rec>)", "passed(c, <node>, <int>)", "narrow({s}, {s}.num)", "<vec>[<node>]"),
        *("<tally>[<mode>]", "({s}.some_num if {s}.some_num is not None else <int>)", "{s}.ring[<place>]"),
        *("sum(k for k in range(narrow({s}, {s}.few)))", "min((weight(c, {o}, VAR) for VAR in {s}.recs), default=0)"),
        *("put({s}.ring, {s}.place, <int>)[<place>]", "sum(<int> LOOP)", "sum(1 LOOP)"),
        *("min((<int> LOOP), default=<int>)", "max((<int> LOOP), default=<int>)"),
    ),
    "node": (
        *("<rec>.who", "(<node> if <bool> else <node>)", "({s}.leader if {s}.leader is not None else <node>)"),
        *("({s}.log[1] if len({s}.log) > 1 else <node>)", "({s}.mail.who if {s}.mail is not None else <node>)"),
        *("<pair>[1]", "({s}.log[{s}.num] if 0 <= {s}.num and {s}.num < len({s}.log) else <node>)"),
    ),
    "mode": ("(<mode> if <bool> else <mode>)", "({s}.either if {s}.either is not None else <mode>)"),
    "nodes": (
        *("(<nodes> | <nodes>)", "(<nodes> & <nodes>)", "(<nodes> - <nodes>)", "(<nodes> - {<node>})"),
        *("frozenset({<node>, <node>})", "frozenset(<log>)", "{s}.sets[<node>]", "(<nodes> if <bool> else <nodes>)"),
        *("frozenset(<node> LOOP)", "frozenset(<node> LOOP LOOP)", "frozenset(VAR for VAR in <nodes> if <bool>)"),
    ),
    "modes": ("frozenset(<mode> LOOP)", "(<modes> | <modes>)", "(<modes> & <modes>)", "(<modes> - <modes>)"),
    "some node": (
        *("<rec>.via", "(<some node> if <bool> else <some node>)", "(<node> if <bool> else None)"),
        *("best({s}, <nodes>)", "max((n for n in <nodes>), default={s}.leader)"),
        *("min((VAR for VAR in <nodes> if <bool>), default=None)", "next((VAR for VAR in <log> if <bool>), None)"),
        "next((VAR for VAR in range(c.nodes) if <bool>), None)",
    ),
    "some mode": ("(<mode> if <bool> else {s}.either)", "({s}.mode if <bool> else None)"),
    "some num": ("({s}.num if <bool> else {s}.some_num)", "(None if <bool> else {s}.some_num)"),
    "some few": ("({s}.few - 1 if <bool> else {s}.some_few)", "({s}.few if <bool> else None)"),
    "some place": ("({s}.place - 1 if <bool> else {s}.spot)", "(<place> if <bool> else {s}.spot)"),
    "some rec": ("(<rec> if <bool> else None)", "next((b for b in {s}.box if b is not None), None)"),
    "log": (
        *("{s}.log[:<int>]", "{s}.log[<int>:]", "{s}.log[:-1]", "{s}.log[-2:]", "{s}.log[max(0, <int>):]"),
        *("tuple(VAR for VAR in <log> if <bool>)", "({s}.log + (<node>,) if len({s}.log) < c.most else {s}.log)"),
        *(
            "(*{s}.log[:2], <node>)",
            "(<log>[:1] + <log>[:2])",
            "(*{s}.log, <node>)[1:]",
            "({s}.log + <log>)[:3]",
            "(<log> if <bool> else <log>)",
        ),
        *("(*<log>, <node>)", "({s}.log + <log>)", "rest(<log>)", "first(<log>, <int>)", "more({s}, <node>)"),
    ),
    "rec": (
        *("replace(<rec>, num=<num>)", "replace(<rec>, who=<node>, via=<some node>)", "(<rec> if <bool> else <rec>)"),
        *("Rec(who=<node>, num=<num>, via=<some node>)", "({s}.mail if {s}.mail is not None else <rec>)"),
    ),
    "num": ("{s}.vec[<node>]",),
    "place": ("({s}.place + 1) % c.places", "<int> % c.places"),
    "pair": ("(2, <node>)", "({s}.few, <node>)"),
    "vec": (
        *("put(<vec>, <node>, <int>)", "put({s}.vec, {s}.rec.who, {s}.vec[{s}.rec.who] - <int>)"),
        "tuple(<int> for VAR in range(c.nodes))",
    ),
    "tally": ("put(<tally>, <mode>, <int>)", "add({s}.tally, <mode>)", "Map({VAR: <int> for VAR in Mode})"),
}
"""Type -> expressions with parts: <T> is one of type T, LOOP a `for`, VAR a variable of the type of `VARIABLES`."""
VARIABLES = {
    "nodes": "node",
    "some node": "node",
    "log": "node",
    "vec": "node",
    "tally": "mode",
    "bool": "node",
    "int": "rec",
}
DOMAINS = (
    *(("range(c.nodes)", "node"), ("<nodes>", "node"), ("<log>", "node"), ("{s}.recs", "rec"), ("{s}.box", "some rec")),
    *(("Mode", "mode"), ("<modes>", "mode"), ("range({s}.few)", "int"), ("range({s}.num, 2)", "int")),
    *(
        ("range(len({s}.log))", "int"),
        ("range(len(<log>))", "int"),
        ("range(narrow({s}, {s}.few))", "int"),
        ("{s}.nums", "num"),
    ),
    *(("range(narrow({s}, {s}.few) - 1, {s}.few)", "int"), ("every(c, Num)", "num"), ("{s}.pairs", "pair")),
    *(("every(c, Pair)", "pair"), ("every(c, frozenset[Node])", "nodes")),
)
"""What a loop goes over, and the type of its variable."""
OWN = 0.45
"""How often a variable is used where there is one of the type."""


class RandomExpression:
    """Makes one expression. states: the names of the states that it reads."""

    def __init__(self, seed: int, states: Sequence[str] = ("s",)) -> None:
        self.chance, self.states = random.Random(seed), states
        self._variables = 0

    def of(self, ty: str, depth: int, names: Sequence[tuple[str, str]] = ()) -> str:
        """Return an expression of a type. names: the variables in use, each with its type."""
        own = [name for name, kind in names if kind == ty]
        if own and self.chance.random() < OWN:
            return self.chance.choice(own)
        forms = ATOMS[ty] if depth <= 0 else FORMS[ty]
        return self._filled(self.chance.choice(forms), ty, depth, names)

    def _filled(self, form: str, ty: str, depth: int, names: Sequence[tuple[str, str]]) -> str:
        if "VAR" in form:
            name = self._variable()
            over = re.search(r"(?<=VAR in <)[a-z ]+(?=>)", form)
            if over is not None:  # what the variable ranges over does not see it
                form = form.replace(f"<{over[0]}>", self.of(over[0], depth - 1, names), 1)
            return self._filled(form.replace("VAR", name), ty, depth, [*names, (name, VARIABLES[ty])])
        loops = []
        while "LOOP" in form:
            loop, names = self._loop(depth - 1, names)
            loops.append(loop)
            form = form.replace("LOOP", f"#{len(loops) - 1}#", 1)
        state = self.chance.choice(self.states)
        other = self.chance.choice(self.states)
        text = form.replace("{s}", state).replace("{o}", other).replace("{{", "{").replace("}}", "}")
        while "<" in text and (part := _part(text)):
            text = text.replace(f"<{part}>", self.of(part, depth - 1, names), 1)
        for number, loop in enumerate(loops):
            text = text.replace(f"#{number}#", loop)
        return text

    def _loop(self, depth: int, names: Sequence[tuple[str, str]]) -> tuple[str, Sequence[tuple[str, str]]]:
        over, ty = self.chance.choice(DOMAINS)
        name = self._variable()
        inner = [*names, (name, ty)]
        condition = f" if {self.of('bool', depth, inner)}" if self.chance.random() < 0.5 else ""
        return f"for {name} in {self._filled(over, ty, depth, names)}{condition}", inner

    def _variable(self) -> str:
        self._variables += 1
        return f"{self.chance.choice('nmxki')}{self._variables}"


def _part(text: str) -> str:
    """Return the type of the first <T> in a text."""
    parts = [(text.find(f"<{ty}>"), ty) for ty in ATOMS if f"<{ty}>" in text]
    return min(parts)[1] if parts else ""


def random_value(chance: random.Random, ty: Ty, config: Any) -> Any:
    """Return a value of a type; a set has few members."""
    value: Callable[[Ty], Any] = lambda part: random_value(chance, part, config)  # noqa: E731
    match ty.kind:
        case "opt":
            return None if chance.random() < 0.35 else value(ty.elem)
        case "set":
            every = domain(ty.elem, config)
            return frozenset(x for x in every if chance.random() < min(0.5, 3 / len(every)))
        case "seq":
            most = getattr(config, ty.hi) if isinstance(ty.hi, str) else int(ty.hi or 0)
            return tuple(value(ty.elem) for _ in range(chance.randint(0, most)))
        case "vec":
            entries = {key: value(ty.elem) for key in domain(ty.keys, config)}
            return Map(entries) if ty.is_map else tuple(entries.values())
        case "record" | "state":
            return ty.built({name: value(part) for name, part in ty.fields.items()})
        case _:
            return chance.choice(domain(ty, config))
