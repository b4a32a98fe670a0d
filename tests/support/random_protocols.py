"""Random protocols: the text of a model for each seed, with actions, properties, fairness and a bound.

The fields of a state are drawn from `FIELDS`, each with its steps; an action takes steps of one field or two, guarded
by their conditions and by others. `support/plain_graph.py` explores them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

HEAD = """
from __future__ import annotations
import enum
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.runtime import EMPTY, LeadsTo, Map, action, add, always, bound, config, conj, contents, implies, init
from elrcheck.lang.runtime import leads_to, op, put, record, remove, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

class Mode(enum.Enum):
    A = 1
    B = 2
    C = 3
Node = Annotated[int, sort("Node", "nodes"{symmetric})]
Place = Annotated[int, sort("Place", "places", ordered=True)]
Few = Annotated[int, nat("Few", hi=1)]
Round = Annotated[int, nat("Round", hi="top")]
Delta = Annotated[int, nat("Delta", lo=-2, hi=1)]
Epoch = Annotated[int, nat("Epoch", cap=7)]
Log = Annotated[tuple[Node, ...], SeqMark("most")]
@config
class C:
    nodes: int = {nodes}
    places: int = {places}
    top: int = {top}
    most: int = {most}
    strict: bool = {strict}
@record
class Vote:
    who: Node
    num: Few
