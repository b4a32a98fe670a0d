"""A lowered program as C: an oracle for the counts of the compiled search, and a benchmark for its speed.

`c_source` prints the expansion and the state checks of a program; `c_search.c` includes the text and
implements the search. The guard tree and the placement of values (`guard_trie`), the groups of instances, the
packing (`word_layout`), the hash, the table with rows stored in full and chunks with prefetching are those
of the compiled search. The C program takes one state at a time, with early exits, where the compiled search
takes a block of states (`planes_ir`), and it looks up every step (docs/adr/0025). It omits what only the
report needs: counters per instance, the origin of a state, credits.

The two engines can share an error in the lowering, but not one of their own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elrcheck.explorer.kernel.expand_ir import group_instances
from elrcheck.explorer.kernel.guard_trie import GuardBlock, build_tree, place
from elrcheck.explorer.kernel.word_layout import WordLayout, make_layout
from elrcheck.lang.lowering.independence import changes
from elrcheck.lang.lowering.nodes import MAX_BIT, DagNode, cone
from elrcheck.lang.lowering.program import Program

DRIVER = Path(__file__).with_name("c_search.c")
SIGNS = {"add": "+", "sub": "-", "div": "/", "mod": "%", "band": "&", "bor": "|", "lt": "<", "eq": "=="}
FLAGS = ("-march=native", "-std=gnu11")


def find_compiler() -> str | None:
    """Return the path of a C compiler, preferably gcc."""
    return next((path for name in ("gcc", "clang", "cc") if (path := shutil.which(name))), None)


# ---------------------------------------------------------------------------- nodes


def name_of(node: DagNode) -> str:
    """Return an operand: a literal, a computed value, or the negation of one."""
    if node.is_const:
        return f"{node.lo}" if node.lo >= 0 else f"({node.lo})"
    return f"!{name_of(node.args[0])}" if node.op == "not" else f"v{node.id}"


def declare(node: DagNode, layout: WordLayout) -> str:
    """Return the C declaration that computes a node from its operands."""
    kind = "bool" if node.op in ("lt", "eq", "and", "bit") or (node.op == "ite" and node.is_bool) else "i64"
    return f"const {kind} v{node.id} = {expression(node, layout)};"


def expression(node: DagNode, layout: WordLayout) -> str:
    """Return the C expression of a node; the operations are those of `nodes.apply`."""
    a = [name_of(arg) for arg in node.args]
    match node.op:
        case "var":
            return read_leaf(layout, node.leaf)
        case "add" | "sub" | "div" | "mod" | "band" | "bor" | "lt" | "eq":
            return f"{a[0]} {SIGNS[node.op]} {a[1]}"
        case "andnot":
            return f"{a[0]} & ~(i64){a[1]}"
        case "min" | "max":
            return f"{a[0]} {'<' if node.op == 'min' else '>'} {a[1]} ? {a[0]} : {a[1]}"
        case "and":
            return " & ".join(a)
        case "ite":
            return f"{a[0]} ? {a[1]} : {a[2]}"
        case "card":
            return f"__builtin_popcountll((u64){a[0]})"
        case "shl1":
            moved = f"(i64)1 << ({a[0]} & 63)"
            return moved if inside(node.args[0]) else f"(u64){a[0]} <= {MAX_BIT} ? {moved} : 0"
        case "bit":
            moved = f"({a[0]} >> ({a[1]} & 63)) & 1"
            return moved if inside(node.args[1]) else f"(u64){a[1]} <= {MAX_BIT} ? {moved} : 0"
    raise ValueError(f"no C for the operation {node.op!r}")


def inside(index: DagNode) -> bool:
    return index.lo >= 0 and index.hi <= MAX_BIT


def read_leaf(layout: WordLayout, leaf: int) -> str:
    slot = layout.slots[leaf]
    text = f"w{slot.word}"
    if slot.shift:
        text = f"({text} >> {slot.shift})"
    text = f"(i64)({text} & {slot.mask}u)" if slot.bits <= 31 else f"(i64)({text} & {slot.mask}ull)"
    return f"{text} + ({slot.lo})" if slot.lo else text


# ---------------------------------------------------------------------------- expansion


class _Group:
    """The function of one group of instances over a range of states; a block of the tree is a block of C."""

    def __init__(self, program: Program, layout: WordLayout, number: int, members: list[int]) -> None:
        self.program, self.layout, self.number, self.members = program, layout, number, members
        self.lines: list[str] = []
        self.names: set[int] = set()

    def text(self) -> str:
        root = build_tree(self.program, self.members)
        place(root, {index: changes(self.program.instances[index]).values() for index in self.members})
        words = self.layout.words
        self.lines += [
            f"static __attribute__((noinline)) u64 *expand_{self.number}(",
            "    const u64 *restrict states, u64 first, u64 last, u64 *restrict out,",
            "    u64 *restrict fired, struct counters *restrict counters) {",
            "  u64 cut = 0;",
            "  for (u64 i = first; i < last; i++) {",
            "    u64 enabled = 0;",
            f"    const u64 {', '.join(f'w{k} = states[i * {words} + {k}]' for k in range(words))};",
        ]
        self._block(root)
        return "\n".join(
            [*self.lines, "    fired[i - first] += enabled;", "  }", "  counters->cut += cut;", "  return out;", "}"]
        )

    def _compute(self, nodes: Iterable[DagNode]) -> None:
        for node in nodes:
            if node.id not in self.names and node.op not in ("const", "not"):
                self.names.add(node.id)
                self.lines.append(declare(node, self.layout))

    def _block(self, block: GuardBlock) -> None:
        names_before = set(self.names)
        if block.enters is not None:
            self.lines.append("enabled++;" if block.children else "enabled++; cut++;")
        for item, child in enumerate(block.children):
            self._compute(block.code.get(item, ()))
            holds = " && ".join(name_of(node) for node in child.conditions) or "1"
            self.lines.append(f"if ({holds}) {{" if child.conditions else "{")
            self._block(child)
            self.lines.append("} else cut++;" if block.enters is not None and child.conditions else "}")
        if block.stores is not None:
            self._compute(block.code.get(0, ()))
            self._store(block.stores)
        self.names = names_before

    def _store(self, index: int) -> None:
        program, slots = self.program, self.layout.slots
        changed = changes(program.instances[index])
        stored = {leaf: f"(u64)({name_of(node)} - ({slots[leaf].lo}))" for leaf, node in changed.items()}
        risky = [leaf for leaf in program.risky(program.instances[index]) if leaf in changed]
        if risky:
            fits = " & ".join(
                f"({stored[leaf]} <= {program.leaves[leaf].hi - program.leaves[leaf].lo}u)" for leaf in risky
            )
            self.lines.append(f"if (__builtin_expect(!({fits}), 0)) counters->overflows++; else {{")
        for word in range(self.layout.words):
            mine = [leaf for leaf in changed if slots[leaf].word == word and slots[leaf].bits]
            mask = ~sum(slots[leaf].mask << slots[leaf].shift for leaf in mine) & (1 << 64) - 1
            parts = [f"(w{word} & {mask:#x}ull)" if mine else f"w{word}"]
            parts += [f"({stored[leaf]} << {slots[leaf].shift})" for leaf in mine]
            self.lines.append(f"out[{word}] = {' | '.join(parts)};")
        self.lines.append(f"out += {self.layout.words};" + (" }" if risky else ""))


def _checks(program: Program, layout: WordLayout) -> str:
    """Return check_states, which ORs into hits[k] whether a state in a range hits the k-th state check."""
    checks = [check for check in program.checks if check.node is not None]
    lines = [
        "static void check_states(const u64 *restrict states, u64 first, u64 last, u64 *restrict hits) {",
        *(f"  u64 h{k} = 0;" for k in range(len(checks))),
        "  for (u64 i = first; i < last; i++) {",
        *(f"    const u64 w{k} = states[i * {layout.words} + {k}];" for k in range(layout.words)),
    ]
    for node in cone([check.node for check in checks if check.node is not None]):
        if node.op not in ("const", "not"):
            lines.append(declare(node, layout))
    for k, check in enumerate(checks):
        assert check.node is not None
        lines.append(f"    h{k} |= {name_of(check.node)} == {check.hit_value};")
    lines += ["  }", *(f"  hits[{k}] |= h{k};" for k in range(len(checks))), "}"]
    return "\n".join(lines)


def c_source(program: Program) -> str:
    """Return the text that `c_search.c` includes."""
    layout = make_layout(program.leaves)
    groups = [_Group(program, layout, k, members) for k, members in enumerate(group_instances(program))]
    rows = [f"  {{{', '.join(f'{word}ull' for word in layout.pack(state))}}}," for state in program.init]
    calls = [f"  out = expand_{k}(states, first, last, out, fired, counters);" for k in range(len(groups))]
    return "\n".join(
        [
            f"#define WORDS {layout.words}",
            f"#define INSTANCES {max(1, len(program.instances))}",
            f"#define CHECKS {sum(check.node is not None for check in program.checks)}",
            f"static const u64 initial[][WORDS] = {{\n{chr(10).join(rows)}\n}};",
            *(group.text() for group in groups),
            "static u64 *expand(const u64 *states, u64 first, u64 last, u64 *out, u64 *fired,",
            "                   struct counters *counters) {",
            *calls,
            "  return out;",
            "}",
            _checks(program, layout),
            "",
        ]
    )


# ---------------------------------------------------------------------------- running it


@dataclass(frozen=True)
class CResult:
    """Counts as in `SearchResult`; seconds refer to the search alone."""

    generated: int
    distinct: int
    depth: int
    cut: int
    deadlocks: int
    overflows: int
    checks_hit: int
    seconds: float
    cpu_seconds: float
    store_bytes_per_state: float


def compile_c(program: Program, folder: Path, compiler: str, optimise: str = "-O3") -> Path:
    """Compile the search of a program in the folder, and return the executable."""
    (folder / "program.h").write_text(c_source(program))
    binary = folder / "c_search"
    command = [compiler, optimise, *FLAGS, f"-I{folder}", str(DRIVER), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return binary


def read_result(output: str) -> CResult:
    """Parse the line of JSON that the search prints."""
    values: dict[str, Any] = json.loads(output)
    return CResult(**values)


def run_c(binary: Path) -> CResult:
    return read_result(subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout)
