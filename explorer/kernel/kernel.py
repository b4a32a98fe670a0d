"""A program as callable machine code.

`build` generates the LLVM IR of all native functions of a program (`expand_ir`, `search_ir`, `check_ir`),
and compiles it or loads its machine code from the cache (`native_code`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from elrcheck.explorer.kernel.check_ir import check_function, state_checks, values_function
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.expand_ir import BRANCH_WEIGHTS, DECLARED, declared, expand_functions, kernel_lanes
from elrcheck.explorer.kernel.fingerprint_ir import fingerprint_functions
from elrcheck.explorer.kernel.group_ir import Counters
from elrcheck.explorer.kernel.native_code import KernelCache, Native, cached_modules, compile_modules
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS, Record, flag_words
from elrcheck.explorer.kernel.search_ir import explore_function
from elrcheck.explorer.kernel.table_ir import table_functions
from elrcheck.explorer.kernel.word_layout import Layout, make_layout
from elrcheck.lang.lowering.program import Program

CHUNK = 64
"""Number of states whose successors share one buffer."""
MODULE = 250_000
"""Target size of a module, in characters of IR: small enough to share the work, large enough to pay off."""
SIGNATURES = {"expand": 9, "explore": 2, "insert_rows": 5, "hashes": 3, "rehash": 7, "check": 5, "values": 4}
"""Native functions and the number of their arguments, all 64-bit."""
EXACT = {"relocate": 3}
FINGERPRINTS = {"settle": 4}
"""Functions of only one of the two kinds of visited set."""


@dataclass(frozen=True)
class Shapes:
    """Layouts of the data that native functions read and write. state_checks: see `check_ir`.

    lanes: number and size of the lanes of a block of states (`planes_ir`).

    fingerprint: words per fingerprint in the visited set, 0 for a set of whole states.
    """

    layout: Layout
    record: Record
    counters: Counters
    lanes: Lanes
    state_checks: tuple[int, ...]
    fingerprint: int = 0

    @property
    def instances(self) -> int:
        return self.counters.instances


@dataclass(frozen=True)
class Blueprint(Shapes):
    """A kernel before compilation: plain data that can be sent to other machines."""

    texts: tuple[str, ...] = ()

    def compile(self, cache: KernelCache | None = None) -> Kernel:
        """Compile for this processor."""
        return kernel_of(self, compile_modules(self.texts, signatures_of(self.fingerprint), cache), self)


@dataclass(frozen=True)
class Kernel(Shapes):
    """The functions of one program.

    Calls take addresses and counts as plain integers and release Python's global lock. plan: what was
    compiled, unless the machine code was found without it.
    """

    functions: dict[str, Callable[..., int]] = field(default_factory=dict)
    seconds: float = 0.0
    cached: bool = False
    keep: object = None
    plan: Blueprint | None = None


def kernel_of(shapes: Shapes, code: Native, plan: Blueprint | None) -> Kernel:
    """The kernel of these shapes with this code."""
    return Kernel(
        shapes.layout,
        shapes.record,
        shapes.counters,
        shapes.lanes,
        shapes.state_checks,
        shapes.fingerprint,
        code.functions,
        code.seconds,
        code.cached,
        code.engine,
        plan,
    )


def signatures_of(fingerprint: int) -> dict[str, int]:
    return SIGNATURES | (FINGERPRINTS if fingerprint else EXACT)


def build(program: Program, cache: KernelCache | None = None, fingerprint: int = 0, name: str | None = None) -> Kernel:
    """Compile a program. name: equal names stand for equal kernels; the cache is asked for it first."""
    if name is None or cache is None:
        return blueprint(program, fingerprint).compile(cache)
    code = cached_modules(name, signatures_of(fingerprint), cache)
    if code is not None:
        return kernel_of(shapes_of(program, fingerprint), code, None)
    plan = blueprint(program, fingerprint)
    code = compile_modules(plan.texts, signatures_of(fingerprint), cache)
    cache.list_modules(name, code.keys)
    return kernel_of(plan, code, plan)


def shapes_of(program: Program, fingerprint: int = 0) -> Shapes:
    """Return the layouts of a program's kernel."""
    if len(program.instances) >= 1 << INSTANCE_BITS:
        raise ValueError(f"{len(program.instances)} action instances do not fit into a record")
    layout = make_layout(program.leaves)
    return Shapes(
        layout=layout,
        record=Record(layout.words, flag_words(program)),
        counters=Counters(len(program.instances), len(program.leaves)),
        lanes=kernel_lanes(program),
        state_checks=tuple(state_checks(program)),
        fingerprint=fingerprint,
    )


def blueprint(program: Program, fingerprint: int = 0) -> Blueprint:
    """Return everything of a kernel except its machine code."""
    shapes = shapes_of(program, fingerprint)
    texts = module_texts(program, shapes.layout, shapes.record, shapes.lanes, fingerprint)
    return Blueprint(
        shapes.layout, shapes.record, shapes.counters, shapes.lanes, shapes.state_checks, fingerprint, tuple(texts)
    )


def module_texts(program: Program, layout: Layout, record: Record, lanes: Lanes, fingerprint: int = 0) -> list[str]:
    """Return the LLVM IR of all functions, as modules that can be compiled in parallel."""
    words = layout.words
    table = fingerprint_functions(words, fingerprint, len(program.instances)) if fingerprint else table_functions(words)
    return spread_modules(
        program,
        layout,
        lanes,
        [
            table,
            explore_function(record, CHUNK, fingerprint),
            check_function(program, layout, lanes),
            values_function(layout, lanes),
        ],
    )


def spread_modules(program: Program, layout: Layout, lanes: Lanes, functions: list[str]) -> list[str]:
    """Distribute the functions and @expand over modules.

    The first module holds everything except the groups of @expand; the groups fill it and further modules up
    to a target size.
    """
    shared = [_declarations(lanes), BRANCH_WEIGHTS]
    driver, groups = expand_functions(program, layout, lanes)
    modules = [[*shared, driver, *functions]]
    size = sum(map(len, modules[0]))
    for number, group in enumerate(groups):
        if size + len(group) > MODULE:
            modules.append([*shared, DECLARED])
            size = 0
        if len(modules) > 1:
            modules[0].append(declared(number))
        modules[-1].append(group)
        size += len(group)
    return ["\n".join([*module, ""]) for module in modules]


def _declarations(lanes: Lanes) -> str:
    lines = [f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("umin", "umax")]
    lines += [f"declare i64 @llvm.{name}.i64(i64, i1)" for name in ("ctlz", "cttz")]
    lines += ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)", "declare i64 @llvm.ctpop.i64(i64)"]
    number, suffix = lanes.number, lanes.suffix
    lines.append(f"declare i{lanes.bits} @llvm.vector.reduce.or.{suffix}({number})")
    lines.append(f"declare {number} @llvm.ctpop.{suffix}({number})")
    lines += [f"declare {number} @llvm.{name}.{suffix}({number}, {number})" for name in ("smin", "smax")]
    return "\n".join(lines)
