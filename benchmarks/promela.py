"""A lowered program as Promela, to compare with Spin.

The model is ordinary Promela without embedded C: one variable per leaf, one process with one loop, and for
every action instance one option `:: d_step { guard -> assignments }`. The bound is part of the guard, so a
step that leaves the bound does not exist. Properties are not printed; Spin only counts states. Spin then
stores exactly the vector of leaves, so its number of stored states must equal the number of distinct states
of the other engines; its number of transitions is generated - cut.

For a fair comparison, guards come in the order of the model, cheap ones first, and evaluation stops at the
first that fails; values used by several assignments of a step are computed once, in hidden variables, which
are not part of the state; leaves are stored relative to their lower bound, packed or as bytes (`storage`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from c_program import SIGNS

from elrcheck.explorer.kernel.guard_trie import conjuncts
from elrcheck.lang.lowering.nodes import MAX_BIT, DagNode, cone
from elrcheck.lang.lowering.program import Instance, Leaf, Program

Storage = Literal["bits", "bytes"]
WIDEST = 31  # Promela computes with int


def promela_source(program: Program, storage: Storage = "bits") -> str:
    """Return the Promela model; raise ValueError for a program that this rendering cannot express."""
    if len(program.init) != 1:
        raise ValueError("the Promela rendering supports only one initial state")
    if any(leaf.bits > WIDEST for leaf in program.leaves):
        raise ValueError("a leaf is too wide for Promela's integers")
    printer = _Printer(program.leaves)
    options = [text for instance in program.instances if (text := printer.option(instance)) is not None]
    if not options:
        raise ValueError("no instance can ever fire")
    variables = [
        f"{_declaration(leaf, printer.names[k], storage)} = {program.init[0][k] - leaf.lo};"
        for k, leaf in enumerate(program.leaves)
        if leaf.bits
    ]
    hidden = [f"hidden int t{k};" for k in range(printer.most_temporaries)]
    loop = ["active proctype model() {", "  do", *options, "  od", "}"]
    return "\n".join([*variables, *hidden, "", *loop, ""])


def _declaration(leaf: Leaf, name: str, storage: Storage) -> str:
    if leaf.bits == 1:
        return f"bit {name}"
    if storage == "bits":
        return f"unsigned {name} : {leaf.bits}"
    return f"byte {name}" if leaf.bits <= 8 else f"int {name}"


class _Printer:
    def __init__(self, leaves: tuple[Leaf, ...]) -> None:
        self.leaves = leaves
        self.names = [f"x{k}_{re.sub(r'[^0-9a-zA-Z]+', '_', leaf.path)}" for k, leaf in enumerate(leaves)]
        self.most_temporaries = 0

    def option(self, instance: Instance) -> str | None:
        """Return one option of the loop, or None if the instance can never fire."""
        guards = conjuncts([*instance.guards, *instance.within])
        if guards is None:
            return None
        condition = " && ".join(self._text(node, {}) for node in guards) or "true"
        steps = self._assignments(instance)
        title = " ".join(map(str, (instance.action, *instance.args)))
        head = [f"  :: d_step {{ /* {title} */", f"    {condition} ->"]
        return "\n".join([*head, *(f"    {step};" for step in steps or ["skip"]), "  }"])

    def _assignments(self, instance: Instance) -> list[str]:
        """Return the updates in an order that writes no leaf before it has been read for the last time."""
        updates = {
            leaf: node
            for leaf, node in sorted(instance.updates.items())
            if self.leaves[leaf].bits and not (node.op == "var" and node.leaf == leaf)
        }
        temporaries: dict[int, str] = {}
        lines: list[str] = []

        def keep(node: DagNode) -> None:
            name = f"t{len(temporaries)}"
            lines.append(f"{name} = {self._text(node, temporaries)}")
            temporaries[node.id] = name

        for node in self._shared(updates):
            keep(node)
        waiting = dict(updates)
        while waiting:
            reads = {leaf: self._reads(node, temporaries) for leaf, node in waiting.items()}
            free = [a for a in waiting if not any(a in reads[b] for b in waiting if b != a)]
            for leaf in free:
                lines.append(self._assign(leaf, waiting.pop(leaf), temporaries))
            if not free:  # a cycle: break it where it is first met
                keep(next(node for leaf, node in waiting.items() if reads[leaf]))
        self.most_temporaries = max(self.most_temporaries, len(temporaries))
        return lines

    def _assign(self, leaf: int, node: DagNode, temporaries: dict[int, str]) -> str:
        lo = self.leaves[leaf].lo
        if node.is_const:
            return f"{self.names[leaf]} = {node.lo - lo}"
        value = self._text(node, temporaries)
        return f"{self.names[leaf]} = {value}" if not lo else f"{self.names[leaf]} = {value} - {_number(lo)}"

    @staticmethod
    def _shared(updates: dict[int, DagNode]) -> list[DagNode]:
        """Return the values that the updates use more than once, operands first."""
        nodes = cone(updates.values())
        uses = Counter(arg.id for node in nodes for arg in node.args)
        uses.update(node.id for node in updates.values())
        return [node for node in nodes if uses[node.id] > 1 and node.op not in ("const", "var", "not")]

    @staticmethod
    def _reads(node: DagNode, temporaries: dict[int, str]) -> set[int]:
        """Return the leaves that the text of a node reads."""
        leaves, todo = set(), [node]
        while todo:
            at = todo.pop()
            if at.id in temporaries:
                continue
            if at.op == "var":
                leaves.add(at.leaf)
            todo.extend(at.args)
        return leaves

    def _text(self, node: DagNode, temporaries: dict[int, str]) -> str:
        """Return a node as an expression; the operations are those of `nodes.apply`."""
        if node.id in temporaries:
            return temporaries[node.id]
        if node.op == "const":
            return _number(node.lo)
        if node.op == "var":
            lo = self.leaves[node.leaf].lo
            return f"({self.names[node.leaf]} + {_number(lo)})" if lo else self.names[node.leaf]
        a = [self._text(arg, temporaries) for arg in node.args]
        match node.op:
            case "add" | "sub" | "div" | "mod" | "band" | "bor" | "lt" | "eq":
                sign = SIGNS[node.op]
                return f"({a[0]} {sign} {a[1]})"
            case "andnot":
                return f"({a[0]} & ~({a[1]}))"
            case "not":
                return f"!({a[0]})"
            case "and":
                return f"({' && '.join(a)})"
            case "min" | "max":
                return f"({a[0]} {'<' if node.op == 'min' else '>'} {a[1]} -> {a[0]} : {a[1]})"
            case "ite":
                return f"({a[0]} -> {a[1]} : {a[2]})"
            case "card":
                bits = range(node.args[0].hi.bit_length())
                return f"({' + '.join(f'(({a[0]} >> {k}) & 1)' for k in bits)})"
            case "shl1":
                return _total(node.args[0], a[0], f"(1 << {a[0]})")
            case "bit":
                return _total(node.args[1], a[1], f"(({a[0]} >> {a[1]}) & 1)")
        raise ValueError(f"no Promela for the operation {node.op!r}")


def _total(index: DagNode, text: str, value: str) -> str:
    """Return the value, guarded to be 0 for an index out of range."""
    if index.lo >= 0 and index.hi <= min(MAX_BIT, WIDEST - 1):
        return value
    return f"({text} >= 0 && {text} < {WIDEST} -> {value} : 0)"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(0 - {-value})"