"""


class Part(NamedTuple):
    """A field of a state: its type, its first value, its steps as (condition, next value), and what is asked of it."""

    ty: str
    first: str
    steps: tuple[tuple[str, str], ...]
    atoms: tuple[str, ...]


NODES = "Annotated[tuple[{}, ...], Per(Node)]"
FIELDS = {
    "up": Part(
        "frozenset[Node]",
        "frozenset(range(c.nodes))",
        (
            *(("n not in s.up", "s.up | {n}"), ("n in s.up", "s.up - {n}"), ("", "s.up & q"), ("", "q")),
            ("", "frozenset(x for x in s.up if x != n)"),
        ),
        ("n in S.up", "len(S.up) < c.nodes", "q <= S.up", "S.up == EMPTY"),
    ),
    "lead": Part(
        "Node | None",
        "None",
        (("", "n"), ("", "None"), ("s.lead != n", "n"), ("s.lead is None", "n if c.strict else None")),
        ("S.lead is None", "S.lead == n", "S.lead is not None and S.lead != n"),
    ),
    "mode": Part(
        NODES.format("Mode"),
        "tuple(Mode.A for x in range(c.nodes))",
        (
            *(("s.mode[n] == Mode.A", "put(s.mode, n, Mode.B)"), ("s.mode[n] != Mode.A", "put(s.mode, n, k)")),
            ("s.mode[n] == Mode.B", "put(s.mode, n, Mode.C)"),
        ),
        ("S.mode[n] == k", "S.mode[n] != S.mode[m]", "S.mode[n] in (Mode.A, Mode.C)"),
    ),
    "num": Part(
        "Round",
        "0",
        (("s.num < c.top", "s.num + 1"), ("s.num > 0", "s.num - 1"), ("", "0"), ("", "(s.num + 1) % c.places")),
        ("S.num == 0", "S.num < c.top"),
    ),
    "delta": Part(
        "Delta",
        "-1",
        (("s.delta < 1", "s.delta + 1"), ("s.delta > -2", "s.delta - 1"), ("", "0 - s.delta % 2")),
        ("S.delta < 0", "S.delta == 1"),
    ),
    "votes": Part(
        "frozenset[Vote]",
        "EMPTY",
        (
            *(("", "s.votes | {Vote(who=n, num=0)}"), ("v in s.votes", "s.votes - {v}"), ("", "s.votes | {v}")),
            *(("", "frozenset(x for x in s.votes if x.who != n)"), ("", "EMPTY")),
        ),
        ("any(x.who == n for x in S.votes)", "len(S.votes) > 1", "v in S.votes", "sum(x.num for x in S.votes) > 1"),
    ),
    "mail": Part(
        "Vote | None",
        "None",
        (("s.mail is None", "Vote(who=n, num=1)"), ("s.mail is not None", "None"), ("s.mail != v", "v")),
        ("S.mail is None", "S.mail == v", "S.mail is not None and S.mail.who == n"),
    ),
    "bag": Part(
        "Map[Mode, Round]",
        "Map({x: 0 for x in Mode})",
        (
            *(("s.bag[k] < c.top", "add(s.bag, k)"), ("s.bag[k] > 0", "remove(s.bag, k)")),
            *(("", "put(s.bag, Mode.B, 0)"), ("", "Map({x: 0 if x == k else s.bag[x] for x in Mode})")),
        ),
        ("k in contents(S.bag)", "S.bag[k] == c.top", "sum(S.bag[x] for x in Mode) > 2"),
    ),
    "log": Part(
        "Log",
        "()",
        (
            *(("len(s.log) < c.most", "(*s.log, n)"), ("len(s.log) > 0", "s.log[1:]"), ("", "s.log[:1]")),
            *(("n in s.log", "tuple(x for x in s.log if x != n)"), ("len(s.log) > 0", "(*s.log[1:], n)")),
        ),
        ("len(S.log) > 1", "n in S.log", "len(S.log) > 0 and S.log[0] == n"),
    ),
    "turn": Part(
        "Place",
        "0",
        (("", "(s.turn + 1) % c.places"), ("s.turn != p", "p"), ("s.turn > 0", "s.turn - 1")),
        ("S.turn == 0", "S.turn < p", "S.turn == p"),
    ),
    "per": Part(
        NODES.format("Round"),
        "tuple(0 for x in range(c.nodes))",
        (
            *(("s.per[n] < c.top", "put(s.per, n, s.per[n] + 1)"), ("s.per[n] != s.per[m]", "put(s.per, n, s.per[m])")),
            ("", "tuple(0 if x == n else s.per[x] for x in range(c.nodes))"),
        ),
        ("S.per[n] < S.per[m]", "sum(S.per[x] for x in range(c.nodes)) > c.top", "S.per[n] == 1"),
    ),
    "seen": Part(
        "frozenset[tuple[Few, Node]]",
        "EMPTY",
        (("", "s.seen | {(0, n)}"), ("(0, n) in s.seen", "s.seen - {(0, n)}"), ("", "frozenset((1, x) for x in q)")),
        ("(0, n) in S.seen", "len(S.seen) > 1", "all(a == 0 or x != n for a, x in S.seen)"),
    ),
    "lit": Part(
        "Map[tuple[Few, Node], bool]",
        "Map({x: False for x in every(c, tuple[Few, Node])})",
        (("", "put(s.lit, (0, n), b)"), ("not s.lit[(1, n)]", "put(s.lit, (1, n), True)")),
        ("S.lit[(0, n)]", "S.lit[(1, n)] and not S.lit[(0, m)]"),
    ),
    "flag": Part("bool", "c.strict", (("", "not s.flag"), ("s.flag != b", "b")), ("S.flag",)),
    "sets": Part(
        NODES.format("frozenset[Node]"),
        "tuple(EMPTY for x in range(c.nodes))",
        (("m not in s.sets[n]", "put(s.sets, n, s.sets[n] | {m})"), ("s.sets[n] != EMPTY", "put(s.sets, n, EMPTY)")),
        ("n in S.sets[m]", "S.sets[n] == S.sets[m]"),
    ),
    "families": Part(
        "frozenset[frozenset[Node]]",
        "EMPTY",
        (("q not in s.families", "s.families | {q}"), ("", "frozenset(x for x in s.families if n not in x)")),
        ("q in S.families", "any(n in x for x in S.families)"),
    ),
    "epoch": Part("Epoch", "0", (("", "s.epoch + 1"), ("s.epoch > 0", "0")), ("S.epoch > 1", "S.epoch == 0")),
}
KINDS = {
    "n": ("Node", "range(c.nodes)"),
    "m": ("Node", "range(c.nodes)"),
    "p": ("Place", "range(c.places)"),
    "k": ("Mode", "Mode"),
    "b": ("bool", ""),
    "q": ("frozenset[Node]", "every(c, frozenset[Node])"),
    "v": ("Vote", "every(c, Vote)"),
}
"""Variable -> its type, and what it ranges over."""
FAIR = (
    *("", "", 'fairness=Fair("often")', 'fairness=Fair("often")'),
    'fairness=Fair("again", Strength.STRONG)',
    'fairness=Fair("then", {strength}when={when}{stops})',
)


def variables(text: str) -> list[str]:
    """The variables of `KINDS` in an expression, in one order."""
    return [name for name in KINDS if re.search(rf"(?<![\w.]){name}\b(?!=)", text)]


class RandomProtocol:
    """Draws one model. text: the file; actions, properties: the names of their functions with their parameters."""

    def __init__(self, seed: int, symmetric: bool | None = None) -> None:
        self.chance = chance = random.Random(seed)
        self.symmetric = chance.random() < 0.4 if symmetric is None else symmetric
        self.fields = sorted(chance.sample(sorted(FIELDS), chance.randint(2, 4)))
        self.actions: dict[str, tuple[str, ...]] = {}
        self.guards: dict[str, list[str]] = {}
        self.fair: dict[str, tuple[bool, str, bool]] = {}
        """Fair action -> whether strongly, the name of its condition or "", whether it stops elsewhere."""
        size = {"nodes": chance.choice((2, 2, 3)), "places": chance.choice((2, 3)), "strict": chance.random() < 0.5}
        size |= {"top": chance.choice((1, 2, 2)), "most": chance.choice((1, 2, 3))}
        if size["top"] < size["places"] - 1:
            size["places"] = 2
        head = HEAD.format(symmetric=", symmetric=True" if self.symmetric else "", **size)
        parts = [head, self._state(), *(self._action(i) for i in range(chance.randint(2, 6)))]
        parts += [*self._bound(), *self._properties(), "MODEL = ProtocolModel(S, C)\n"]
        self.text = "\n".join(parts)

    def _state(self) -> str:
        fields = "".join(f"    {name}: {FIELDS[name].ty}\n" for name in self.fields)
        firsts = {name: FIELDS[name].first for name in self.fields}
        parameters, guard = "", ""
        if "lead" in firsts and self.chance.random() < 0.5:
            parameters, firsts["lead"] = ", first: Node | None", "first"
        elif "turn" in firsts and self.chance.random() < 0.5:
            parameters, firsts["turn"] = ", first: Place", "first"
            guard = "    require(first < 2, 'one of two')\n" if self.chance.random() < 0.5 else ""
        elif "up" in firsts and self.chance.random() < 0.5:
            parameters, firsts["up"] = ", first: Node", "frozenset({first})"
        elif self.chance.random() < 0.3:
            parameters = ", first: bool"  # several choices of one state
        values = ", ".join(f"{name}={value}" for name, value in firsts.items())
        return f"@state\nclass S:\n{fields}@init\ndef Init(c: C{parameters}) -> S:\n{guard}    return S({values})\n"

    def _atom(self, states: str = "s") -> str:
        atom = self.chance.choice(FIELDS[self.chance.choice(self.fields)].atoms)
        one = self.chance.choice(states)
        mixed = states if " and " not in atom else one  # where one part says that the other has a value
        atom = re.sub(r"\bS\.", lambda _: f"{self.chance.choice(mixed)}.", atom)
        return f"(not ({atom}))" if self.chance.random() < 0.3 else f"({atom})"

    def _condition(self, states: str = "s", free: tuple[str, ...] = ()) -> str:
        """A condition whose variables but the free ones are bound in it."""
        text = self._atom(states)
        if self.chance.random() < 0.6:
            form = self.chance.choice(("{} and {}", "{} or {}", "implies({}, {})", "({} == {})"))
            text = form.format(text, self._atom(states))
        for name in variables(text):
            if name not in free:
                text = f"{self.chance.choice(('all', 'any'))}(({text}) for {name} in {KINDS[name][1]})"
        return text

    def _steps(self) -> dict[str, tuple[str, str]]:
        names = self.chance.sample(self.fields, self.chance.choice((1, 1, 2)))
        return {name: self.chance.choice(FIELDS[name].steps) for name in names}

    def _action(self, number: int) -> str:
        name, ways = f"Act{number}", [self._steps() for _ in range(self.chance.choice((1, 1, 1, 2)))]
        guards = [condition for way in ways for condition, _ in way.values() if condition]
        values = [", ".join(f"{key}={value}" for key, (_, value) in way.items()) for way in ways]
        free = tuple(variables(" ".join([*guards, *values])))
        guards += [self._condition(free=free) for _ in range(self.chance.choice((0, 0, 1, 1, 2)))]
        self.actions[name], self.guards[name] = free, guards
        typed = "".join(f", {each}: {KINDS[each][0]}" for each in free)
        mark = self.chance.choice(FAIR)
        before, when = "", f"when{number}"
        if "{when}" in mark:
            before = f"@op\ndef {when}(c: C, s: S{typed}) -> bool:\n    return {self._condition(free=free)}\n"
            strength = self.chance.choice(("", "strength=Strength.STRONG, "))
            mark = mark.format(when=when, stops=self.chance.choice(("", ", stops=True")), strength=strength)
        if mark:
            self.fair[name] = ("STRONG" in mark, when if before else "", "stops" in mark)
        marked = f"({mark})" if mark else ""
        body = "".join(f"    require({guard}, 'guard {i}')\n" for i, guard in enumerate(guards))
        if len(ways) == 2:
            body += f"    if {self._condition(free=free)}:\n        return replace(s, {values[1]})\n"
        return (
            f"{before}@action{marked}\ndef {name}(c: C, s: S{typed}) -> S:\n{body}    return replace(s, {values[0]})\n"
        )

    def _bound(self) -> Iterator[str]:
        if "epoch" in self.fields:
            yield "@bound\ndef Bound(c: C, s: S) -> bool:\n    return conj(few=s.epoch <= 2)\n"
        elif self.chance.random() < 0.3:
            yield f"@bound\ndef Bound(c: C, s: S) -> bool:\n    return {self._condition()}\n"

    def _properties(self) -> Iterator[str]:
        forms = [("always", "P", "s"), ("always", "P", "st"), ("sometimes", "W", "s"), ("sometimes", "W", "st")]
        for number, (kind, letter, states) in enumerate(forms * 2, start=1):
            typed = "s: S, t: S" if states == "st" else "s: S"
            head = f'@{kind}("{letter}-{number}")\ndef {letter}{number}(c: C, {typed}) -> bool:\n'
            yield f"{head}    return {self._condition(states)}\n"
        for number in (1, 2):
            free = self.chance.choice(((), ("n",)))
            typed = ", n: Node" if free else ""
            premise, conclusion = self._condition(free=free), self._condition(free=free)
            head = f'@leads_to("V-{number}")\ndef V{number}(c: C, s: S{typed}) -> LeadsTo:\n'
            yield f"{head}    return LeadsTo(premise={premise}, conclusion={conclusion})\n"
