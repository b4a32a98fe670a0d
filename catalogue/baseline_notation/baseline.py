"""The committed baseline of `elrcheck gate`: entries, and what was found when each was last accepted.

    schema = "elrcheck.baseline/1"

    [entry.two-brokers]                 # what to run
    variant = "kip_full"
    scope = "two-brokers"

    [entry.two-brokers.expected]        # what came out; absent in a new entry
    verdict = "holds"
    generated = 218367
    ..

A table `[suite.NAME]` beside them is part of a suite (`suite_entry.py`).

Only numbers that do not depend on the machine, on chance or on the number of workers are kept. The file
is read strictly, and written as a whole by `baseline_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.catalogue.baseline_notation.guard_aliases import guard_now, guards_now
from elrcheck.catalogue.baseline_notation.suite_entry import SuiteEntry, read_suite

SCHEMA = "elrcheck.baseline/1"
CODE = "baseline"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
COUNTS = ("generated", "distinct", "diameter", "cut", "deadlocks")
VERDICTS = ("holds", "violated", "inconclusive")
_VERDICT = re.compile(r"(holds|violated|reached|unreached|inconclusive)(?: at depth (\d+))?")
_NOTICED = re.compile(r"noticed by \S+ at depth \d+|unnoticed|inconclusive")
_EVENT = re.compile(r"proved|impossible|unknown|(refuted|unknown)( CT-\d+)+")
_OPTIONAL = (
    "set", "properties", "liveness", "max-depth", "max-states", "proof", "proof-timeout", "teeth",
    "controller", "expected",
)  # fmt: skip
_PROVED = ("proved", "refuted", "unknown", "inconclusive", "absent")


@dataclass(frozen=True)
class Proof:
    """What was proved: of lemmas initially, of cells (action -> goals), of properties.

    Goals that an action cannot touch are in its cell `Frame`. open: the obligations that were not
    proved, by name (`Fence x TypeOk`), with their verdict.
    """

    verdict: str
    lemmas: tuple[str, ...] = ()
    cells: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    open: Mapping[str, str] = field(default_factory=dict)

    def obligations(self) -> dict[str, str]:
        """Every obligation by name, with its verdict."""
        names = [f"initially {lemma}" for lemma in self.lemmas]
        names += [f"{action} x {goal}" for action, goals in self.cells.items() for goal in goals]
        names += [f"implied {name}" for name in self.properties]
        return {name: self.open.get(name, "proved") for name in names}


@dataclass(frozen=True)
class Expected:
    """What was found.

    counts: by the names in COUNTS; properties: id -> verdict, with its depth if it has one; actions: name ->
    (how often it was enabled, how many of those steps left the budgets); guards: name -> its conditions;
    teeth: `Action: guard` -> which property notices when it is left out. controller: event -> whether every
    rule CT-* is proved of it, as `prove --controller` does.
    """

    verdict: str
    counts: Mapping[str, int]
    properties: Mapping[str, str]
    actions: Mapping[str, tuple[int, int]]
    guards: Mapping[str, tuple[str, ...]]
    proof: Proof | None = None
    teeth: Mapping[str, str] | None = None
    controller: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Entry:
    """One configuration to run.

    place: ``file:line``, or only the file of an entry that is not in it yet. renamed: guards that it knows
    by a name of the release before, `Action: old name`; `expected` has today's names.
    """

    name: str
    selection: Selection
    properties: tuple[str, ...] = ()
    liveness: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    proof: bool = False
    proof_timeout: int | None = None
    teeth: bool = False
    expected: Expected | None = None
    place: str = ""
    renamed: tuple[str, ...] = ()
    controller: bool = False


@dataclass(frozen=True)
class Baseline:
    """A baseline file: its configurations and suites, in the order of their names, which all differ."""

    entries: tuple[Entry, ...] = ()
    suites: tuple[SuiteEntry, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*(entry.name for entry in self.entries), *(suite.name for suite in self.suites))


def read_baseline(path: Path) -> Baseline:
    """The entries by name; UsageFault says what is wrong, and how to make a baseline if there is none."""
    if not path.exists():
        raise UsageFault(
            "no-baseline",
            f"there is no baseline {path}",
            help=f"make one with `elrcheck gate --baseline {path} --add NAME --scope two-brokers`",
        )
    top = read_toml(path, toml_codes(CODE)).object(("schema",), ("entry", "suite"))
    if top["schema"].value != SCHEMA:
        top["schema"].expected(SCHEMA)
    entries = [_entry(name, node) for name, node in top.get("entry", {}).fields()]
    suites = [_suite(name, node, entries) for name, node in top.get("suite", {}).fields()]
    return Baseline(
        tuple(sorted(entries, key=lambda entry: entry.name)),
        tuple(sorted(suites, key=lambda suite: suite.name)),
    )


def _suite(name: str, table: Node, entries: Sequence[Entry]) -> SuiteEntry:
    check_name(name, table.where)
    if name in (entry.name for entry in entries):
        table.fail(f"there is an entry `{name}` too", "names of entries and suites differ")
    return read_suite(name, table)


def check_name(name: str, where: str) -> str:
    """The name of an entry, which must be a bare TOML key."""
    if not NAME.fullmatch(name):
        help = "letters, digits, - and _"
        raise UsageFault(CODE, f"`{name}` is no name of an entry", where=where, help=help)
    return name


def _entry(name: str, table: Node) -> Entry:
    check_name(name, table.where)
    table.object(("variant", "scope"), _OPTIONAL)
    entry = Entry(
        name=name,
        selection=Selection(
            table["variant"].text(), table["scope"].text(), table.maybe("set", Node.texts, ())
        ),
        properties=table.maybe("properties", Node.texts, ()),
        liveness=table.maybe("liveness", Node.boolean, False),
        max_depth=table.maybe("max-depth", Node.positive, None),
        max_states=table.maybe("max-states", Node.positive, None),
        proof=table.maybe("proof", Node.boolean, False),
        proof_timeout=table.maybe("proof-timeout", Node.positive, None),
        teeth=table.maybe("teeth", Node.boolean, False),
        controller=table.maybe("controller", Node.boolean, False),
        expected=table.maybe("expected", _expected, None),
        place=table.where,
        renamed=_renamed(table.get("expected", {})),
    )
    for key, given in (("proof", entry.proof), ("teeth", entry.teeth)):
        if given and entry.liveness:
            table[key].bad("not for liveness properties", "leave one of the two out")
    return entry


def _expected(table: Node) -> Expected:
    table.object(("verdict", *COUNTS), ("properties", "actions", "guards", "proof", "teeth", "controller"))
    guards = table.get("guards", {}).map(Node.texts)
    return Expected(
        verdict=table["verdict"].choice(VERDICTS),
        counts={name: table[name].natural() for name in COUNTS},
        properties=table.get("properties", {}).map(_judged),
        actions=table.get("actions", {}).map(_fired),
        guards={name: guards_now(name, texts) for name, texts in guards.items()},
        proof=table.maybe("proof", _proof, None),
        teeth=table.maybe("teeth", _teeth, None),
        controller=table.maybe("controller", lambda events: events.map(_of_event), None),
    )


def _of_event(node: Node) -> str:
    said = node.text()
    if not _EVENT.fullmatch(said):
        node.bad("expected `proved`, `impossible`, `refuted CT-1` or `unknown CT-1`")
    return said


def _teeth(table: Node) -> dict[str, str]:
    found = {}
    for named, said in table.map(_noticed).items():
        action, colon, guard = named.partition(": ")
        found[f"{action}{colon}{guard_now(action, guard)}"] = said
    return found


def _renamed(expected: Node) -> tuple[str, ...]:
    """`Action: old name` of every guard that has another name now."""
    guards = expected.get("guards", {}).map(Node.texts)
    named = [(action, guard) for action, texts in guards.items() for guard in texts]
    return tuple(f"{action}: {guard}" for action, guard in named if guard_now(action, guard) != guard)


def _noticed(node: Node) -> str:
    said = node.text()
    if not _NOTICED.fullmatch(said):
        node.bad("expected `noticed by P-1 at depth 3`, `unnoticed` or `inconclusive`")
    return said


def _judged(node: Node) -> str:
    said = node.text()
    if not _VERDICT.fullmatch(said):
        node.bad("expected a verdict, such as `holds` or `violated at depth 3`")
    return said


def _fired(table: Node) -> tuple[int, int]:
    table.object(("fired", "cut"))
    return table["fired"].natural(), table["cut"].natural()


def _proof(table: Node) -> Proof:
    table.object(("verdict", "lemmas", "properties"), ("cells", "open"))
    unproved = table.get("open", {})
    proof = Proof(
        verdict=table["verdict"].choice(_PROVED),
        lemmas=table["lemmas"].texts(),
        cells=table.get("cells", {}).map(Node.texts),
        properties=table["properties"].texts(),
        open=unproved.map(lambda verdict: verdict.choice(_PROVED)),
    )
    for name in proof.open:
        if name not in proof.obligations():
            unproved[name].bad("this is not one of the obligations", did_you_mean(name, proof.obligations()))
    return proof
