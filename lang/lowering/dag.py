"""A hash-consed arena of expressions that simplifies while it builds.

Idea. Lowering unrolls every action over every choice of its arguments, so most results are known: an index is a
constant, a bit was just set, a comparison cannot fail. `Dag` folds these at construction, and equal expressions become
the same object. So guards that are the same object share a branch in the kernel, a guard that folds to 0 removes its
action instance, and a value whose interval fits its leaf needs no overflow check.

Normal forms (few, so that equal meanings meet):
* the stored operations are const, var, add, sub, div, mod, min, max, band, bor, andnot, lt, eq, not, and,
  ite, card, shl1, bit. The others are written with them: a <= b is not (b < a), a or b is
  not (not a and not b), x > 3 is not (x < 4), x - 3 is x + (-3);
* the dividend of div and mod is not negative, and their divisor is a constant: x // 3 is (x + 6) // 3 - 2 for x in
  -6..9;
* operands are ordered by id, constants last;
* `x < k` at the edge of x's interval becomes an equality, a 0/1 value compared with a constant
  becomes itself or its negation, and comparisons move through `+ constant` and through choices with
  a constant branch (enum-valued conditionals vanish this way);
* `and` is flat (up to a size), without duplicates, and 0 when it contains x and not x.

Invariant: for every assignment of leaves within their bounds, the simplified node has the value of `nodes.apply` on the
unsimplified operands, and that value lies in [lo, hi]. A node whose interval is one value is a constant. Cost:
amortised constant per node; `bit` has a memo because it walks through choices.

Example: with x in 0..7, `bit(bor(x, 4), 2)` is the constant 1 and `bit(bor(x, 4), 0)` is `bit(x, 0)`; the union itself
is not computed if only its bits are used.
"""

from __future__ import annotations

from collections.abc import Callable

from elrcheck.lang.lowering.arena import NodeArena, Term
from elrcheck.lang.lowering.nodes import MAX_BIT, DagNode, cone, evaluate, evaluate_all

__all__ = ["MAX_BIT", "Dag", "DagNode", "Term", "cone", "evaluate", "evaluate_all"]


