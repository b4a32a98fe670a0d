"""Action and branch coverage of the model over an exploration.

The model's functions are compiled a second time from their source, with a probe around every condition:
if statements, conditional expressions, `require`, the filters of comprehensions, and each operand of
`and` and `or`. The copies call each other and share every class with the originals, which are not
changed. The search is that of `elrcheck.explorer.search.reference`, without properties.

A step that leaves the budgets of the configuration covers nothing, because no search ever takes it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, instances
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import ModelConfig, NotEnabled, Role
from elrcheck.lang.source import Source

PROBE = "probe of support.branch_coverage"
"""The name of the probe in the copies; no model source can contain it."""


@dataclass(frozen=True, order=True)
class Condition:
    """One condition of the model's source. kind: if, choice, guard, filter or operand.

    module: last component of the module's name, such as `partition`. text: the condition as `ast.unparse`
    prints it.
    """

    module: str
    function: str
    line: int
    column: int
    kind: str
    text: str


@dataclass(frozen=True, order=True)
class Arm:
    """A condition together with one of its two values."""

    condition: Condition
    value: bool

    def __str__(self) -> str:
        at = self.condition
        return f"{at.module}.{at.function}:{at.line}: {at.kind} `{at.text}` was never {str(self.value).lower()}"


@dataclass
class Coverage:
    """How often each action fired and each arm was taken.

    states: sum of the distinct states of all explorations. complete: no exploration reached a limit.
    """

    fired: Counter[str] = field(default_factory=Counter)
    taken: Counter[Arm] = field(default_factory=Counter)
    states: int = 0
    complete: bool = True

    def never_fired(self) -> list[str]:
        return [action for action, times in self.fired.items() if not times]

    def never_taken(self, *modules: str) -> list[Arm]:
        """Return the arms never taken, in source order; only those of the given modules, if any are given."""
        return sorted(
            arm for arm, times in self.taken.items() if not times and (not modules or arm.condition.module in modules)
        )


class CoverageSearch:
    """Explores one configuration after another; `coverage` is the sum over all of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.coverage = Coverage(Counter({fn.name: 0 for fn in model.actions}))
        self._conditions: list[Condition] = []
        self._seen: list[tuple[int, bool]] = []
        self._copies = self._instrument()
        self._counts = [[0, 0] for _ in self._conditions]
        self._sum()

    def explore(self, config: ModelConfig, *, max_states: int, after: Sequence[Label] = ()) -> Coverage:
        """Explore breadth-first, up to `max_states` distinct states, from the state that `after` leads to.

        The steps in `after` start in the initial state and count too. Return the sum over all explorations
        so far. Raise NotEnabled if one of the steps is not possible within the budgets.
        """
        steps = [(fn.name, self._copies[fn.name], args) for fn in self.model.actions for args in instances(fn, config)]
        self._seen.clear()
        first = self._copies[self.model.init.name](config)
        for label in after:
            first = self._copies[label.action](config, first, *label.args)
            if not self.model.bound.source(config, first):
                raise NotEnabled("the budgets allow it")
            self.coverage.fired[label.action] += 1
        self._keep()
        visited, level = {first}, [first]
        while level and len(visited) < max_states:
            fresh = []
            for state in level:
                for successor in self._successors(config, state, steps):
                    before = len(visited)
                    visited.add(successor)  # hash each state only once: hashing dominates the cost
                    if len(visited) > before:
                        fresh.append(successor)
                if len(visited) >= max_states:
                    break
            level = fresh
        self.coverage.states += len(visited)
        self.coverage.complete &= not level
        self._sum()
        return self.coverage

    def _successors(
        self, config: ModelConfig, state: object, steps: list[tuple[str, Callable[..., object], tuple[object, ...]]]
    ) -> Iterator[object]:
        within = self.model.bound.source
        for action, run, args in steps:
            try:
                after = run(config, state, *args)
            except NotEnabled:
                self._keep()
                continue
            if within(config, after):
                self._keep()
                self.coverage.fired[action] += 1
                yield after
            else:
                self._seen.clear()

    # ------------------------------------------------------------------------- probes

    def _probe(self, number: int, value: Any) -> Any:
        self._seen.append((number, bool(value)))
        return value

    def _keep(self) -> None:
        for number, value in self._seen:
            self._counts[number][value] += 1
        self._seen.clear()

    def _sum(self) -> None:
        for condition, counts in zip(self._conditions, self._counts, strict=True):
            for value in (False, True):
                self.coverage.taken[Arm(condition, value)] += counts[value]
                counts[value] = 0

    def _instrument(self) -> dict[str, Callable[..., object]]:
        """Return the copies by name. Copies from one module share a namespace, so they call each other."""
        spaces: dict[str, dict[str, Any]] = {}
        copies: dict[str, Callable[..., object]] = {}
        for fn in self.model.fns.values():
            space = spaces.setdefault(fn.source.__module__, {**fn.source.__globals__, PROBE: self._probe})
            exec(self._compiled(fn), space)
            copies[fn.name] = space[fn.name]
        called: dict[str, Callable[..., object]] = {**copies, **_dispatching(spaces)}
        for space in spaces.values():
            space.update({name: copy for name, copy in called.items() if name in space})
        return copies

    def _compiled(self, fn: Fn) -> Any:
        source = Source(fn.source)
        tree = source.tree
        tree.decorator_list = []
        ast.increment_lineno(tree, source.first_line - 1)
        module = ast.Module([_Probes(fn, source.indent, self._conditions).visit(tree)], [])
        return compile(ast.fix_missing_locations(module), fn.file, "exec", dont_inherit=True)


