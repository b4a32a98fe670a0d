"""docs/language.md: every row of its tables says what is printed, and all readings give it the same value.

A construct is added by a row. Its example is compiled with the model of the page and printed as TLA+; plain Python, the
evaluator of the IR, Z3 and the searches have to agree about its value.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import z3

import elrcheck
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.ir import Fn, Ret
from elrcheck.lang.load import Model, load
from elrcheck.lang.lowering.lowered import bounds
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.structure import Structure
from elrcheck.lang.types import record_fields, type_of
from elrcheck.proof.transition import Transitions
from elrcheck.proof.z3_algebra import formula
from elrcheck.tla_export.names import Names
from elrcheck.tla_export.printed import PrintScope
from elrcheck.tla_export.printer import ExpressionPrinter
from elrcheck.tla_export.spec import constant_name, spec_text
from elrcheck.tla_export.type_sets import records_of, type_set
from support.places import ROOT

PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
SOURCE = re.findall(r"```python\n(.*?)```", PAGE, re.S)[0]
PARAMETERS = ("m", "n")
"""The nodes that a row does not bind itself."""
ROW = re.compile(r"(?<!\\)\|")
SAMPLE = 40
"""About how many states the evaluator is asked about."""


def table(heading: str) -> list[list[str]]:
    """The rows of the table below a heading; the code alone of cells that are code."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip().replace(r"\|", "|") for cell in ROW.split(line)[1:-1]] for line in lines]
    return [[cell.strip("`") for cell in row] for row in cells]


TYPES, EXPRESSIONS = table("Types"), table("Expressions")


@dataclass(frozen=True)
class Row:
    """An expression as an operator `row_N`, and as a property of steps: its value stays."""

    number: int
    text: str
    type: str
    tla: str

    @cached_property
    def free(self) -> list[str]:
        names = [node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Name)]
        bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        return sorted({node.id for node in names} & set(PARAMETERS) - bound)

    @property
    def source(self) -> str:
        name, more = f"row_{self.number}", "".join(f", {node}" for node in self.free)
        same = f"{name}(c, s{more}) == {name}(c, t{more})"
        loops = " ".join(f"for {node} in range(c.nodes)" for node in self.free)
        return f'''

@op
def {name}(c: Config, s: State{"".join(f", {node}: Node" for node in self.free)}) -> {self.type}:
    return {self.text}


@always("R-{self.number}")
def Row{self.number}Stays(c: Config, s: State, t: State) -> bool:
    """No step changes it."""
    return {f"all({same} {loops})" if loops else same}
'''


ROWS = [Row(i, *cells) for i, cells in enumerate(EXPRESSIONS, start=1)]


