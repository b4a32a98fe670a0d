"""A program as callable machine code.

`build` generates the LLVM IR of all native functions of a program (`expand_ir`, `search_ir`, `check_ir`),
and compiles it or loads its machine code from the cache (`native_code`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.base.errors import UsageFault
from elrcheck.explorer.kernel.check_ir import check_function, state_checks, values_function
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.expand_ir import (
    BRANCH_WEIGHTS,
    DECLARED,
    declared,
    expand_functions,
    is_small,
    kernel_lanes,
    program_size,
)
from elrcheck.explorer.kernel.fingerprint_ir import fingerprint_functions
from elrcheck.explorer.kernel.group_ir import Counters
from elrcheck.explorer.kernel.native_code import KernelCache, Native, cached_modules, compile_modules
from elrcheck.explorer.kernel.object_code import SIMPLIFIED
from elrcheck.explorer.kernel.quick.instructions import NotInterpreted
from elrcheck.explorer.kernel.quick.quick_ir import quick_modules
from elrcheck.explorer.kernel.quick.upgrade import Upgrade
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS, RecordLayout, flag_words
from elrcheck.explorer.kernel.search_ir import explore_function
from elrcheck.explorer.kernel.symmetry.canonical_ir import canonical_function
from elrcheck.explorer.kernel.table_ir import table_functions
from elrcheck.explorer.kernel.word_layout import Ints, Successors, WordLayout, Words, make_layout
from elrcheck.lang.lowering.program import Program

CHUNK = 64
"""Number of states whose successors share one buffer."""
MODULE = 250_000
"""Target size of a module, in characters of IR: small enough to share the work, large enough to pay off."""
NODE_SECONDS = 0.00015
"""Processor seconds in which a node of a program is compiled (measured)."""
SIGNATURES = {"expand": 9, "explore": 2, "insert_rows": 5, "hashes": 3, "rehash": 7, "check": 5, "values": 4}
"""Native functions and the number of their arguments, all 64-bit."""
EXACT = {"relocate": 3}
FINGERPRINTS = {"settle": 4}
"""Functions of only one of the two kinds of visited set."""


@dataclass(frozen=True)
class KernelShapes:
    """Layouts of the data that native functions read and write. state_checks: see `check_ir`.

    lanes: of a block of states (`planes_ir`). fingerprint: words per fingerprint in the visited set, 0 for a set of
    whole states.
    """

    layout: WordLayout
    record: RecordLayout
    counters: Counters
    lanes: Lanes
    state_checks: tuple[int, ...]
    fingerprint: int

    @property
    def instances(self) -> int:
        return self.counters.instances


@dataclass(frozen=True)
class Blueprint:
    """A kernel before compilation: plain data that can be sent to other machines. texts: its modules."""

    shapes: KernelShapes
    texts: tuple[str, ...]

    def compile(self, cache: KernelCache | None = None) -> Kernel:
        """Compile for this processor."""
        code = compile_modules(self.texts, signatures_of(self.shapes.fingerprint), cache)
        return Kernel(**vars(self.shapes), **vars(code), plan=self)


@dataclass(frozen=True)
class Kernel(KernelShapes, Native):
    """The functions of one program.

    plan: what was compiled; None if the machine code came from the cache. upgrade: of a quick kernel, replaces its
    functions by those of the optimised one.
    """

    plan: Blueprint | None = None
    upgrade: Upgrade | None = None

    def used(self, seconds: float) -> None:
        """Note the processor seconds that a search has spent in the functions."""
        if self.upgrade is not None:
            self.upgrade.used(seconds)

    @property
    def origin(self) -> str:
        """The kind of the kernel and where its code is from, for the report."""
        if self.upgrade is None:
            return "kernel from the cache" if self.cached else "kernel compiled"
        return "kernel compiled during the search" if self.upgrade.done else "quick kernel"

    def hashes(self, rows: Words) -> Words:
        """Return the hash of each packed state."""
        hashes = np.empty(len(rows), np.uint64)
        self.functions["hashes"](rows.ctypes.data, len(rows), hashes.ctypes.data)
        return hashes

    def successors(self, rows: Words, counters: Ints) -> Successors:
        """Expand packed states without storing anything; add the counts to `counters`."""
        record = self.record
        rows = np.ascontiguousarray(rows)
        records = np.empty((len(rows) * max(1, self.instances), record.size), np.uint64)
        enabled = np.zeros(len(rows), np.int64)
        flags = np.zeros(max(1, record.flag_words), np.uint64)
        inputs, outputs = (rows.ctypes.data, 0, len(rows)), (records, counters, enabled, flags)
        count = self.functions["expand"](*inputs, *(array.ctypes.data for array in outputs), 0, 0)
        origin = records[:count, record.origin].astype(np.int64)
        return Successors(
            rows=records[:count, : record.words],
            sources=origin >> INSTANCE_BITS,
            instances=origin & ((1 << INSTANCE_BITS) - 1),
            flags=records[:count, record.origin + 1 :],
            enabled=enabled,
        )

    def state_hits(self, check: int, rows: Words) -> npt.NDArray[np.bool_]:
        """Return which packed states hit a state check."""
        lanes = self.lanes.count
        rows = np.ascontiguousarray(rows)
        out = np.zeros((-(-len(rows) // lanes), len(self.state_checks)), np.int64)
        self.functions["check"](rows.ctypes.data, 0, len(rows), out.ctypes.data, 1)
        bits = out[:, self.state_checks.index(check), None] >> np.arange(lanes) & 1
        hits: npt.NDArray[np.bool_] = (bits != 0).reshape(-1)[: len(rows)]
        return hits


def signatures_of(fingerprint: int) -> dict[str, int]:
    return SIGNATURES | (FINGERPRINTS if fingerprint else EXACT)


def build(program: Program, cache: KernelCache | None = None, fingerprint: int = 0, name: str | None = None) -> Kernel:
    """Compile a program, unless the cache has a kernel of this name. name: equal names stand for equal kernels."""
    if name is None or cache is None:
        return blueprint(program, fingerprint).compile(cache)
    code = cached_modules(name, signatures_of(fingerprint), cache)
    if code is not None:
        return Kernel(**vars(shapes_of(program, fingerprint)), **vars(code))
    kernel = blueprint(program, fingerprint).compile(cache)
    cache.list_modules(name, kernel.keys)
    return kernel


def build_quick(program: Program, cache: KernelCache | None, fingerprint: int = 0, name: str | None = None) -> Kernel:
    """Return the quick kernel of a program, or the optimised one if it is in the cache or the program is small.

    Arguments as of `build`.
    """
    shapes, signatures = shapes_of(program, fingerprint), signatures_of(fingerprint)
    code, at_once = None, False
    if cache is not None and name is not None:
        code = cached_modules(name, signatures, cache)
        if code is not None:
            return Kernel(**vars(shapes), **vars(code))
        at_once = cache.is_worthwhile(name)
    if is_small(program):
        return build(program, cache, fingerprint, name)
    if cache is not None and name is not None:
        code = cached_modules(f"quick {name}", signatures, cache)
    plan: Blueprint | None = None
    if code is None:
        try:
            plan = quick_blueprint(program, fingerprint)
        except NotInterpreted:
            return build(program, cache, fingerprint, name)
        code = compile_modules(plan.texts, signatures, cache, processes=1)
        if cache is not None and name is not None:
            cache.list_modules(f"quick {name}", code.keys)
    upgrade = Upgrade(code.functions, _OptimisedKernel(program, cache, fingerprint, name), at_once)
    return Kernel(**vars(shapes), **vars(code), plan=plan, upgrade=upgrade)


class _OptimisedKernel:
    """See `upgrade.OptimisedKernel`."""

    def __init__(self, program: Program, cache: KernelCache | None, fingerprint: int, name: str | None) -> None:
        self._program, self._cache, self._fingerprint, self._name = program, cache, fingerprint, name
        self._texts: tuple[str, ...] = ()

    def texts(self) -> tuple[str, ...]:
        if not self._texts:
            self._texts = blueprint(self._program, self._fingerprint).texts
        return self._texts

    def effort(self) -> float:
        return NODE_SECONDS * program_size(self._program)

    def note(self) -> None:
        if self._cache is not None and self._name is not None:
            self._cache.note_worthwhile(self._name)

    def native(self, codes: Sequence[bytes] | None) -> Native:
        native = compile_modules(self.texts(), signatures_of(self._fingerprint), self._cache, compiled=codes)
        if self._cache is not None and self._name is not None:
            self._cache.list_modules(self._name, native.keys)
        return native


def shapes_of(program: Program, fingerprint: int = 0) -> KernelShapes:
    """Return the layouts of a program's kernel; raise UsageFault if it has more instances than a record can number."""
    count, most = len(program.instances), (1 << INSTANCE_BITS) - 1
    if count > most:
        help = "fewer parameters, types with fewer values, or a smaller configuration; --engine numpy has no limit"
        raise UsageFault("model-source", f"{count:,} action instances, more than {most:,}", help=help)
    layout = make_layout(program.leaves)
    return KernelShapes(
        layout=layout,
        record=RecordLayout(layout.words, flag_words(program)),
        counters=Counters(len(program.instances), len(program.leaves)),
        lanes=kernel_lanes(program),
        state_checks=tuple(state_checks(program)),
        fingerprint=fingerprint,
    )


