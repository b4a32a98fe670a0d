"""Cardinality estimate from a HyperLogLog sketch, with the estimator of Ertl (2017).

The native walks (`walk_ir.py`) maintain the registers: the first p bits of a 64-bit hash select one of 2^p
registers, and the register keeps the greatest position of the first set bit among the other 64 - p, which
is 64 - p + 1 if none is set. The registers of several workers are merged by taking the maximum, so the
estimate depends only on the set of states.

The estimator is algorithm 6 of "New cardinality estimation algorithms for HyperLogLog sketches" by
Otmar Ertl: unbiased from the first element on, without tables and without a choice between formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

HASH_BITS = 64


def relative_error(registers: int) -> float:
    """Return the relative standard error of an estimate."""
    return 1.04 / math.sqrt(registers)


def estimate(registers: Sequence[int]) -> float:
    """Estimate the number of distinct hashes; the number of registers must be a power of two."""
    m = len(registers)
    q = HASH_BITS - (m.bit_length() - 1)
    counts = [0] * (q + 2)
    for value in registers:
        counts[value] += 1
    z = m * _tau(1 - counts[q + 1] / m)
    for k in range(q, 0, -1):
        z = 0.5 * (z + counts[k])
    z += m * _sigma(counts[0] / m)
    return 0.0 if math.isinf(z) else m * m / (2 * math.log(2) * z)


def _sigma(x: float) -> float:
    """Return x + the sum of x^(2^k) * 2^(k - 1) over k >= 1; infinite for x = 1 (all registers empty)."""
    if x == 1.0:
        return math.inf
    y, z = 1.0, x
    while True:
        x *= x
        before, z = z, z + x * y
        y += y
        if z == before:
            return z


def _tau(x: float) -> float:
    """Return a third of (1 - x minus the sum of (1 - x^(2^-k))^2 * 2^-k over k >= 1)."""
    if x in (0.0, 1.0):
        return 0.0
    y, z = 1.0, 1 - x
    while True:
        x = math.sqrt(x)
        y *= 0.5
        before, z = z, z - (1 - x) ** 2 * y
        if z == before:
            return z / 3