class Page:
    """The model of the page with an operator and a property for each row."""

    def __init__(self, file: Path) -> None:
        text, declared = SOURCE.split("\nMODEL = ")
        file.write_text(text.rstrip() + "".join(row.source for row in ROWS) + "\n\nMODEL = " + declared)
        spec = importlib.util.spec_from_file_location("language_page", file)
        assert spec is not None and spec.loader is not None
        module = sys.modules["language_page"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.file, self.names = file, vars(module)
        self.model: Model = load(module.State, module.Config, [module])
        self.config: Any = module.Config()
        self.constants = {name: constant_name(name) for name in record_fields(module.Config)}

    @cached_property
    def states(self) -> list[Any]:
        """All that can be reached, breadth first, in plain Python."""
        plain = PlainModel(self.model, self.config)
        seen = dict.fromkeys(plain.starts)
        for state in (pending := list(seen)):
            for _, after in plain.successors(state) if plain.within(state) else ():
                if after not in seen:
                    seen[after] = None
                    pending.append(after)
        return list(seen)

    @property
    def some(self) -> list[Any]:
        return self.states[:: len(self.states) // SAMPLE]

    def values(self, row: Row, state: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """The value of a row for every choice of its parameters, in plain Python."""
        for args in itertools.product(range(self.config.nodes), repeat=len(row.free)):
            yield args, self.names[f"row_{row.number}"](self.config, state, *args)

    def fn(self, row: Row) -> Fn:
        return self.model.fns[f"row_{row.number}"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    yield Page(tmp_path_factory.mktemp("language") / "language_page.py")
    del sys.modules["language_page"]


# ------------------------------------------------------------------------------ what is printed


def test_every_type_is_printed_and_packed_as_its_row_says(page: Page) -> None:
    structure = Structure(page.config, ConcreteAlgebra())
    for written, _, tla, bits in TYPES:
        ty = type_of(eval(written, page.names))
        records = {record.name: f"{record.name}Type" for record in (ty, *records_of(ty)) if record.kind == "record"}
        leaves = [bounds(structure, leaf) for _, leaf, _ in structure.leaves(structure.blank(ty), ty)]
        packed = sum((hi - lo).bit_length() for lo, hi in leaves)
        assert (type_set(ty, page.constants, records), str(packed)) == (tla, bits), written
    assert len(TYPES) > 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_every_expression_is_printed_as_its_row_says(page: Page, row: Row) -> None:
    fn = page.fn(row)
    assert isinstance(fn.body, Ret)
    names = Names()
    for name in page.model.state_fields:
        names.keep(name)
    printer = ExpressionPrinter(page.model.fns, page.constants, names, {"Vote": "VoteType"})
    scope = PrintScope(fn.name, {name: name for name, _ in fn.params})
    assert printer.text(fn.body.value, scope) == row.tla  # type: ignore[arg-type]


def test_the_module_of_the_page_is_what_is_exported(page: Page) -> None:
    exported = spec_text(page.model, page.config, "Page").tla
    (quoted,) = re.findall(r"```tla\n(.*?)```", PAGE, re.S)
    parts = quoted.rstrip().split("\n\n")
    assert [part for part in parts if part not in exported] == [] and len(parts) == 2


# ------------------------------------------------------------------------------ what it means


class Solver:
    """The model over terms of Z3."""

    def __init__(self, page: Page) -> None:
        self.transitions = Transitions(page.model, page.config)
        self.ty = page.model.state_ty

    def agrees(self, fn: Fn, state: Any, args: tuple[Any, ...], value: Any) -> bool:
        """Whether the term of a function is this value in this state."""
        structure, evaluator = self.transitions.structure, self.transitions.evaluator
        arguments = {name: structure.lift(arg, ty) for (name, ty), arg in zip(fn.params, args, strict=True)}
        term = evaluator.call(fn, (self.transitions.now,), arguments)
        same = formula(structure.eq(term, structure.lift(value, fn.ret), fn.ret))
        return z3.is_true(z3.simplify(z3.substitute(same, *self._numbers(structure.lift(state, self.ty)))))

    def _numbers(self, lifted: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        leaves = self.transitions.structure.leaves(lifted, self.ty)
        for scalar, (_, _, number) in zip(self.transitions.scalars, leaves, strict=True):
            pairs = zip(scalar, number, strict=True) if isinstance(scalar, list) else [(scalar, number)]
            for variable, constant in pairs:
                if z3.is_expr(variable):
                    yield variable, z3.BoolVal(bool(constant)) if z3.is_bool(variable) else z3.IntVal(int(constant))


@pytest.fixture(scope="module")
def solver(page: Page) -> Solver:
    return Solver(page)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_the_evaluator_and_the_solver_agree_with_python(page: Page, row: Row, solver: Solver) -> None:
    fn, evaluator = page.fn(row), Evaluator(page.model.fns, page.config, ConcreteAlgebra())
    structure, values = evaluator.structure, set()
    for state in page.some:
        lifted = structure.lift(state, page.model.state_ty)
        for args, value in page.values(row, state):
            arguments = {name: structure.lift(arg, ty) for (name, ty), arg in zip(fn.params, args, strict=True)}
            assert structure.lower(evaluator.call(fn, (lifted,), arguments), fn.ret) == value, (args, state)
            if state in page.some[::8]:
                assert solver.agrees(fn, state, args, value), (args, state)
            values.add(value)
    constant = "s." not in row.text
    assert constant or len(values) > 1, "the row says something about a state"


@pytest.mark.slow
def test_all_searches_find_the_same_rows_changed_by_a_step(page: Page) -> None:
    results = [elrcheck.check(model=page.file, engine=engine) for engine in ("reference", "numpy", "local")]
    verdicts = [{one.id: (one.verdict, one.depth) for one in result.properties} for result in results]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    stays = [row.text for row in ROWS if verdicts[0][f"R-{row.number}"][0] == "holds"]
    assert [text for text in stays if "s." in text] == []
    assert (results[0].search.distinct, verdicts[0]["P-1"][0], verdicts[0]["W-1"][0]) == (
        len(page.states),
        "holds",
        "reached",
    )


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_reads_every_row_and_counts_the_same(page: Page, invoke: Any) -> None:
    code, out, err = invoke("tlc", "--count", "--model", str(page.file))
    assert code == 0 and "SAME" in out, out + err