def blueprint(program: Program, fingerprint: int = 0) -> Blueprint:
    """Return the kernel of a program before compilation, as modules that can be compiled in parallel."""
    shapes = shapes_of(program, fingerprint)
    functions = [
        *_search_functions(program, shapes),
        check_function(program, shapes.layout, shapes.lanes),
        values_function(shapes.layout, shapes.lanes),
    ]
    return Blueprint(shapes, tuple(spread_modules(program, shapes, functions)))


def quick_blueprint(program: Program, fingerprint: int = 0) -> Blueprint:
    """Return the quick kernel (`quick_ir`) before compilation; raise NotInterpreted if the program is too large."""
    shapes = shapes_of(program, fingerprint)
    modules = quick_modules(program, shapes.layout, shapes.lanes, _search_functions(program, shapes))
    shared = [_declarations(shapes.lanes), BRANCH_WEIGHTS]
    return Blueprint(shapes, tuple("\n".join([*shared, *module, ""]) for module in modules))


def _search_functions(program: Program, shapes: KernelShapes) -> list[str]:
    words, fingerprint = shapes.layout.words, shapes.fingerprint
    return [
        fingerprint_functions(words, fingerprint, shapes.instances) if fingerprint else table_functions(words),
        explore_function(shapes.record, CHUNK, fingerprint, program.symmetry is not None),
        *([] if program.symmetry is None else [canonical_function(program.symmetry, shapes.layout)]),
    ]


def spread_modules(program: Program, shapes: KernelShapes, functions: list[str]) -> list[str]:
    """Distribute the functions and @expand over modules.

    The first one holds everything except the groups of @expand, which fill it and further modules up to a target
    size; these are `SIMPLIFIED`.
    """
    shared = [_declarations(shapes.lanes), BRANCH_WEIGHTS]
    driver, groups = expand_functions(program, shapes.layout, shapes.lanes)
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
    texts = ["\n".join([*module, ""]) for module in modules]
    return [texts[0], *(SIMPLIFIED + text for text in texts[1:])]


def _declarations(lanes: Lanes) -> str:
    lines = [f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("umin", "umax")]
    lines += [f"declare i64 @llvm.{name}.i64(i64, i1)" for name in ("ctlz", "cttz")]
    lines += ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)", "declare i64 @llvm.ctpop.i64(i64)"]
    number, suffix = lanes.number, lanes.suffix
    lines.append(f"declare i{lanes.bits} @llvm.vector.reduce.or.{suffix}({number})")
    lines.append(f"declare {number} @llvm.ctpop.{suffix}({number})")
    lines += [f"declare {number} @llvm.{name}.{suffix}({number}, {number})" for name in ("smin", "smax")]
    return "\n".join(lines)
