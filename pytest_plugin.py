"""A pytest plug-in: one test for each property of each configuration in a baseline.

Loaded only by name (``pytest -p elrcheck.pytest_plugin``).  pytest would import a plug-in registered as an
entry point into every run and rewrite the assertions of all modules of its package; and the mere presence of
a file should not start a search.

Each configuration is searched once, when its first test runs.  Under xdist the workers share the reports
through a folder of the controller process.  No other module of elrcheck is imported before a baseline is
collected.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from elrcheck.checking.baseline import BaselineEntry
    from elrcheck.results.check_report import CheckReport, PropertyReport

FILES = ("elrcheck-baseline.toml", "*.elrcheck.toml")
SHARED = "elrcheck_shared"
ALLOWED = "`elrcheck_models` in the settings of pytest"
_FOLDER = pytest.StashKey[str]()


class PropertyViolated(Exception):
    """A property does not hold. The message is the block that `elrcheck check` prints."""


class NotAsRecorded(Exception):
    """The result differs from the baseline."""


class Inconclusive(Exception):
    """A limit ended the search before it could decide the property."""


def _threads(text: str) -> int:
    """Return a number of threads; raise ArgumentTypeError for any other text."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, not {text!r}")
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("elrcheck")
    group.addoption("--elrcheck-workers", metavar="N", type=_threads, help="Number of threads per search.")
    parser.addini("elrcheck_models", "Models of entries, which run as Python.", type="paths", default=[])
    parser.addini("elrcheck_files", "Names of files to collect as baselines.", type="args", default=list(FILES))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".toml":
        return None
    named = any(fnmatch.fnmatch(file_path.name, name) for name in parent.config.getini("elrcheck_files"))
    if named or parent.session.isinitpath(file_path):
        return BaselineFile.from_parent(parent, path=file_path)
    return None


