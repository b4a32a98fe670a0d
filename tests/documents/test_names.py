"""Class names are unique in the package, and a binding is named for what it holds."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from support.places import sources

VAGUE = {"found", "made", "said", "known", "kept", "told", "shown", "given", "asked", "wanted"}
RULES = {"op", "action", "always", "sometimes", "leads_to", "lemma", "rule"}
"""Decorators of the modelling language: TLA+ text and recorded digests hold the names inside these functions."""
CONTRACTS: Mapping[str, str] = {
    "options of the command line and keywords of the functions in Python": """
        CheckRequest.kept GateRequest.kept MutateRequest.kept""",
    "fields of the files that `conform --record` and recipes write": "Compared.asked SeenRuns.shown",
    "fields of the JSON reports and of the answers of `web`": """
        CellReport.kept CheckReport.kept ComparedSpace.asked Difference.found GateReport.kept GuardReport.kept
        HazardReport.kept PhaseReport.kept PossibleReport.asked ProveReport.kept RepeatedRuns.asked
        RepeatedRuns.shown ReproduceReport.kept RiskAnswer.shown RiskPart.kept RiskReport.kept SuiteReport.kept
        SuiteRun.kept SuiteViolation.found UnreadRecords.known Unmutated.kept WebSearch.said""",
    "parts of an option or a report, under its name": """
        Discharge.kept Job.kept SearchOutcome.kept Unread.known""",
    "names of the model in configurations, events and exported text": "AnyEvent.wanted Reelection.KEPT asked",
}


def bindings(node: ast.AST, scope: str = "") -> Iterator[str]:
    """Yield the names that a tree binds, those of a class behind the name of the class."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() if RULES & {ast.unparse(one).partition("(")[0] for one in child.decorator_list}:
                yield scope + child.name
            case ast.FunctionDef() | ast.ClassDef():
                yield scope + child.name
                yield from bindings(child, f"{child.name}." if isinstance(child, ast.ClassDef) else "")
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield scope + name
            case _:
                yield from bindings(child, scope)


@pytest.fixture(scope="module")
def trees() -> list[ast.Module]:
    return [ast.parse(path.read_text(encoding="utf-8")) for path in sources()]


def classes(node: ast.AST) -> Iterator[str]:
    """Yield the names of the classes below a node, wherever statements stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield child.name
        if not isinstance(child, ast.expr):
            yield from classes(child)


def test_a_binding_is_named_for_what_it_holds(trees: list[ast.Module]) -> None:
    bound = {name for tree in trees for name in bindings(tree)}
    vague = {name for name in bound if name.rpartition(".")[2].lower().strip("_") in VAGUE}
    assert vague == {name for names in CONTRACTS.values() for name in names.split()}


def test_class_names_are_unique(trees: list[ast.Module]) -> None:
    counts = Counter(name for tree in trees for name in classes(tree))
    assert len(counts) > 500
    assert [name for name, count in counts.items() if count > 1] == []
