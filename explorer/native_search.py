"""The native search functions: expand a slice of a level and insert what is new.

Idea. All states lie in one array in discovery order, so a level is a range of rows. The visited set is
an open-addressing table of 8-byte slots: the upper half of a slot is 32 bits of the row's hash, the
lower half the row's number plus one. A chunk of states is expanded into a buffer, the successors are
hashed and their slots prefetched, and only then probed, so that memory latency overlaps.

Several threads may run `search` on the same level. Chunks are handed out by an atomic ticket; a free
slot is claimed by compare-and-swap with a BUSY mark, then the row gets the next number, is written,
and the slot is published. A thread that meets BUSY with its own tag waits for the publication. Counts
therefore do not depend on the interleaving; only the order of rows inside a level does.

Functions of the module (all pointers to 64-bit cells):

    search(states, table, mask, ticket, hi, count, limit, out, origin, hashes, cells)
        takes chunks until the ticket passes hi or count passes limit
    rehash(states, table, mask, lo, hi)      inserts distinct rows into a new table
    check(states, lo, hi, cells)             counts hits of the state checks
    values(states, lo, hi, seen)             for each narrow leaf a bit set of the values it took
    mark(states, lo, hi, out, origin, cells, marks)
        for each row a bit set of its hits: state checks and steps out of it
    edges(states, lo, hi, out, origin, cells, ends)
        all successors of the rows; ends[k] is where those of row lo+k end
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.ir as ir

from elrcheck.explorer.layout import Layout
from elrcheck.explorer.native_expand import Counters, ExpandEmitter
from elrcheck.explorer.native_values import I32, I64, PTR, Values, constant
from elrcheck.explorer.program import Program

CHUNK = 64
BUSY = 0xFFFFFFFF
NARROW = 6
"""Bits of a leaf whose values fit one bit set."""
VOID = ir.VoidType()


def build_module(program: Program, layout: Layout, counters: Counters) -> str:
    """The LLVM IR of all search functions."""
    if len(program.checks) > 64:
        raise ValueError("at most 64 checks in one search")
    module = ir.Module("elrcheck")
    expand = ExpandEmitter(module, program, layout, counters).emit()
    builder = SearchEmitter(module, program, layout, counters, expand)
    builder.search()
    builder.rehash()
    builder.check()
    builder.values()
    builder.mark()
    builder.edges()
    return str(module)


class SearchEmitter:
    """Emits the functions around `expand`."""

    def __init__(
        self, module: Any, program: Program, layout: Layout, counters: Counters, expand: Any
    ) -> None:
        self.module, self.program, self.layout, self.counters = module, program, layout, counters
        self.expand, self.words = expand, layout.words
        byte_ptr = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(VOID, [byte_ptr, I32, I32, I32])
        self.prefetch = ir.Function(module, kind, "llvm.prefetch.p0")
        self.byte_ptr = byte_ptr

    # ------------------------------------------------------------------------- building blocks

    def _function(self, name: str, result: Any, count: int, pointers: set[int]) -> Any:
        args = [PTR if i in pointers else I64 for i in range(count)]
        function = ir.Function(self.module, ir.FunctionType(result, args), name)
        self.f = function
        self.b = ir.IRBuilder(function.append_basic_block("entry"))
        return function.args

    def _cell(self) -> Any:
        """A local variable; only those of the entry block become registers."""
        with self.b.goto_entry_block():
            return self.b.alloca(I64)

    @contextmanager
    def _loop(self, lo: Any, hi: Any) -> Iterator[Any]:
        """for i in lo..hi; yields i."""
        b = self.b
        cell = self._cell()
        b.store(lo, cell)
        head, body, done = (self.f.append_basic_block(n) for n in ("head", "body", "done"))
        b.branch(head)
        b.position_at_end(head)
        i = b.load(cell)
        b.cbranch(b.icmp_unsigned("<", i, hi), body, done)
        b.position_at_end(body)
        yield i
        b.store(b.add(i, constant(1)), cell)
        b.branch(head)
        b.position_at_end(done)

    def _row(self, base: Any, number: Any) -> Any:
        return self.b.gep(base, [self.b.mul(number, constant(self.words))])

    def _load_row(self, row: Any) -> list[Any]:
        return [self.b.load(self.b.gep(row, [constant(w)])) for w in range(self.words)]

    def _hash(self, words: list[Any]) -> Any:
        b = self.b
        h: Any = constant(0x2545F4914F6CDD1D)
        for word in words:
            h = b.mul(b.xor(h, word), constant(0x9E3779B97F4A7C15))
            h = b.xor(h, b.lshr(h, constant(29)))
        h = b.mul(h, constant(0xBF58476D1CE4E5B9))
        return b.xor(h, b.lshr(h, constant(32)))

    def _atomic_load(self, where: Any) -> Any:
        return self.b.load_atomic(where, "acquire", 8)

    # ------------------------------------------------------------------------- search

    def search(self) -> None:
        args = self._function("search", VOID, 11, {0, 1, 3, 5, 7, 8, 9, 10})
        states, table, mask, ticket, hi, count, limit, out, origin, hashes, cells = args
        b, f = self.b, self.f
        written = self._cell()
        again, take, work, done = (f.append_basic_block(n) for n in ("again", "take", "work", "return"))
        b.branch(again)
        b.position_at_end(again)
        b.cbranch(b.icmp_unsigned(">", self._atomic_load(count), limit), done, take)
        b.position_at_end(take)
        lo = b.atomic_rmw("add", ticket, constant(CHUNK), "monotonic")
        b.cbranch(b.icmp_unsigned("<", lo, hi), work, done)
        b.position_at_end(work)
        past = b.add(lo, constant(CHUNK))
        end = b.select(b.icmp_unsigned("<", past, hi), past, hi)
        b.store(constant(0), written)
        with self._loop(lo, end) as k:
            n = b.load(written)
            made = b.call(self.expand, [self._row(states, k), self._row(out, n), b.gep(origin, [n]), cells])
            b.store(b.add(n, made), written)
        total = b.load(written)
        with self._loop(constant(0), total) as k:
            h = self._hash(self._load_row(self._row(out, k)))
            b.store(h, b.gep(hashes, [k]))
            slot = b.bitcast(b.gep(table, [b.and_(h, mask)]), self.byte_ptr)
            b.call(self.prefetch, [slot, I32(1), I32(3), I32(1)])
        with self._loop(constant(0), total) as k:
            self._insert(states, table, mask, count, self._row(out, k), b.load(b.gep(hashes, [k])),
                         b.load(b.gep(origin, [k])), cells)  # fmt: skip
        b.branch(again)
        b.position_at_end(done)
        b.ret_void()

    def _insert(
        self, states: Any, table: Any, mask: Any, count: Any, row: Any, h: Any, origin: Any, cells: Any
    ) -> None:
        b, f = self.b, self.f
        index = self._cell()
        seen = self._cell()
        b.store(b.and_(h, mask), index)
        tag = b.and_(h, constant(~BUSY))
        probe, free, taken, same, wait, compare, step, done = (
            f.append_basic_block(n)
            for n in ("probe", "free", "taken", "same", "wait", "compare", "step", "inserted")
        )
        b.branch(probe)
        b.position_at_end(probe)
        where = b.gep(table, [b.load(index)])
        value = self._atomic_load(where)
        b.store(value, seen)
        b.cbranch(b.icmp_unsigned("==", value, constant(0)), free, taken)

        b.position_at_end(free)
        swap = b.cmpxchg(where, constant(0), b.or_(tag, constant(BUSY)), "acq_rel", "acquire")
        won = f.append_basic_block("won")
        b.store(b.extract_value(swap, 0), seen)
        b.cbranch(b.extract_value(swap, 1), won, taken)
        b.position_at_end(won)
        number = b.atomic_rmw("add", count, constant(1), "monotonic")
        target = self._row(states, number)
        for w, word in enumerate(self._load_row(row)):
            b.store(word, b.gep(target, [constant(w)]))
        b.store_atomic(b.or_(tag, b.add(number, constant(1))), where, "release", 8)
        fresh = b.gep(cells, [b.add(origin, constant(self.counters.fresh))])
        b.store(b.add(b.load(fresh), constant(1)), fresh)
        b.branch(done)

        b.position_at_end(taken)
        other = b.load(seen)
        b.cbranch(b.icmp_unsigned("==", b.and_(other, constant(~BUSY)), tag), same, step)
        b.position_at_end(same)
        low = b.and_(b.load(seen), constant(BUSY))
        b.cbranch(b.icmp_unsigned("==", low, constant(BUSY)), wait, compare)
        b.position_at_end(wait)
        b.store(self._atomic_load(where), seen)
        b.branch(same)
        b.position_at_end(compare)
        theirs = self._row(states, b.sub(low, constant(1)))
        differ: Any = constant(0)
        for mine, their in zip(self._load_row(row), self._load_row(theirs), strict=True):
            differ = b.or_(differ, b.xor(mine, their))
        b.cbranch(b.icmp_unsigned("==", differ, constant(0)), done, step)
        b.position_at_end(step)
        b.store(b.and_(b.add(b.load(index), constant(1)), mask), index)
        b.branch(probe)
        b.position_at_end(done)

    def rehash(self) -> None:
        states, table, mask, lo, hi = self._function("rehash", VOID, 5, {0, 1})
        b, f = self.b, self.f
        index = self._cell()
        with self._loop(lo, hi) as k:
            h = self._hash(self._load_row(self._row(states, k)))
            b.store(b.and_(h, mask), index)
            probe, step, found = (f.append_basic_block(n) for n in ("probe", "step", "found"))
            b.branch(probe)
            b.position_at_end(probe)
            where = b.gep(table, [b.load(index)])
            b.cbranch(b.icmp_unsigned("==", b.load(where), constant(0)), found, step)
            b.position_at_end(step)
            b.store(b.and_(b.add(b.load(index), constant(1)), mask), index)
            b.branch(probe)
            b.position_at_end(found)
            b.store(b.or_(b.and_(h, constant(~BUSY)), b.add(k, constant(1))), where)
        b.ret_void()

    # ------------------------------------------------------------------------- checks and traces

    def _hits(self, row: Any) -> list[tuple[int, Any]]:
        """(check, 0 or 1) of every state check on a row."""
        values = Values(self.b, self.layout, self._load_row(row), self.module)
        env: dict[int, Any] = {}
        found = []
        for index, check in enumerate(self.program.checks):
            if check.node is not None and not (check.node.is_const and check.node.lo != check.hit_value):
                value = values.value(check.node, env)
                found.append((index, value if check.hit_value else self.b.xor(value, constant(1))))
        return found

    def check(self) -> None:
        states, lo, hi, cells = self._function("check", VOID, 4, {0, 3})
        b = self.b
        with self._loop(lo, hi) as k:
            for index, hit in self._hits(self._row(states, k)):
                where = b.gep(cells, [constant(self.counters.hits + index)])
                b.store(b.add(b.load(where), hit), where)
        b.ret_void()

    def values(self) -> None:
        states, lo, hi, seen = self._function("values", VOID, 4, {0, 3})
        b = self.b
        with self._loop(lo, hi) as k:
            words = self._load_row(self._row(states, k))
            for leaf, slot in enumerate(self.layout.slots):
                if slot.bits <= NARROW:
                    raw = b.and_(b.lshr(words[slot.word], constant(slot.shift)), constant(slot.mask))
                    where = b.gep(seen, [constant(leaf)])
                    b.store(b.or_(b.load(where), b.shl(constant(1), raw)), where)
        b.ret_void()

    def mark(self) -> None:
        states, lo, hi, out, origin, cells, marks = self._function("mark", VOID, 7, {0, 3, 4, 5, 6})
        b = self.b
        steps = [i for i, check in enumerate(self.program.checks) if check.scope == "step"]
        with self._loop(lo, hi) as k:
            row = self._row(states, k)
            bits: Any = constant(0)
            for index, hit in self._hits(row):
                bits = b.or_(bits, b.shl(hit, constant(index)))
            for index in steps:
                b.store(constant(0), b.gep(cells, [constant(self.counters.hits + index)]))
            b.call(self.expand, [row, out, origin, cells])
            for index in steps:
                count = b.load(b.gep(cells, [constant(self.counters.hits + index)]))
                hit = b.zext(b.icmp_unsigned("!=", count, constant(0)), I64)
                bits = b.or_(bits, b.shl(hit, constant(index)))
            b.store(bits, b.gep(marks, [b.sub(k, lo)]))
        b.ret_void()

    def edges(self) -> None:
        states, lo, hi, out, origin, cells, ends = self._function("edges", VOID, 7, {0, 3, 4, 5, 6})
        b = self.b
        written = self._cell()
        b.store(constant(0), written)
        with self._loop(lo, hi) as k:
            n = b.load(written)
            made = b.call(self.expand, [self._row(states, k), self._row(out, n), b.gep(origin, [n]), cells])
            b.store(b.add(n, made), written)
            b.store(b.load(written), b.gep(ends, [b.sub(k, lo)]))
        b.ret_void()