# ------------------------------------------------------------------------------ sharing with xdist


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist the folder of shared reports; runs in the controller process."""
    stash = node.config.stash
    if _FOLDER not in stash:
        stash[_FOLDER] = tempfile.mkdtemp(prefix="elrcheck-pytest-")
    node.workerinput[SHARED] = stash[_FOLDER]


def pytest_unconfigure(config: pytest.Config) -> None:
    if _FOLDER in config.stash:
        shutil.rmtree(config.stash[_FOLDER], ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Admit one process at a time. Without fcntl there is no lock, and each worker may run the search."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ------------------------------------------------------------------------------ what is collected


class BaselineFile(pytest.File):
    """A baseline file: its entries are the configurations."""

    def collect(self) -> Iterator[pytest.Collector]:
        from elrcheck.base.errors import ElrError
        from elrcheck.checking.baseline import read_baseline
        from elrcheck.commands.gate.named_models import NamedModels
        from elrcheck.console.settings import models_of_gate

        try:
            named = [*self.config.getini("elrcheck_models"), *models_of_gate(self.config.rootpath)]
            models = NamedModels(self.path, named)
            baseline = read_baseline(self.path)
            entries = [models.runnable(entry) for entry in baseline.entries]
        except ElrError as fault:
            if fault.code == "model-not-named":
                fault.help = f"allow it to run: `model` in {self.config.rootpath / 'elrcheck.toml'}, or {ALLOWED}"
            raise self.CollectError(fault.render()) from None
        if not entries:
            suites = ", since `elrcheck gate` runs its suites" if baseline.suites else ""
            raise self.CollectError(f"{self.path} has no entries: nothing would be checked{suites}")
        for entry in entries:
            yield Configuration.from_parent(self, name=entry.name, entry=entry)


class Configuration(pytest.Collector):
    """One entry. Its search runs when the first test needs the report."""

    def __init__(self, entry: BaselineEntry, **options: Any) -> None:
        super().__init__(**options)
        self.entry = entry
        self._report: CheckReport | None = None
        self._fault: Exception | None = None
        if self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(f"{self.path}::{self.name}"))

    def collect(self) -> Iterator[pytest.Item]:
        from elrcheck.base.errors import ElrError
        from elrcheck.declared.declared_model import declared
        from elrcheck.declared.select import select_properties

        entry = self.entry
        try:
            model = declared(entry.selection.source).whole()
            chosen = select_properties(model, entry.properties, entry.liveness)
        except ElrError as fault:
            fault.where = fault.where or entry.place
            raise self.CollectError(fault.render()) from None
        recorded = {} if entry.expected is None else dict(entry.expected.properties)
        for fn in chosen:
            yield PropertyItem.from_parent(self, name=fn.ident, expected=recorded.pop(fn.ident, None))
        for ident, expected in recorded.items():
            yield PropertyItem.from_parent(self, name=ident, expected=expected)

    def report(self) -> CheckReport:
        """Return the report of this configuration; if its search failed, raise the same error each time."""
        if self._fault is not None:
            raise self._fault
        if self._report is None:
            try:
                self._report = self._shared()
            except Exception as fault:
                self._fault = fault
                raise
        return self._report

    def _shared(self) -> CheckReport:
        """Run the search, or return the report that another worker stored."""
        from elrcheck.base.roundtrip import from_text, to_text
        from elrcheck.results.check_report import CheckReport

        folder = getattr(self.config, "workerinput", {}).get(SHARED)
        if folder is None:
            return self._search()
        name = hashlib.sha256(repr((str(self.path), self.entry)).encode()).hexdigest()
        place = Path(folder) / name
        with _locked(place.with_suffix(".lock")):
            if place.exists():
                return from_text(place.read_bytes(), CheckReport)
            report = self._search()
            place.write_text(to_text(report), encoding="utf-8")
        return report

    def _search(self) -> CheckReport:
        from elrcheck.base.caches import empty_cache
        from elrcheck.base.progress import Silent
        from elrcheck.checking.check import run_check
        from elrcheck.commands.gate.gate import check_request

        with empty_cache():  # as the gate: nothing that an earlier run has kept is believed
            return run_check(check_request(self.entry, self.config.getoption("elrcheck_workers")), Silent())


class PropertyItem(pytest.Item):
    """One property of a configuration. expected: its result in the baseline, if any."""

    parent: Configuration

    def __init__(self, expected: str | None, **options: Any) -> None:
        super().__init__(**options)
        self.expected = expected
        if expected is not None and expected.startswith("violated"):
            reason = f"the baseline expects: {expected}"
            self.add_marker(pytest.mark.xfail(reason=reason, strict=True, raises=PropertyViolated))

    def runtest(self) -> None:
        from elrcheck.commands.gate.gate_diff import found_in

        report = self.parent.report()
        outcome = next((one for one in report.properties if one.id == self.name), None)
        if outcome is None:
            raise NotAsRecorded(f"{self.name}: the baseline expects {self.expected}; there is no such property")
        actual = found_in(report, None, None).properties[self.name]
        if outcome.verdict == "inconclusive":
            raise Inconclusive(self._undecided(outcome, report))
        if outcome.verdict == "violated" and self.expected in (None, "holds", "inconclusive", actual):
            raise PropertyViolated(_violation(outcome, report))
        if outcome.verdict == "unreached" and self.expected is None:
            pytest.skip(f"{outcome.id} {outcome.name} is not reached in {report.variant}, {report.scope}")
        if self.expected not in (None, actual):
            more = "\n\n" + _violation(outcome, report) if outcome.verdict == "violated" else ""
            raise NotAsRecorded(
                f"{outcome.id} {outcome.name}: {actual}; the baseline expects {self.expected} "
                f"({self.parent.entry.place}){more}"
            )

    def _undecided(self, outcome: PropertyReport, report: CheckReport) -> str:
        search = report.search
        why = search.stopped_by or ", ".join(f"{o.leaf} exceeded its bit width" for o in search.overflows)
        return (
            f"{outcome.id} {outcome.name} is inconclusive, which is not a pass: the search of {report.variant}, "
            f"{report.scope} was stopped by {why or 'a limit'} after {search.distinct:,} states.\n"
            f"Raise the limit of entry `{self.parent.name}` ({self.parent.entry.place}), or remove the entry."
        )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from elrcheck.base.errors import ElrError

        fault = excinfo.value
        if isinstance(fault, ElrError):
            return fault.render()
        if isinstance(fault, PropertyViolated | NotAsRecorded | Inconclusive):
            return str(fault)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        line = self.parent.entry.place.rpartition(":")[2]
        heading = f"{self.parent.name}: {self.name}"
        return self.path, int(line) - 1 if line.isdigit() else None, heading


def _violation(outcome: PropertyReport, report: CheckReport) -> str:
    """Return the failing conjunct, the broker and the trace, as the command prints them."""
    from elrcheck.report.documents.check_document import violation_blocks
    from elrcheck.report.terminal import plain_text

    return plain_text(violation_blocks(outcome, report)).rstrip("\n")