def _dispatching(spaces: Mapping[str, dict[str, Any]]) -> dict[str, Callable[..., object]]:
    """Copies of the operators that only choose another (`@dispatch`): they have no condition to probe."""
    dispatching = {
        name: value
        for space in spaces.values()
        for name, value in space.items()
        if isinstance(role := getattr(value, "__elr_role__", None), Role) and role.kind == "dispatch"
    }
    return {name: FunctionType(one.__code__, spaces[one.__module__]) for name, one in dispatching.items()}


class _Probes(ast.NodeTransformer):
    """Wraps each condition in a probe and appends it to `found`; its index there is its number."""

    def __init__(self, fn: Fn, indent: int, conditions: list[Condition]) -> None:
        self.fn, self.indent, self.conditions = fn, indent, conditions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None  # annotations would be evaluated when the copy is compiled
        for arg in node.args.args:
            arg.annotation = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._wrap("if", node.test)
        return self._visit_rest(node, "body", "orelse")

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self._wrap("choice", node.test)
        return self._visit_rest(node, "body", "orelse")

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [self._wrap("operand", value) for value in node.values]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.ifs = [self._wrap("filter", condition) for condition in node.ifs]
        return self._visit_rest(node, "iter")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "require":
            node.args[0] = self._wrap("guard", node.args[0])
            return node
        return self.generic_visit(node)

    def _visit_rest(self, node: ast.AST, *fields: str) -> ast.AST:
        """Visit the fields that are not conditions."""
        for name in fields:
            old = getattr(node, name)
            setattr(node, name, [self.visit(x) for x in old] if isinstance(old, list) else self.visit(old))
        return node

    def _wrap(self, kind: str, node: ast.expr) -> ast.expr:
        number = len(self.conditions)
        self.conditions.append(
            Condition(
                module=self.fn.source.__module__.rpartition(".")[2],
                function=self.fn.name,
                line=node.lineno,
                column=node.col_offset + self.indent,
                kind=kind,
                text=ast.unparse(node),
            )
        )
        name = ast.Name(PROBE, ast.Load())
        call = ast.Call(name, [ast.Constant(number), self.visit(node)], [])
        return ast.copy_location(call, node)
