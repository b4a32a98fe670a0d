"""What native walks read and write: the fields of their structs, arrays of i64, and how IR reaches them."""

from __future__ import annotations

from enum import IntEnum

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
WALK_BITS = 40
SKETCH_BITS = 14
ENDED = (1 << 64) - 1
"""The step of a lane without a walk."""


class Shared(IntEnum):
    """Fields all workers see."""

    CURSOR = 0  # the next walk that nobody has taken
    LAST = 1  # walks are taken below this number
    SEED = 2  # mixed once
    DEPTH = 3
    START = 4  # the initial state
    SIZE = 8


class Context(IntEnum):
    """Fields of one worker: two numbers, totals, and addresses of arrays."""

    LANES = 0
    ROUNDS = 1
    STEPS = 2
    DONE = 3  # walks that have ended
    BLOCKED = 4  # of these, by states whose every step leaves the budgets
    DEEPEST = 5
    STATES = 6  # one row for each lane
    WALK = 7  # for each lane, as the next five
    STEP = 8
    BASE = 9
    CHANCE = 10  # of the step to be taken
    KEY = 11  # the least among the successors seen so far
    PICK = 12  # which record that is
    FIRED = 13
    RECORDS = 14
    COUNTERS = 15
    TAKEN = 16  # steps, for each instance
    HITS = 17
    STATE_BEST = 18  # first place for each state check, in the order of @check
    STEP_BEST = 19  # first place for each check
    SKETCH = 20
    SIZE = 24


def load_field(name: str, place: Context | Shared, kind: str = "ptr") -> str:
    """Loads a field; an address becomes a pointer."""
    base = "%c" if isinstance(place, Context) else "%s"
    text = f"""
  %{name}.f = getelementptr i64, ptr {base}, i64 {place:d}"""
    if kind == "i64":
        return f"{text}\n  %{name} = load i64, ptr %{name}.f, align 8"
    text += f"\n  %{name}.i = load i64, ptr %{name}.f, align 8"
    return f"{text}\n  %{name} = inttoptr i64 %{name}.i to ptr"