class Dag(NodeArena):
    """Numbers, comparisons and bit masks. Methods take nodes of this arena or plain integers."""

    # -- numbers

    def add(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._term(a), self._term(b))
        if y.is_const:
            k = y.lo
            if x.is_const:
                return self.const(x.lo + k)
            if k == 0:
                return x
            if x.op == "add" and x.args[1].is_const:
                return self.add(x.args[0], x.args[1].lo + k)
            if x.op == "ite" and x.args[1].is_const and x.args[2].is_const:
                return self.ite(x.args[0], x.args[1].lo + k, x.args[2].lo + k)
        return self._make("add", (x, y), x.lo + y.lo, x.hi + y.hi)

    def sub(self, a: Term, b: Term) -> DagNode:
        x, y = self._term(a), self._term(b)
        if x is y:
            return self.zero
        if y.is_const:
            return self.add(x, -y.lo)
        if x.op == "add" and x.args[1].is_const:
            return self.add(self.sub(x.args[0], y), x.args[1])
        if y.op == "add" and y.args[1].is_const:
            return self.add(self.sub(x, y.args[0]), -y.args[1].lo)
        return self._make("sub", (x, y), x.lo - y.hi, x.hi - y.lo)

    def div(self, a: Term, b: Term) -> DagNode:
        """Return the quotient, rounded down. A divisor below 1 counts as 1; no configuration of a search has one."""
        x, y = self._term(a), self._term(b)
        if not y.is_const:
            return self._divided_by_any(self.div, x, y)
        k = max(1, y.lo)
        first, last = x.lo // k, x.hi // k
        if k == 1:
            return x
        if last <= first + 1:
            return self.ite(self.lt(x, last * k), first, last)
        if x.lo < 0:
            return self.add(self.div(self.sub(x, first * k), k), first)
        return self._make("div", (x, self.const(k)), first, last)

    def mod(self, a: Term, b: Term) -> DagNode:
        """Return the remainder, from 0 to divisor - 1; see `div`."""
        x, y = self._term(a), self._term(b)
        if not y.is_const:
            return self._divided_by_any(self.mod, x, y)
        k = max(1, y.lo)
        first, last = x.lo // k, x.hi // k
        if k == 1:
            return self.zero
        if first == last or first < 0:
            rest = self.sub(x, first * k)
            return rest if first == last else self.mod(rest, k)
        return self._make("mod", (x, self.const(k)), 0, k - 1)

    def _divided_by_any(self, divide: Callable[[Term, Term], DagNode], x: DagNode, y: DagNode) -> DagNode:
        """Return a division by a number that is not constant: a choice between the divisors."""
        *others, result = (divide(x, k) for k in range(y.lo, y.hi + 1))
        for k, quotient in reversed(list(enumerate(others, start=y.lo))):
            result = self.ite(self.eq(y, k), quotient, result)
        return result

    def min(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._term(a), self._term(b))
        if x is y or x.hi <= y.lo:
            return x
        if y.hi <= x.lo:
            return y
        if x.is_bool and y.is_bool:
            return self.land((x, y))
        return self._make("min", (x, y), min(x.lo, y.lo), min(x.hi, y.hi))

    def max(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._term(a), self._term(b))
        if x is y or x.lo >= y.hi:
            return x
        if y.lo >= x.hi:
            return y
        if x.is_bool and y.is_bool:
            return self.lor((x, y))
        return self._make("max", (x, y), max(x.lo, y.lo), max(x.hi, y.hi))

    def ite(self, cond: Term, then: Term, orelse: Term) -> DagNode:
        """Return a choice; between two compared values it is their minimum or maximum."""
        choice = super().ite(cond, then, orelse)
        if choice.op == "ite" and choice.args[0].op == "lt":
            x, y = choice.args[0].args
            if choice.args[1] is x and choice.args[2] is y:
                return self.min(x, y)
            if choice.args[1] is y and choice.args[2] is x:
                return self.max(x, y)
        return choice

    # -- comparisons

    def lt(self, a: Term, b: Term) -> DagNode:
        x, y = self._term(a), self._term(b)
        if x.hi < y.lo:
            return self.one
        if x is y or x.lo >= y.hi:
            return self.zero
        if x.is_const:
            return self.lnot(self.lt(y, x.lo + 1))
        if y.is_const:
            return self._below(x, y.lo)
        if x.is_bool and y.is_bool:
            return self.land((self.lnot(x), y))
        folded = self._less_than_itself(x, y)
        return self._make("lt", (x, y), 0, 1) if folded is None else folded

    def _less_than_itself(self, x: DagNode, y: DagNode) -> DagNode | None:
        """Return x < y if one side is a minimum, a maximum or a choice with the other side as an operand, else None."""
        if x.op in ("min", "max") and y in x.args:
            other = x.args[0] if y is x.args[1] else x.args[1]
            return self.lt(other, y) if x.op == "min" else self.zero
        if y.op in ("min", "max") and x in y.args:
            other = y.args[0] if x is y.args[1] else y.args[1]
            return self.zero if y.op == "min" else self.lt(x, other)
        if y.op == "ite" and x in y.args[1:]:
            cond, then, orelse = y.args
            if orelse is x:
                return self.land((cond, self.lt(_where(cond, x), then)))
            return self.land((self.lnot(cond), self.lt(x, orelse)))
        if x.op == "ite" and y in x.args[1:]:
            cond, then, orelse = x.args
            if orelse is y:
                return self.land((cond, self.lt(then, _where(cond, y))))
            return self.land((self.lnot(cond), self.lt(orelse, y)))
        return None

    def _below(self, x: DagNode, k: int) -> DagNode:
        """Return x < k, where x.lo < k <= x.hi."""
        if k == x.lo + 1:
            return self.eq(x, x.lo)
        if k == x.hi:
            return self.lnot(self.eq(x, x.hi))
        if x.op == "add" and x.args[1].is_const:
            return self.lt(x.args[0], k - x.args[1].lo)
        if x.op == "ite" and (x.args[1].is_const or x.args[2].is_const):
            return self.ite(x.args[0], self.lt(x.args[1], k), self.lt(x.args[2], k))
        return self._make("lt", (x, self.const(k)), 0, 1)

    def eq(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._term(a), self._term(b))
        if x is y:
            return self.one
        if x.hi < y.lo or y.hi < x.lo:
            return self.zero
        if y.is_const:
            return self._is(x, y.lo)
        if x.op == "not" and y.op == "not":
            return self.eq(x.args[0], y.args[0])
        if x.op == "not" and y.is_bool:
            return self.lnot(self.eq(x.args[0], y))
        if y.op == "not" and x.is_bool:
            return self.lnot(self.eq(x, y.args[0]))
        return self._make("eq", (x, y), 0, 1)

    def _is(self, x: DagNode, k: int) -> DagNode:
        """Return x == k, where k lies in x's interval, which has at least two values."""
        if x.is_bool:
            return x if k else self.lnot(x)
        if x.hi == x.lo + 1 and k == x.hi:
            return self.lnot(self.eq(x, x.lo))
        if x.op == "add" and x.args[1].is_const:
            return self.eq(x.args[0], k - x.args[1].lo)
        if x.op == "ite" and (x.args[1].is_const or x.args[2].is_const):
            return self.ite(x.args[0], self.eq(x.args[1], k), self.eq(x.args[2], k))
        if x.op == "card" and k == 0:
            return self.eq(x.args[0], 0)
        if x.op == "bor" and k == 0:
            return self.land([self.eq(arg, 0) for arg in x.args])
        if x.op == "band" and x.args[1].is_const and x.args[1].lo.bit_count() == 1:
            bit = self.bit(x.args[0], x.args[1].lo.bit_length() - 1)
            return self.lnot(bit) if k == 0 else bit if k == x.args[1].lo else self.zero
        if x.op == "shl1" and k > 0:
            return self.eq(x.args[0], k.bit_length() - 1) if k.bit_count() == 1 else self.zero
        return self._make("eq", (x, self.const(k)), 0, 1)

    def ne(self, a: Term, b: Term) -> DagNode:
        return self.lnot(self.eq(a, b))

    def le(self, a: Term, b: Term) -> DagNode:
        return self.lnot(self.lt(b, a))

    def ge(self, a: Term, b: Term) -> DagNode:
        return self.lnot(self.lt(a, b))

    def gt(self, a: Term, b: Term) -> DagNode:
        return self.lt(b, a)

    # -- bit masks

    def band(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._mask(a), self._mask(b))
        if x is y:
            return x
        if y.is_const:
            k = y.lo & _ones(x.hi)
            if x.is_const:
                return self.const(x.lo & k)
            if k == 0:
                return self.zero
            if k == _ones(x.hi):
                return x
            if x.op == "band" and x.args[1].is_const:
                return self.band(x.args[0], x.args[1].lo & k)
            y = self.const(k)
        if x.is_bool and y.is_bool:
            return self.land((x, y))
        return self._make("band", (x, y), 0, min(x.hi, y.hi))

    def bor(self, a: Term, b: Term) -> DagNode:
        x, y = self._ordered(self._mask(a), self._mask(b))
        if x is y:
            return x
        if y.is_const:
            if x.is_const:
                return self.const(x.lo | y.lo)
            if y.lo == 0:
                return x
            if x.op == "bor" and x.args[1].is_const:
                return self.bor(x.args[0], x.args[1].lo | y.lo)
        if x.is_bool and y.is_bool:
            return self.lor((x, y))
        for p, q in ((x, y), (y, x)):
            merged = self._rejoin(p, q)
            if merged is not None:
                return merged
        return self._make("bor", (x, y), max(x.lo, y.lo), _ones(x.hi | y.hi))

    def _rejoin(self, x: DagNode, y: DagNode) -> DagNode | None:
        """Return x | y if both, or y and a part of x, are pieces of one mask, else None: (m & 1) | (m & 2) = m & 3."""
        piece = _piece(y)
        if piece is None:
            return None
        others = [(x, None)] if x.op != "bor" else [(x.args[0], x.args[1]), (x.args[1], x.args[0])]
        for part, rest in others:
            other = _piece(part)
            if other is not None and other[0] is piece[0]:
                whole = self.band(piece[0], piece[1] | other[1])
                return whole if rest is None else self.bor(whole, rest)
        return None

    def andnot(self, a: Term, b: Term) -> DagNode:
        """Return the members of a that are not in b."""
        x, y = self._mask(a), self._mask(b)
        if x is y or x is self.zero:
            return self.zero
        if y.is_const:
            return self.band(x, _ones(x.hi) & ~y.lo)
        if x.is_bool and y.is_bool:
            return self.land((x, self.lnot(y)))
        return self._make("andnot", (x, y), 0, x.hi)

    def subset(self, a: Term, b: Term) -> DagNode:
        return self.eq(self.andnot(a, b), 0)

    def card(self, a: Term) -> DagNode:
        x = self._mask(a)
        if x.is_const:
            return self.const(x.lo.bit_count())
        if x.is_bool:
            return x
        if x.op == "shl1" and x.lo > 0:
            return self.one
        most = x.args[1].lo.bit_count() if x.op == "band" and x.args[1].is_const else x.hi.bit_length()
        return self._make("card", (x,), 1 if x.lo > 0 else 0, most)

    def single(self, index: Term) -> DagNode:
        """Return the mask with one bit; 0 for an index outside 0..MAX_BIT."""
        i = self._term(index)
        if i.is_const:
            return self.const(1 << i.lo if 0 <= i.lo <= MAX_BIT else 0)
        if i.hi < 0 or i.lo > MAX_BIT:
            return self.zero
        total = i.lo >= 0 and i.hi <= MAX_BIT
        return self._make("shl1", (i,), 1 << i.lo if total else 0, 1 << min(i.hi, MAX_BIT))

    def bit(self, mask: Term, index: Term) -> DagNode:
        """Return 1 if the mask has the bit; 0 for an index outside 0..MAX_BIT."""
        m, i = self._mask(mask), self._term(index)
        if i.is_const:
            return self._bit_at(m, i.lo)
        if i.hi < 0 or i.lo >= m.hi.bit_length():
            return self.zero
        if m.op == "shl1":
            return self.land((self.eq(m.args[0], i), self.le(0, i), self.le(i, MAX_BIT)))
        return self._make("bit", (m, i), 0, 1)

    def _bit_at(self, m: DagNode, i: int) -> DagNode:
        if i < 0 or i >= m.hi.bit_length():
            return self.zero
        if m.is_const:
            return self.const(m.lo >> i & 1)
        if m.is_bool:
            return m
        memoised = self._bits.get((m.id, i))
        if memoised is None:
            memoised = self._bits[m.id, i] = self._bit_through(m, i)
        return memoised

    def _bit_through(self, m: DagNode, i: int) -> DagNode:
        if m.op in ("band", "bor", "andnot"):
            x, y = (self._bit_at(arg, i) for arg in m.args)
            if m.op == "bor":
                return self.lor((x, y))
            return self.land((x, y if m.op == "band" else self.lnot(y)))
        if m.op == "shl1":
            return self.eq(m.args[0], i)
        if m.op == "ite":
            x, y = self._bit_at(m.args[1], i), self._bit_at(m.args[2], i)
            if x is y or x.is_const or y.is_const:
                return self.ite(m.args[0], x, y)
        return self._make("bit", (m, self.const(i)), 0, 1)


def _ones(value: int) -> int:
    """Return the smallest mask of consecutive ones that covers the value."""
    return (1 << value.bit_length()) - 1


def _where(cond: DagNode, x: DagNode) -> DagNode:
    """Return x, or the constant that it equals where the condition holds."""
    return cond.args[1] if cond.op == "eq" and cond.args[0] is x and cond.args[1].is_const else x


def _piece(x: DagNode) -> tuple[DagNode, int] | None:
    """Return (m, k) if x is m & k for a constant k, also if written "if m has bit i then {i} else {}"; else None."""
    if x.op == "band" and x.args[1].is_const:
        return x.args[0], x.args[1].lo
    if x.op == "bit" and x.args[1].is_const and x.args[1].lo == 0:
        return x.args[0], 1
    if x.op == "ite" and x.args[0].op == "bit" and x.args[0].args[1].is_const:
        alone = 1 << x.args[0].args[1].lo
        if x.args[1].is_const and x.args[1].lo == alone and x.args[2].is_const and x.args[2].lo == 0:
            return x.args[0].args[0], alone
    return None
