"""Nodes as LLVM instructions, for many states in parallel.

`Writer` appends instructions as text; building text is several times faster than building an object per
instruction, and LLVM's verifier checks every module before it is compiled. There are two kinds of values,
integers and booleans (i1), because a boolean that only steers a branch should never become a number;
`number` and `flag` convert where a use needs the other kind.

An integer is a vector with one lane per state, and as narrow as the values allow (`planes_ir`).

The names of computed values are scoped: a value computed in a block is visible in the blocks below it and
dropped when the block ends (`mark`, `forget`), as dominance requires. A name stands under the key of its value
(`key_of`), so what was computed may be the negation of a node, if that costs less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elrcheck.lang.lowering.nodes import MAX_BIT, DagNode


@dataclass(frozen=True)
class Lanes:
    """The LLVM types of integers and booleans."""

    bits: int
    count: int

    @property
    def number(self) -> str:
        return f"<{self.count} x i{self.bits}>"

    @property
    def flag(self) -> str:
        return f"<{self.count} x i1>"

    @property
    def bytes(self) -> int:
        """The size of a vector of integers."""
        return self.bits * self.count // 8

    @property
    def suffix(self) -> str:
        """The integer type as spelled in the names of intrinsics."""
        return f"v{self.count}i{self.bits}"

    def const(self, value: int) -> str:
        return f"splat (i{self.bits} {value})"

    def truth(self, value: bool) -> str:
        return f"splat (i1 {'true' if value else 'false'})"


def key_of(node: DagNode) -> int:
    """Return the key of the value of a node; its complement is the key of the negation."""
    return ~node.args[0].id if node.op == "not" else node.id


class FunctionLines:
    """The lines of one function, and the label of the block that is being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self._count = 0

    def let(self, text: str) -> str:
        """Append an instruction with a result; return the result's name."""
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def new_label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"


