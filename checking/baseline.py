"""The committed baseline of `elrcheck gate`: entries, and the results that were last accepted for each.

    schema = "elrcheck.baseline/1"

    [entry.two-brokers]                 # the configuration
    variant = "kip_full"
    scope = "two-brokers"

    [entry.two-brokers.expected]        # its results; absent in a new entry
    verdict = "holds"
    generated = 218367
    ..

An entry of another model than the default one names its file, relative to the folder of the baseline: `model =
"two_phase.py"`. Reading a baseline runs none of the models that it names. A table `[suite.NAME]` is part of a suite,
with the violations last accepted for each configuration:

    [suite.pairs]
    only = ["pairs/elect+*/crash"]      # names, families or globs, as in `elrcheck suite --only`

    [suite.pairs.expected]
    "pairs/elect+unregister/crash" = { verdict = "holds", generated = 30, distinct = 10, diameter = 4 }

Only numbers that do not depend on the machine, on chance or on the number of workers are recorded. The file is read
strictly, and written as a whole by `baseline_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection, SuiteRequest
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import (
    From,
    KeyName,
    Natural,
    NodeReader,
    Positive,
    SameTable,
    matching,
    prose,
    read_record,
    table_text,
    text_value,
)
from elrcheck.results.suite_report import RunVerdict, SuiteReport


def _path(node: Node) -> Path:
    text = prose(node)
    if "\0" in text:
        node.bad("no path can hold a NUL")
    return Path(text)


WrittenPath: TypeAlias = Annotated[Path, NodeReader(_path)]
"""A path relative to the folder of the baseline."""


@dataclass(frozen=True)
class RunCounts:
    """The size of a search."""

    generated: Natural
    distinct: Natural
    diameter: Natural

    def checked(self, node: Node) -> Mapping[str, int]:
        return vars(self)


RUN_COUNTS = tuple(part.name for part in fields(RunCounts))


@dataclass(frozen=True)
class ExpectedRun:
    """The results of one configuration. violated: property -> depth of its shortest violation."""

    verdict: RunVerdict
    counts: Annotated[Mapping[str, int], SameTable(RunCounts)]
    violated: Mapping[str, Natural] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteEntry:
    """Part of a suite. only, files, deep, sample: as of `elrcheck suite`; files relative to the baseline's folder.

    model: as of an entry. expected: by the names of the configurations, None in a new entry. place: ``file:line``.
    """

    name: Annotated[str, From.ELSEWHERE]
    only: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    deep: bool = False
    sample: Positive | None = None
    expected: Mapping[str, ExpectedRun] | None = None
    place: Annotated[str, From.PLACE] = ""
    model: WrittenPath | None = None

    def request(self, baseline: Path, workers: int | None, patch: Path | None = None) -> SuiteRequest:
        """Return the request for `run_suite`. patch: a diff of the model."""
        files = tuple(baseline.parent / file for file in self.files)
        selection = Selection(model=self.model, patch=patch)
        return SuiteRequest(self.only, self.deep, self.sample, files, workers=workers, selection=selection)


def recorded_runs(report: SuiteReport) -> dict[str, ExpectedRun]:
    """Return the results of a report that a baseline records, by configuration."""
    runs = {}
    for run in report.runs:
        violated = {one.id: one.depth or 0 for one in run.violations if one.found}
        runs[run.name] = ExpectedRun(run.verdict, {name: getattr(run, name) for name in RUN_COUNTS}, violated)
    return runs


SCHEMA = "elrcheck.baseline/1"
CODE = "baseline"
JOINT = "-"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
Judged: TypeAlias = Annotated[
    str,
    matching(
        r"(holds|violated|reached|unreached|inconclusive)(?: at depth (\d+))?",
        "a verdict, such as `holds` or `violated at depth 3`",
    ),
]
Noticed: TypeAlias = Annotated[
    str,
    matching(
        r"noticed by \S+ at depth \d+|unnoticed|inconclusive",
        "`noticed by P-1 at depth 3`, `unnoticed` or `inconclusive`",
    ),
]
Ruled: TypeAlias = Annotated[
    str,
    matching(
        r"proved|impossible|unknown|(refuted|unknown)( CT-\d+)+",
        "`proved`, `impossible`, `refuted CT-1` or `unknown CT-1`",
    ),
]
Proved: TypeAlias = Literal["proved", "refuted", "unknown", "inconclusive", "absent"]


@dataclass(frozen=True)
class RecordedCounts(RunCounts):
    """The counts of a search, with the number of steps that left the budgets and of states without a step."""

    cut: Natural
    deadlocks: Natural


COUNTS = tuple(part.name for part in fields(RecordedCounts))


@dataclass(frozen=True)
class Fired:
    """The number of times that an action was enabled, and the number of those steps that left the budgets."""

    fired: Natural
    cut: Natural


@dataclass(frozen=True)
class WrittenSelection:
    """The selection of an entry; its variant and scope have no defaults.

    model: its path from the folder of the baseline; None for the default model.
    """

    variant: str
    scope: str
    overrides: Annotated[tuple[str, ...], KeyName("set")] = ()
    model: WrittenPath | None = None

    def checked(self, node: Node) -> Selection:
        return Selection(self.variant, self.scope, self.overrides, self.model)


@dataclass(frozen=True)
class Proof:
    """The recorded results of a proof: of lemmas initially, of cells (action -> goals), of properties.

    Goals that an action cannot affect are in the cell `Frame`. open: the verdicts of obligations that were not
    proved, by name (`Fence x TypeOk`).
    """

    verdict: Proved
    lemmas: tuple[str, ...]
    properties: tuple[str, ...]
    cells: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    open: Mapping[str, Proved] = field(default_factory=dict)

    def checked(self, node: Node) -> Proof:
        names = self.obligations()
        for name in self.open:
            if name not in names:
                help = did_you_mean(name, names)
                node["open"][name].bad("this is not one of the obligations", help)
        return self

    def obligations(self) -> dict[str, str]:
        """Return every obligation by name, with its verdict."""
        names = [f"initially {lemma}" for lemma in self.lemmas]
        names += [f"{action} x {goal}" for action, goals in self.cells.items() for goal in goals]
        names += [f"implied {name}" for name in self.properties]
        return {name: self.open.get(name, "proved") for name in names}


@dataclass(frozen=True)
class Expected:
    """The recorded results of an entry.

    counts: by the names in COUNTS. properties: id -> verdict, with its depth if it has one. actions: by name. guards:
    action -> its conditions. teeth: `Action: guard` -> the property that notices when the guard is left out.
    controller: event -> whether every rule CT-* is proved of it, as by `prove --controller`. model_digest: of the
    files of another model than the default one.
    """

    verdict: Literal["holds", "violated", "inconclusive"]
    counts: Annotated[Mapping[str, int], SameTable(RecordedCounts)]
    properties: Mapping[str, Judged] = field(default_factory=dict)
    actions: Mapping[str, Fired] = field(default_factory=dict)
    guards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    proof: Proof | None = None
    teeth: Mapping[str, Noticed] | None = None
    controller: Mapping[str, Ruled] | None = None
    model_digest: str | None = None


@dataclass(frozen=True)
class BaselineEntry:
    """One configuration to run.

    place: ``file:line``, or only the file if the entry is not in it yet.
    """

    name: Annotated[str, From.ELSEWHERE]
    selection: Annotated[Selection, SameTable(WrittenSelection)]
    properties: tuple[str, ...] = ()
    liveness: bool = False
    proof: bool = False
    teeth: bool = False
    controller: bool = False
    max_depth: Positive | None = None
    max_states: Positive | None = None
    proof_timeout: Positive | None = None
    expected: Expected | None = None
    place: Annotated[str, From.PLACE] = ""

    def checked(self, node: Node) -> BaselineEntry:
        for key in ("proof", "teeth"):
            if self.liveness and key in node and node[key].boolean():
                node[key].bad("not for liveness properties", "leave one of the two out")
        if self.selection.model is not None and self.controller:
            node["controller"].bad("only Kafka's partition has the controller that it proves", "leave it out")
        return self


@dataclass(frozen=True)
class Baseline:
    """A baseline file: its configurations and suites, in the order of their names, which all differ."""

    entries: tuple[BaselineEntry, ...] = ()
    suites: tuple[SuiteEntry, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*(entry.name for entry in self.entries), *(suite.name for suite in self.suites))

    def definition(self, name: str) -> BaselineEntry | SuiteEntry | None:
        """Return what an entry or a suite runs, without its results and its place; None if there is none."""
        entries = (replace(entry, expected=None, place="") for entry in self.entries if entry.name == name)
        suites = (replace(suite, expected=None, place="") for suite in self.suites if suite.name == name)
        return next(entries, None) or next(suites, None)

    @property
    def models(self) -> tuple[Path, ...]:
        """The models of the user that entries and suites name, from the folder of the baseline."""
        every = (*(entry.selection.model for entry in self.entries), *(suite.model for suite in self.suites))
        return tuple(dict.fromkeys(file for file in every if file is not None))


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; raise UsageFault for a mistake in it, or with help to create one if it is missing."""
    if not path.exists():
        raise UsageFault(
            "no-baseline",
            f"there is no baseline {path}",
            help=f"`elrcheck gate --baseline {path} --add NAME --scope two-brokers` creates one; topics need none:"
            " `elrcheck assess` judges them",
        )
    top = read_toml(path, toml_codes(CODE), JOINT).object(("schema",), ("entry", "suite"))
    if top["schema"].value != SCHEMA:
        top["schema"].expected(SCHEMA)
    entries = [
        read_record(node, BaselineEntry, {"name": check_name(name, node.where)})
        for name, node in top.get("entry", {}).fields()
    ]
    suites = [_suite(name, node, entries) for name, node in top.get("suite", {}).fields()]
    return Baseline(
        tuple(sorted(entries, key=lambda entry: entry.name)), tuple(sorted(suites, key=lambda suite: suite.name))
    )


