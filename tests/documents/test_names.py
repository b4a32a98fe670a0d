"""Class names are unique in the package, and a binding is named for what it holds."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import pytest

from support.places import TESTS, sources

VAGUE = {"found", "made", "said", "known", "kept", "told", "shown", "given", "asked", "wanted"}
CONTRACTS: Mapping[str, str] = {
    "options of the command line and keywords of the functions in Python": """
        CheckRequest.kept GateRequest.kept MutateRequest.kept""",
    "fields of the files that `conform --record` and recipes write": "Compared.asked SeenRuns.shown",
    "fields of the JSON reports and of the answers of `web`": """
        CellReport.kept CertificateReport.kept CheckReport.kept ComparedSpace.asked Difference.found GateReport.kept
        GuardReport.kept HazardReport.kept PhaseReport.kept PossibleReport.asked ProveReport.kept RepeatedRuns.asked
        RepeatedRuns.shown ReproduceReport.kept RiskAnswer.shown RiskPart.kept RiskReport.kept SuiteReport.kept
        SuiteRun.kept SuiteViolation.found UnreadRecords.known Unmutated.kept WebSearch.said""",
    "parts of an option or a report, under its name": """
        Discharge.kept Job.kept SearchOutcome.kept Unread.known""",
    "a value of the configuration, and arguments that stand in every stored trace": """
        Reelection.KEPT LoseDirectory.found Reassign.wanted""",
}


def acts(function: ast.FunctionDef) -> bool:
    return "action" in {ast.unparse(one).partition("(")[0] for one in function.decorator_list}


def bindings(node: ast.AST, scope: str = "") -> Iterator[str]:
    """Yield the names that a tree binds, those of a class or an action behind its name, attributes behind `self`."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.ClassDef():
                yield scope + child.name
                yield from bindings(child, f"{child.name}." if isinstance(child, ast.ClassDef) or acts(child) else "")
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield scope + name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield f"self.{name}"
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


def vague(trees: Iterable[ast.Module]) -> set[str]:
    bound = {name for tree in trees for name in bindings(tree)}
    return {name for name in bound if name.rpartition(".")[2].lower().strip("_") in VAGUE}


def test_a_binding_is_named_for_what_it_holds(trees: list[ast.Module]) -> None:
    assert vague(trees) == {name for names in CONTRACTS.values() for name in names.split()}


def test_the_tests_follow_the_rule() -> None:
    assert vague(ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")) == set()


def test_class_names_are_unique(trees: list[ast.Module]) -> None:
    counts = Counter(name for tree in trees for name in classes(tree))
    assert len(counts) > 500
    assert [name for name, count in counts.items() if count > 1] == []