class Writer(FunctionLines):
    """Instructions of one function, and the names of the nodes computed so far.

    read_leaf emits the value of a leaf, read_flag that of a leaf which is 0 or 1 as a boolean.
    """

    def __init__(
        self, lanes: Lanes, read_leaf: Callable[[Writer, int], str], read_flag: Callable[[Writer, int], str]
    ) -> None:
        super().__init__()
        self.lanes = lanes
        self._read_leaf, self._read_flag = read_leaf, read_flag
        self._names: dict[int, tuple[str, bool]] = {}
        self._order: list[int] = []

    # -- nodes

    def mark(self) -> int:
        return len(self._order)

    def forget(self, mark: int) -> None:
        """Drop the names given since the mark."""
        for key in self._order[mark:]:
            del self._names[key]
        del self._order[mark:]

    def compute(self, node: DagNode) -> None:
        """Emit a node whose operands are already computed, constant, or negations of computed nodes."""
        if node.id in self._names or ~node.id in self._names:
            return
        opposite = self._opposite(node)
        if opposite:
            self._name(~node.id, opposite)
        else:
            self._name(node.id, *self._emit(node))

    def _name(self, key: int, name: str, is_flag: bool = True) -> None:
        self._names[key] = name, is_flag
        self._order.append(key)

    def number(self, node: DagNode) -> str:
        """Return the node as an integer."""
        if node.is_const:
            return self.lanes.const(node.lo)
        name, is_flag = self._names.get(key_of(node), ("", True))
        if not is_flag:
            return name
        return self.let(f"zext {self.lanes.flag} {self.flag(node)} to {self.lanes.number}")

    def flag(self, node: DagNode) -> str:
        """Return the node, which is 0 or 1, as a boolean."""
        if node.is_const:
            return self.lanes.truth(bool(node.lo))
        key = key_of(node)
        if key not in self._names:
            self._name(key, self._inverse(node.args[0]) if node.op == "not" else self.negate(self._names[~key][0]))
        return self._flag(key)

    def _flag(self, key: int) -> str:
        name, is_flag = self._names[key]
        return name if is_flag else self.let(f"trunc {self.lanes.number} {name} to {self.lanes.flag}")

    def _inverse(self, node: DagNode) -> str:
        """Return the negation of a node; for a comparison emit the opposite one, which costs no more."""
        opposite = ~key_of(node)
        if opposite in self._names:
            return self._flag(opposite)
        if node.op == "lt" or (node.op == "eq" and not all(arg.is_bool for arg in node.args)):
            word = "sge" if node.op == "lt" else "ne"
            a, b = (self.number(arg) for arg in node.args)
            return self.let(f"icmp {word} {self.lanes.number} {a}, {b}")
        return self.negate(self.flag(node))

    def _opposite(self, node: DagNode) -> str:
        """Emit the negation of a node and return its name, if that costs less than the node; "" for others.

        These are disjunctions, which the graph writes as negated conjunctions, and booleans that differ.
        """
        if node.op == "eq" and all(arg.is_bool for arg in node.args):
            a, b = (self.flag(arg) for arg in node.args)
            return self.let(f"xor {self.lanes.flag} {a}, {b}")
        if node.op == "and" and all(arg.op == "not" for arg in node.args):
            return self._joined("or", [self.flag(arg.args[0]) for arg in node.args])
        return ""

    def negate(self, name: str) -> str:
        return self.let(f"xor {self.lanes.flag} {name}, {self.lanes.truth(True)}")

    def hit(self, node: DagNode, value: int) -> str:
        """Return, as a boolean, whether a boolean node has this value."""
        return self.flag(node) if value else self._inverse(node)

    def all_of(self, flags: list[str]) -> str:
        """Return the conjunction of booleans."""
        return self._joined("and", flags) if flags else self.lanes.truth(True)

    def _joined(self, word: str, flags: list[str]) -> str:
        result = flags[0]
        for other in flags[1:]:
            result = self.let(f"{word} {self.lanes.flag} {result}, {other}")
        return result

    def _emit(self, node: DagNode) -> tuple[str, bool]:
        """Emit the instructions of a node; return its name, and whether it is a boolean."""
        kind, op, args = self.lanes.number, node.op, node.args
        match op:
            case "var":
                if node.is_bool:
                    return self._read_flag(self, node.leaf), True
                return self._read_leaf(self, node.leaf), False
            case "add" | "sub":
                return self.let(f"{op} {kind} {self.number(args[0])}, {self.number(args[1])}"), False
            case "band" | "bor":
                word = "and" if op == "band" else "or"
                return self.let(f"{word} {kind} {self.number(args[0])}, {self.number(args[1])}"), False
            case "andnot":
                rest = self.let(f"xor {kind} {self.number(args[1])}, {self.lanes.const(-1)}")
                return self.let(f"and {kind} {self.number(args[0])}, {rest}"), False
            case "div" | "mod":
                return self._divide(node), False
            case "min" | "max":
                return self._call(f"s{op}", [args[0], args[1]]), False
            case "card":
                return self._call("ctpop", [args[0]]), False
            case "lt" | "eq":
                return self._compare(node), True
            case "and":
                return self._conjunction(args), True
            case "ite":
                return self._choose(node)
            case "shl1":
                index, inside = self._index(args[0])
                moved = self.let(f"shl {kind} {self.lanes.const(1)}, {index}")
                return self.let(
                    f"select {self.lanes.flag} {inside}, {kind} {moved}, {kind} {self.lanes.const(0)}"
                ), False
            case "bit":
                return self._bit(node), True
        raise ValueError(f"the kernel does not know the operation {op!r}")

    def _call(self, intrinsic: str, args: list[DagNode]) -> str:
        kind = self.lanes.number
        listed = ", ".join(f"{kind} {self.number(arg)}" for arg in args)
        return self.let(f"call {kind} @llvm.{intrinsic}.{self.lanes.suffix}({listed})")

    def _divide(self, node: DagNode) -> str:
        """Divide a non-negative number; the remainder of one below twice the divisor needs no division."""
        kind, (a, b) = self.lanes.number, (self.number(arg) for arg in node.args)
        if node.op == "mod" and node.args[0].hi < 2 * node.args[1].lo:
            below = self.let(f"icmp ult {kind} {a}, {b}")
            less = self.let(f"sub {kind} {a}, {b}")
            return self.let(f"select {self.lanes.flag} {below}, {kind} {a}, {kind} {less}")
        word = "udiv" if node.op == "div" else "urem"
        return self.let(f"{word} {kind} {a}, {b}")

    def _conjunction(self, args: Sequence[DagNode]) -> str:
        """Return a conjunction; several negations in it are one, of the disjunction of what they negate."""
        denied = [arg.args[0] for arg in args if arg.op == "not"]
        if len(denied) < 2:
            return self.all_of([self.flag(arg) for arg in args])
        others = [self.flag(arg) for arg in args if arg.op != "not"]
        return self.all_of([*others, self.negate(self._joined("or", [self.flag(node) for node in denied]))])

    def _compare(self, node: DagNode) -> str:
        a, b = node.args
        word = "slt" if node.op == "lt" else "eq"
        return self.let(f"icmp {word} {self.lanes.number} {self.number(a)}, {self.number(b)}")

    def _choose(self, node: DagNode) -> tuple[str, bool]:
        cond = self.flag(node.args[0])
        if node.is_bool:
            kind, values = self.lanes.flag, [self.flag(arg) for arg in node.args[1:]]
        else:
            kind, values = self.lanes.number, [self.number(arg) for arg in node.args[1:]]
        chosen = self.let(f"select {self.lanes.flag} {cond}, {kind} {values[0]}, {kind} {values[1]}")
        return chosen, node.is_bool

    def _bit(self, node: DagNode) -> str:
        mask, index = node.args
        kind = self.lanes.number
        if index.is_const:
            part = self.let(f"and {kind} {self.number(mask)}, {self.lanes.const(1 << index.lo)}")
            return self.let(f"icmp ne {kind} {part}, {self.lanes.const(0)}")
        amount, inside = self._index(index)
        moved = self.let(f"lshr {kind} {self.number(mask)}, {amount}")
        return self.all_of([self.let(f"trunc {kind} {moved} to {self.lanes.flag}"), inside])

    def _index(self, node: DagNode) -> tuple[str, str]:
        """Return a shift amount that is always valid, and whether the index lies in 0..MAX_BIT.

        Narrow lanes hold only values that fit them, so a bit beyond the lane's width is never set.
        """
        last = min(MAX_BIT, self.lanes.bits - 1)
        index = self.number(node)
        if node.lo >= 0 and node.hi <= last:
            return index, self.lanes.truth(True)
        kind = self.lanes.number
        inside = self.let(f"icmp ule {kind} {index}, {self.lanes.const(last)}")
        return self.let(f"and {kind} {index}, {self.lanes.const(self.lanes.bits - 1)}"), inside


