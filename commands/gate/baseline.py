"""The committed baseline of `elrcheck gate`: entries, and what was found when each was last accepted.

    schema = "elrcheck.baseline/1"

    [entry.two-brokers]                 # what to run
    variant = "kip_full"
    scope = "two-brokers"

    [entry.two-brokers.expected]        # what came out; absent in a new entry
    verdict = "holds"
    generated = 218367
    ..

Only numbers that do not depend on the machine, on chance or on the number of workers are kept. The file
is read strictly, and written as a whole by `baseline_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.catalogue.configuration import Document, read_toml

SCHEMA = "elrcheck.baseline/1"
CODE = "baseline"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
COUNTS = ("generated", "distinct", "diameter", "cut", "deadlocks")
VERDICTS = ("holds", "violated", "inconclusive")
_VERDICT = re.compile(r"(holds|violated|reached|unreached|inconclusive)(?: at depth (\d+))?")
_NOTICED = re.compile(r"noticed by \S+ at depth \d+|unnoticed|inconclusive")
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
    teeth: `Action: guard` -> which property notices when it is left out.
    """

    verdict: str
    counts: Mapping[str, int]
    properties: Mapping[str, str]
    actions: Mapping[str, tuple[int, int]]
    guards: Mapping[str, tuple[str, ...]]
    proof: Proof | None = None
    teeth: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Entry:
    """One configuration to run. place: ``file:line``, or only the file of an entry that is not in it yet."""

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


def read_baseline(path: Path) -> tuple[Entry, ...]:
    """The entries by name; UsageFault says what is wrong, and how to make a baseline if there is none."""
    if not path.exists():
        raise UsageFault(
            "no-baseline",
            f"there is no baseline {path}",
            help=f"make one with `elrcheck gate --baseline {path} --add NAME --scope two-brokers`",
        )
    document = read_toml(path)
    top = _Table(document, (), document.data)
    if (schema := top.text("schema")) != SCHEMA:
        top.fail("schema", f"expected {SCHEMA}, not {schema!r}")
    entries = top.tables("entry")
    top.done()
    return tuple(sorted((_entry(name, table) for name, table in entries.items()), key=lambda e: e.name))


def check_name(name: str, where: str) -> str:
    """The name of an entry, which must be a bare TOML key."""
    if not NAME.fullmatch(name):
        help = "letters, digits, - and _"
        raise UsageFault(CODE, f"`{name}` is no name of an entry", where=where, help=help)
    return name


def _entry(name: str, table: _Table) -> Entry:
    check_name(name, table.where())
    entry = Entry(
        name=name,
        selection=Selection(table.text("variant"), table.text("scope"), table.texts("set", ())),
        properties=table.texts("properties", ()),
        liveness=table.flag("liveness"),
        max_depth=table.limit("max-depth"),
        max_states=table.limit("max-states"),
        proof=table.flag("proof"),
        proof_timeout=table.limit("proof-timeout"),
        teeth=table.flag("teeth"),
        expected=_expected(table.table("expected")) if "expected" in table.data else None,
        place=table.where(),
    )
    table.done()
    for key, given in (("proof", entry.proof), ("teeth", entry.teeth)):
        if given and entry.liveness:
            table.fail(key, "not for liveness properties")
    return entry


def _expected(table: _Table) -> Expected:
    properties = table.table("properties")
    actions = table.table("actions")
    guards = table.table("guards")
    found = Expected(
        verdict=table.choice("verdict", VERDICTS),
        counts={name: table.number(name) for name in COUNTS},
        properties={ident: _judged(properties, ident) for ident in properties.data},
        actions={name: _fired(actions.table(name)) for name in actions.data},
        guards={name: guards.texts(name) for name in guards.data},
        proof=_proof(table.table("proof")) if "proof" in table.data else None,
        teeth=_teeth(table.table("teeth")) if "teeth" in table.data else None,
    )
    table.done()
    return found


def _teeth(table: _Table) -> dict[str, str]:
    found = {guard: table.text(guard) for guard in table.data}
    for guard, said in found.items():
        if not _NOTICED.fullmatch(said):
            table.fail(guard, "expected `noticed by P-1 at depth 3`, `unnoticed` or `inconclusive`")
    return found


def _judged(table: _Table, ident: str) -> str:
    said = table.text(ident)
    if not _VERDICT.fullmatch(said):
        table.fail(ident, "expected a verdict, such as `holds` or `violated at depth 3`")
    return said


def _fired(table: _Table) -> tuple[int, int]:
    found = table.number("fired"), table.number("cut")
    table.done()
    return found


def _proof(table: _Table) -> Proof:
    verdict = table.choice("verdict", _PROVED)
    cells, open_ = table.table("cells"), table.table("open")
    proof = Proof(
        verdict=verdict,
        lemmas=table.texts("lemmas"),
        cells={action: cells.texts(action) for action in cells.data},
        properties=table.texts("properties"),
        open={name: open_.choice(name, _PROVED) for name in open_.data},
    )
    table.done()
    for name in proof.open:
        if name not in proof.obligations():
            open_.fail(name, "this is none of the obligations", help=did_you_mean(name, proof.obligations()))
    return proof


class _Table:
    """A table of the file that is read key by key; whatever is left over is a mistake."""

    def __init__(self, document: Document, path: tuple[str, ...], data: Mapping[str, Any]) -> None:
        self.document, self.path, self.data = document, path, data
        self.taken: dict[str, None] = {}  # in the order of reading, each once

    def where(self, *key: str) -> str:
        found = self.document.where(*self.path, *key)
        return found if found != self.document.name or not key else self.document.where(*self.path)

    def fail(self, key: str, why: str, help: str | None = None) -> None:
        raise UsageFault(CODE, f"`{key}`: {why}", where=self.where(key), help=help)

    def done(self) -> None:
        for key in self.data:
            if key not in self.taken:
                raise UsageFault(
                    CODE, f"unknown key `{key}`", where=self.where(key), help=did_you_mean(key, self.taken)
                )

    def _take(self, key: str, kind: type, says: str) -> Any:
        self.taken[key] = None
        if key not in self.data:
            raise UsageFault(CODE, f"there is no `{key}`", where=self.where())
        value = self.data[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(key, f"expected {says}, not {value!r}")
        return value

    def text(self, key: str) -> str:
        return str(self._take(key, str, "a text"))

    def choice(self, key: str, known: tuple[str, ...]) -> str:
        found = self.text(key)
        if found not in known:
            self.fail(key, f"expected {', '.join(known)}, not {found!r}")
        return found

    def number(self, key: str) -> int:
        found = int(self._take(key, int, "a number"))
        if found < 0:
            self.fail(key, "expected 0 or more")
        return found

    def limit(self, key: str) -> int | None:
        self.taken[key] = None
        if key not in self.data:
            return None
        if (found := self.number(key)) == 0:
            self.fail(key, "expected 1 or more")
        return found

    def flag(self, key: str) -> bool:
        self.taken[key] = None
        return bool(self._take(key, bool, "true or false")) if key in self.data else False

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        self.taken[key] = None
        if key not in self.data and default is not None:
            return default
        found = self._take(key, list, "a list of texts")
        if not all(isinstance(part, str) for part in found):
            self.fail(key, "expected a list of texts")
        return tuple(found)

    def table(self, key: str) -> _Table:
        self.taken[key] = None
        found = self.data.get(key, {})
        if not isinstance(found, dict):
            self.fail(key, "expected a table")
        return _Table(self.document, (*self.path, key), found)

    def tables(self, key: str) -> dict[str, _Table]:
        inside = self.table(key)
        return {name: inside.table(name) for name in inside.data}
