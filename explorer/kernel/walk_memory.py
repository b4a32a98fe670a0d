"""The memory of native walks: the fields of their structs (arrays of i64), and their constants."""

from __future__ import annotations

from enum import IntEnum

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
WALK_BITS = 40
SKETCH_BITS = 14
ENDED = (1 << 64) - 1
"""Step number that marks a lane without a walk."""


class WalkShared(IntEnum):
    """Fields shared by all workers."""

    CURSOR = 0  # the next walk that no worker has taken
    LAST = 1  # end of the walk numbers
    SEED = 2  # mixed once
    DEPTH = 3
    START = 4  # the initial states, one row each; a walk starts in the one of its number, counted round
    STARTS = 5
    SIZE = 8


class WalkContext(IntEnum):
    """Fields of one worker: two sizes, totals, and addresses of arrays."""

    LANES = 0
    ROUNDS = 1
    STEPS = 2
    DONE = 3  # walks that have ended
    BLOCKED = 4  # those of them that ended where every enabled step leaves the budgets
    DEEPEST = 5
    STATES = 6  # one row per lane
    WALK = 7  # per lane, like the next five
    STEP = 8
    BASE = 9
    CHANCE = 10  # random number of the next step
    KEY = 11  # least key among the successors seen so far
    PICK = 12  # record of that successor
    FIRED = 13
    RECORDS = 14
    COUNTERS = 15
    TAKEN = 16  # steps per instance
    HITS = 17
    STATE_BEST = 18  # first place per state check, in the order of @check
    STEP_BEST = 19  # first place per check
    SKETCH = 20
    SIZE = 24
