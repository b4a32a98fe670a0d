"""A checkpoint survives SIGKILL and a full disk at any moment: moments are drawn over all phases of a search.

Each trial runs `elrcheck check` in a process of its own that ends at the drawn moment (`mortal_process`),
then resumes the run and compares the whole report. `pytest -s` prints the table of moments by phase, and the
seed; the variable ELRCHECK_TEST_SEED sets it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.mortal_child import FINISHING, PHASES
from support.mortal_process import Mortal, mortal_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
MODEL = ("--variant", "legacy", "--scope", "two-brokers", "-p", "P-1", "-p", "W-11")
START = (*MODEL, "--run-dir", "run", "--fresh")
OFTEN = ("--checkpoint-every", "0.01s")
HASHED = ("--fingerprint", "64")
ROOM = 350_000
"""Bytes for states, too few for all of them and enough for a part of them."""
DRAWS, FULL = 24, 12
"""Moments at which a run is killed, and at which its disk is full."""
VARYING = (
    "seconds",
    "states_per_second",
    "peak_memory_bytes",
    "bytes_per_state",
    "spilled",
    "fingerprint_bits",
    "collision_probability",
)


@dataclass(frozen=True)
class Case:
    """A run that ends early. room: bytes for its states, None for enough. base: the run that it resumes."""

    name: str
    options: tuple[str, ...]
    room: int | None = None
    base: Case | None = None


STOPPED = Case("stopped in memory", (*START, "--max-depth", "14"))
STOPPED_ON_DISK = Case("stopped on disk", (*START, "--max-depth", "18"), ROOM)
RESUME = ("--resume", "run", "--fresh", *OFTEN)
CASES = (
    Case("in memory", (*START, *OFTEN)),
    Case("to disk", (*START, *OFTEN), ROOM),
    Case("to disk before the first checkpoint", START, ROOM),
    Case("fingerprints", (*START, *OFTEN, *HASHED)),
    Case("fingerprints, to disk", (*START, *OFTEN, *HASHED), ROOM),
    Case("resumed in memory", RESUME, None, STOPPED),
    Case("resumed in memory, to disk", RESUME, ROOM, STOPPED),
    Case("resumed on disk", RESUME, ROOM, STOPPED_ON_DISK),
    Case("resumed on disk, to memory", RESUME, None, STOPPED_ON_DISK),
)


class Runs:
    """The cases of one test module, in one folder."""

    def __init__(self, mortal: Mortal) -> None:
        self.mortal, self.run = mortal, mortal.below
        self._bases: dict[Case, Path] = {}
        self._moments: dict[Case, list[str]] = {}

    def check(self, *options: str, room: int | None = None, at: int = 0, full: bool = False) -> dict[str, Any]:
        return self.mortal.run("check", *options, "--format", "json", at=at, full=full, room=room)

    @property
    def out(self) -> str:
        return self.mortal.out

    @property
    def err(self) -> str:
        return self.mortal.err

    def prepare(self, case: Case) -> None:
        """Put the folder into the state in which a case begins."""
        shutil.rmtree(self.run, ignore_errors=True)
        if case.base is None:
            return
        if case.base not in self._bases:
            assert self.check(*case.base.options, room=case.base.room)["code"] in (1, 3), self.err
            base = self.run.with_name(case.base.name)
            self.run.rename(base)
            self._bases[case.base] = base
        shutil.copytree(self._bases[case.base], self.run)

    def moments(self, case: Case) -> list[str]:
        """The phase of each moment of a case that is left alone."""
        if case not in self._moments:
            self.prepare(case)
            facts = self.check(*case.options, room=case.room)
            assert facts["code"] == 1, self.err
            self._moments[case] = facts["by_phase"]
        return self._moments[case]


def comparable(text: str) -> dict[str, Any]:
    """All of a report but what differs between two runs of the same search."""
    data: dict[str, Any] = json.loads(text)
    for key in VARYING:
        data["search"].pop(key)
    data.pop("engine")
    return data


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with mortal_in(tmp_path_factory.mktemp("mortal"), "run") as mortal:
        yield Runs(mortal)


@pytest.fixture(scope="module")
def expected(runs: Runs) -> dict[str, Any]:
    """The report of the search that nothing disturbs."""
    shutil.rmtree(runs.run, ignore_errors=True)
    assert runs.check(*START)["code"] == 1
    whole = comparable(runs.out)
    assert whole["search"]["complete"] and whole["verdict"] == "violated"
    return whole


def draws(runs: Runs, count: int, rng: random.Random) -> Iterator[tuple[Case, int]]:
    """Draw so many moments: each phase of each case in turn, and then any moment of that phase."""
    pairs = [(case, phase) for case in CASES for phase in PHASES if phase in runs.moments(case)]
    rng.shuffle(pairs)
    for number in range(count):
        case, phase = pairs[number % len(pairs)]
        at = [k for k, each in enumerate(runs.moments(case), start=1) if each == phase]
        yield case, rng.choice(at)


def seeded() -> tuple[int, random.Random]:
    seed = int(os.environ.get("ELRCHECK_TEST_SEED") or random.SystemRandom().randrange(10**6))
    return seed, random.Random(seed)


def goes_on(runs: Runs, case: Case, facts: dict[str, Any], expected: dict[str, Any], room: int | None) -> str:
    """Resume the run that ended, to the same report; return what became of it."""
    if (runs.run / "run.json").exists():
        assert runs.check("--resume", "run", room=room)["code"] == 1, runs.err
        assert comparable(runs.out) == expected
        outcome = "resumed"
    elif (facts["phase"] == FINISHING and facts["saved"]) or case.base is not None:
        assert comparable(runs.out) == expected, "the checkpoint went before its report was shown"
        return "answered"
    else:
        assert not facts["saved"], "there was a checkpoint, and it is gone"
        answer = runs.out
        assert runs.check("--resume", "run")["code"] == 2
        assert "error[no-checkpoint]" in runs.err
        if answer:
            assert comparable(answer) == expected
        assert runs.check(*START, room=room)["code"] == 1, runs.err
        assert comparable(runs.out) == expected
        outcome = "no checkpoint yet"
    left = {place.name for place in runs.run.rglob("*")}
    assert left == {"report.json", "P-1.trace.json", "W-11.trace.json"}
    return outcome


def table(seed: int, rows: Counter[tuple[str, str]]) -> str:
    outcomes = sorted({outcome for _, outcome in rows})
    lines = [f"seed {seed}", "  ".join(["phase".ljust(20), *outcomes])]
    for phase in PHASES:
        counts = (str(rows[phase, outcome]).rjust(len(outcome)) for outcome in outcomes)
        lines.append("  ".join([phase.ljust(20), *counts]))
    return "\n".join(lines)


@pytest.mark.slow
def test_killed_anywhere(runs: Runs, expected: dict[str, Any]) -> None:
    """Every fourth run is killed again while it resumes."""
    seed, rng = seeded()
    rows: Counter[tuple[str, str]] = Counter()
    for number, (case, at) in enumerate(draws(runs, DRAWS, rng)):
        runs.prepare(case)
        facts = runs.check(*case.options, room=case.room, at=at)
        where = f"seed {seed}: {case.name}, moment {at}, {facts}"
        assert facts["code"] in (-signal.SIGKILL, 1), f"{where}\n{runs.err}"
        if facts["code"] == 1:
            rows["missed", "the search was done"] += 1  # a moment of time: this run had fewer rounds
            continue
        if number % 4 == 3 and (runs.run / "run.json").exists():
            more, later = rng.choice((None, ROOM)), rng.randint(1, 300)
            again = runs.check("--resume", "run", *OFTEN, room=more, at=later)
            assert again["code"] in (-signal.SIGKILL, 1), f"{where}\n{runs.err}"
            if again["code"] == 1:
                assert comparable(runs.out) == expected, where
                continue
            rows[again["phase"], "killed again"] += 1
            facts = {**again, "saved": True}
        try:
            outcome = goes_on(runs, case, facts, expected, rng.choice((None, ROOM)))
        except AssertionError as fault:
            raise AssertionError(f"{where}\n{runs.err}\n{fault}") from fault
        rows[facts["phase"], outcome] += 1
    print(f"\n{table(seed, rows)}")
    assert sum(rows.values()) >= DRAWS * 3 // 4


@pytest.mark.slow
def test_a_disk_that_is_full_anywhere(runs: Runs, expected: dict[str, Any]) -> None:
    seed, rng = seeded()
    rows: Counter[tuple[str, str]] = Counter()
    for case, at in draws(runs, FULL, rng):
        runs.prepare(case)
        facts = runs.check(*case.options, room=case.room, at=at, full=True)
        phase = runs.moments(case)[at - 1]
        where = f"seed {seed}: {case.name}, moment {at} ({phase}), {facts}\n{runs.err}"
        if facts["code"] == 1:
            assert comparable(runs.out) == expected, where
            rows[phase, "needed no more space"] += 1
            continue
        assert facts["code"] == 4, where
        assert "cannot write run" in runs.err, where
        assert "No space left on device" in runs.err and "free some space on its disk" in runs.err, where
        if (runs.run / "run.json").exists():
            assert "then resume with `elrcheck check --resume run`" in runs.err, where
        else:
            assert case.base is None and not facts["saved"], where
            assert "or choose another --run-dir" in runs.err, where
            assert not list(runs.run.rglob("*.parquet")), where
        try:
            outcome = goes_on(runs, case, facts, expected, rng.choice((None, ROOM)))
        except AssertionError as fault:
            raise AssertionError(f"{where}\n{fault}") from fault
        rows[phase, outcome] += 1
    print(f"\n{table(seed, rows)}")
    assert sum(rows.values()) == FULL
