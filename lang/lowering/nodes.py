"""Nodes of the expression DAG, and the meaning of the operations.

Every value is an integer; a boolean is 0 or 1, a set is a non-negative bit mask. All operations are total, because
compiled code evaluates both sides of a choice: `shl1` and `bit` return 0 for an index outside 0..MAX_BIT. `apply`
defines the operations; the kernel, the numpy evaluator and the folding rules of `dag` are tested against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MAX_BIT = 61
LIMIT = 1 << 62  # values stay well inside a signed 64-bit word


class DagNode:
    """One value of the DAG: its operation, operands and inclusive interval. Only `Dag` builds nodes.

    id: grows from operand to user, so ascending ids are an evaluation order. leaf: index of a `var`, else -1.
    """

    __slots__ = ("args", "hi", "id", "is_bool", "is_const", "leaf", "lo", "op")

    def __init__(self, ident: int, op: str, args: tuple[DagNode, ...], lo: int, hi: int, leaf: int) -> None:
        self.id = ident
        self.op = op
        self.args = args
        self.lo = lo
        self.hi = hi
        self.leaf = leaf
        self.is_const = op == "const"
        self.is_bool = lo >= 0 and hi <= 1

    def __repr__(self) -> str:
        return f"<{show(self, 3)}>"


def show(node: DagNode, depth: int) -> str:
    """Format a node, down to some depth."""
    if node.op == "const":
        return str(node.lo)
    if node.op == "var":
        return f"v{node.leaf}"
    if depth == 0:
        return f"#{node.id}"
    return f"{node.op}({', '.join(show(arg, depth - 1) for arg in node.args)})"


def cone(roots: Iterable[DagNode]) -> list[DagNode]:
    """Return the roots and all nodes below them, each once, operands before users."""
    reached: dict[int, DagNode] = {}
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node.id not in reached:
            reached[node.id] = node
            todo.extend(node.args)
    return [reached[ident] for ident in sorted(reached)]


def apply(op: str, args: Sequence[int]) -> int:
    """Return the value of an operation on constant operands."""
    match op:
        case "add":
            return args[0] + args[1]
        case "sub":
            return args[0] - args[1]
        case "div":
            return args[0] // args[1]
        case "mod":
            return args[0] % args[1]
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "band":
            return args[0] & args[1]
        case "bor":
            return args[0] | args[1]
        case "andnot":
            return args[0] & ~args[1]
        case "lt":
            return int(args[0] < args[1])
        case "eq":
            return int(args[0] == args[1])
        case "not":
            return 1 - args[0]
        case "and":
            return int(all(args))
        case "ite":
            return args[1] if args[0] else args[2]
        case "card":
            return args[0].bit_count()
        case "shl1":
            return 1 << args[0] if 0 <= args[0] <= MAX_BIT else 0
        case "bit":
            return args[0] >> args[1] & 1 if 0 <= args[1] <= MAX_BIT else 0
    raise ValueError(f"unknown operation {op!r}")


def evaluate_all(nodes: Sequence[DagNode], leaves: Sequence[int]) -> tuple[int, ...]:
    """Return the values of nodes when leaf i has the value leaves[i]."""
    values: dict[int, int] = {}
    for node in cone(nodes):
        if node.op == "const":
            values[node.id] = node.lo
        elif node.op == "var":
            values[node.id] = leaves[node.leaf]
        else:
            values[node.id] = apply(node.op, [values[arg.id] for arg in node.args])
    return tuple(values[node.id] for node in nodes)


def evaluate(node: DagNode, leaves: Sequence[int]) -> int:
    """Return the value of one node when leaf i has the value leaves[i]."""
    return evaluate_all((node,), leaves)[0]
