"""The order of the questions of a run: blocks of every kind, so that a run that ends early covers each of them.

The number of comparisons is divided between the exhaustive spaces and the random questions. The share that an
exhausted space leaves goes to the random questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from elrcheck.base.kafka_requests import ConformLevel
from elrcheck.kafka.conformance.block import PARTS, Block, Kind, askable, spaces_of
from elrcheck.kafka.conformance.controller_part import BUILDER
from elrcheck.kafka.conformance.question_space import shuffled

SHARES: dict[Kind, float] = {
    "builder space": 0.45,
    "event space": 0.2,
    "random builder": 0.05,
    "random events": 0.1,
    "walks": 0.17,
    "ISR order": 0.03,
    "index walks": 0.04,
}
"""The share of each kind in the comparisons of a run."""
STEPS_OF_A_WALK: dict[Kind, int] = {"walks": 22, "index walks": 40}
"""About how many events a random walk has."""
COMPARISONS = {"builder space": 4000, "random builder": 3000, "truncations": 250}
_RANDOM: tuple[Kind, ...] = ("random builder", "random events", "walks")
FEWER = 1000
"""Comparisons in a block: one or two seconds of work."""
BATCH, BATCH_TOGETHER = 50, 10
"""Walks in a block of a broker, with one partition and with several; two blocks with one precede each with several."""
SAMPLE = 400
"""Points of a space by which its density is estimated."""


def plan(comparisons: int, level: ConformLevel | None, elr: bool = True) -> list[Block]:
    """Return the blocks of a run, those of every kind spread evenly over it; elr: the release has the feature.

    A walk of a broker has at least one comparison, and its run ends when it has enough: there are as many blocks as it
    may need. A follower has no random questions.
    """
    if level == "broker":
        return list(_blocks_of_a_broker(comparisons))
    if level == "follower":
        return _blocks_of_spaces("truncations", comparisons, elr)
    shares = {
        kind: share
        for kind, share in SHARES.items()
        if level is None or (PARTS[kind] is BUILDER) == (level == "builder")
    }
    whole = sum(shares.values())
    numbers = {kind: comparisons * share / whole for kind, share in shares.items()}
    blocks: list[Block] = []
    for kind in [kind for kind in numbers if spaces_of(kind)]:
        of_spaces = _blocks_of_spaces(kind, numbers[kind], elr)
        planned = sum((b.stop - b.start) * density(kind, b.space, elr) for b in of_spaces)
        spare = numbers.pop(kind) - planned
        blocks += of_spaces
        rest = [other for other in _RANDOM if other in numbers]
        for other in rest:
            numbers[other] += max(0.0, spare) / len(rest)
    for kind, number in numbers.items():
        events = STEPS_OF_A_WALK.get(kind, 1)
        blocks += _pieces(kind, 0, max(1, round(number / events)), max(1, round(_size(kind) / events)))
    return _spread(blocks)


def _blocks_of_a_broker(comparisons: int) -> Iterator[Block]:
    for number, start in enumerate(range(0, comparisons, BATCH), start=1):
        yield Block("broker walks", start, start + BATCH)
        if number % 2 == 0:
            several = number // 2 * BATCH_TOGETHER
            yield Block("together walks", several - BATCH_TOGETHER, several)


def _size(kind: str) -> int:
    return COMPARISONS.get(kind, FEWER)


def _pieces(kind: Kind, space: int, total: int, size: int) -> list[Block]:
    return [Block(kind, at, min(at + size, total), space) for at in range(0, total, size)]


def _blocks_of_spaces(kind: Kind, comparisons: float, elr: bool) -> list[Block]:
    """Return blocks, the smallest space first and in full if possible; larger spaces are sampled."""
    blocks: list[Block] = []
    spaces = spaces_of(kind)
    order = sorted(range(len(spaces)), key=lambda number: spaces[number].size)
    for left, number in zip(range(len(order), 0, -1), order, strict=True):
        valid = density(kind, number, elr)
        if valid == 0:
            continue
        questions = min(spaces[number].size * valid, comparisons / left)
        comparisons -= questions
        points = min(spaces[number].size, round(questions / valid))
        blocks += _pieces(kind, number, points, max(1, round(_size(kind) / valid)))
    return blocks


@lru_cache(maxsize=64)
def density(kind: Kind, number: int, elr: bool = True) -> float:
    """Estimate the fraction of the points of a space that have a question."""
    space = spaces_of(kind)[number]
    points = [space.at(point) for point in shuffled(space.size, 0, 0, SAMPLE)]
    return sum(point is not None and askable(elr, point) for point in points) / len(points)


def _spread(blocks: list[Block]) -> list[Block]:
    """Interleave the blocks: the block at a third of its kind comes at a third of the run."""
    totals: dict[tuple[Kind, int], int] = {}
    for block in blocks:
        totals[block.kind, block.space] = max(totals.get((block.kind, block.space), 0), block.stop)
    return sorted(blocks, key=lambda b: (b.start / totals[b.kind, b.space], b.kind, b.space))
