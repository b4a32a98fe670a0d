"""What small commands do not load: solver, compiler, numpy, and reports of other commands."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from elrcheck import results
from elrcheck.catalogue.lookup import IDS, full_entries
from elrcheck.report.document import every_kind
from elrcheck.results.any_report import ModelReport, Report

HEAVY = ("z3", "llvmlite", "numpy", "pandas", "pyarrow", "pyspark", "networkx", "jinja2")
BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {heavy!r}:
            raise ModuleNotFoundError(f"{{name}} is not needed for this", name=name)
sys.meta_path.insert(0, Blocker())
from elrcheck.__main__ import main
sys.argv = ["elrcheck", *{words!r}]
main()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored trace of two steps."""
    from elrcheck.base.requests import Selection
    from elrcheck.declared.select import resolve
    from elrcheck.invariants.modules import load_checked_model
    from elrcheck.lang.plain import Label, PlainModel
    from elrcheck.stored_traces.tracefile import write_trace
    from elrcheck.traces.behaviour import Behaviour, TraceOrigin

    selected, model = resolve(Selection("code_4_1", "two-brokers")), load_checked_model()
    plain = PlainModel(model, selected.config)
    label = Label("Fence", (1,))
    states = (plain.initial(), plain.step(plain.initial(), label))
    path = tmp_path_factory.mktemp("traces") / "fence.trace.json"
    write_trace(path, Behaviour(TraceOrigin.of(selected, "", "", "elrcheck"), states, (label,)), model.state_ty)
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("replay", "TRACE"), "ACCEPTED"),
        (("explain", "TRACE", "-p", "P-1"), "P-1"),
        (("trace", "show", "TRACE"), "Fence"),
        (("show", "P-1"), "P-1"),
        (("show", "F-20"), "F-20"),
        (("show", "E-6"), "E-6"),
        (("scenario", "E-6"), "Story"),
        (("what-if",), "error"),
        (("list", "formats"), "sarif"),
    ],
)
def test_it_starts_without_solver_and_compiler(
    words: tuple[str, ...], expected: str, trace: Path, tmp_path: Path
) -> None:
    arguments = [str(trace) if word == "TRACE" else word for word in words]
    question = json.dumps({"partition": {"replicas": [1, 2]}, "op": {"type": "fence", "broker": 1}})
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(heavy=HEAVY, words=arguments)],
        input=question,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=120,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert expected in run.stdout


def test_every_report_is_a_kind() -> None:
    for module in pkgutil.walk_packages(results.__path__, f"{results.__name__}."):
        importlib.import_module(module.name)
    elsewhere = {"elrcheck.results.web_answers", "elrcheck.results.risk.finding_table"}
    every = {*Report.__subclasses__(), *ModelReport.__subclasses__()} - {ModelReport}
    reports = {cls for cls in every if cls.__module__ not in elsewhere}
    assert {cls for cls in reports if cls.__module__.startswith("elrcheck.results.")} == set(every_kind())


def test_ids_of_one_letter_are_of_these_kinds_only() -> None:
    from elrcheck.base import common_options

    for kind in common_options.KINDS:
        for entry in full_entries(kind):
            names = [entry[key] for key in ("id", "name") if key in entry] + list(entry.get("aliases", ()))
            for name in names:
                letters = str(name).partition("-")[0].upper()
                assert "-" not in str(name) or kind in IDS.get(letters, (kind,)), (name, kind)