def _suite(name: str, table: Node, entries: Sequence[BaselineEntry]) -> SuiteEntry:
    check_name(name, table.where)
    if name in (entry.name for entry in entries):
        table.fail(f"there is an entry `{name}` too", "names of entries and suites differ")
    return read_record(table, SuiteEntry, {"name": name})


def check_name(name: str, where: str) -> str:
    """Return the name of an entry, which must be a bare TOML key."""
    if not NAME.fullmatch(name):
        help = "letters, digits, - and _"
        raise UsageFault(CODE, f"`{name}` is not a valid entry name", where=where, help=help)
    return name


HEADER = """\
# The baseline of `elrcheck gate`: the last accepted results of each entry.
# `elrcheck gate` fails on any difference. After an intended change, run
#
#     elrcheck gate --update-baseline
#
# and review the diff of this file like source code. Entries may be edited by hand (variant, scope, set,
# properties, liveness, max-depth, max-states, proof, proof-timeout, teeth, controller; of a suite only,
# files, deep, sample); comments are lost.
"""


def baseline_text(entries: Iterable[BaselineEntry], suites: Iterable[SuiteEntry] = ()) -> str:
    """Return the whole file, with the entries in order of their names, and then the suites."""
    lines = [HEADER, f"schema = {text_value(SCHEMA)}"]
    for entry in sorted(entries, key=lambda e: e.name):
        lines += ["", *table_text(f"entry.{entry.name}", entry, JOINT)]
    for suite in sorted(suites, key=lambda e: e.name):
        lines += ["", *table_text(f"suite.{suite.name}", suite, JOINT)]
    return "\n".join(lines) + "\n"