def load_field(name: str, base: str, field: int, kind: str = "ptr") -> str:
    """Return the IR that loads a field of the struct at `base` as %name; %name.f is its address.

    kind: "i64", or "ptr" if the field is an address.
    """
    text = f"\n  %{name}.f = getelementptr i64, ptr {base}, i64 {field:d}"
    if kind == "i64":
        return f"{text}\n  %{name} = load i64, ptr %{name}.f, align 8"
    text += f"\n  %{name}.i = load i64, ptr %{name}.f, align 8"
    return f"{text}\n  %{name} = inttoptr i64 %{name}.i to ptr"


def copy_row(words: int, tag: str, source: str, target: str, source_step: int = 1, target_step: int = 1) -> str:
    """Return the IR that copies a row from source to target; `tag` makes its names unique.

    source_step, target_step: distance from one word of the row to the next, in words.
    """
    return "".join(
        f"""
  %{tag}.s{k} = getelementptr i64, ptr {source}, i64 {k * source_step}
  %{tag}.v{k} = load i64, ptr %{tag}.s{k}, align 8
  %{tag}.t{k} = getelementptr i64, ptr {target}, i64 {k * target_step}
  store i64 %{tag}.v{k}, ptr %{tag}.t{k}, align 8"""
        for k in range(words)
    )
