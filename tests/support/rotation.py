"""Which slow tests a run of the whole suite takes: a share of them, another one at each landing (ADR 0028).

`tests/slow_tests.csv` has a row for each slow test function: the share it belongs to, the seconds of a
processor that all its cases took, how many there were, and the day on which it last ran (of one whose cases
are dealt to all shares, the day of the last of these). `.ci/slow-tests` prints the table, and writes it from
the results of a run. A function without a row has a share all the same.
"""

from __future__ import annotations

import csv
import datetime
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

SHARES = 29
"""Each slow test runs within so many landings (ADR 0028); a prime, so that landings of any few commits reach all."""
SPREAD = 60.0
"""Seconds from which on the cases of one function are dealt to all shares, one after the other."""
ALL = -1
"""The share of such a function; `all` in the table."""
TOGETHER = 150.0
"""Seconds up to which the other slow functions of a file have one share."""
UNKNOWN = 4.0
"""The seconds that a case is taken to last as long as none has been recorded."""
TURN = "ELRCHECK_TEST_TURN"
OLDEST = "oldest"
"""The turn of the share that has not run for longest."""
NEVER = "never"


@dataclass(frozen=True)
class Slow:
    """What is recorded of one slow test function. test: path::function. ran: a day, or `never`."""

    test: str
    share: int
    seconds: float
    cases: int
    ran: str = NEVER

    @property
    def expected(self) -> float:
        """The seconds of all cases; a guess for a test that has not run yet."""
        return self.seconds or UNKNOWN * self.cases

    @property
    def is_spread(self) -> bool:
        return self.share == ALL


def read_table(file: Path) -> dict[str, Slow]:
    """Test -> row; ValueError for a share that does not exist."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    shares = {"all": ALL, **{str(share): share for share in range(SHARES)}}
    if any(row["share"] not in shares for row in rows):
        raise ValueError(f"{file}: a share is a number from 0 to {SHARES - 1}, or `all`")
    return {
        row["test"]: Slow(row["test"], shares[row["share"]], float(row["seconds"]), int(row["cases"]), row["ran"])
        for row in rows
    }


def write_table(file: Path, rows: Iterable[Slow]) -> None:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(("test", "share", "seconds", "cases", "ran"))
        for row in sorted(rows, key=lambda row: row.test):
            share = "all" if row.is_spread else row.share
            writer.writerow((row.test, share, f"{row.seconds:.1f}", row.cases, row.ran))


def share_of(test: str, case: int, table: Mapping[str, Slow]) -> int:
    """The share of one case of a test function, `case` being its number among the function's cases.

    Functions of one file whose cases are spread begin with the same share: they may share a costly fixture.
    """
    row = table.get(test)
    if row is None or row.is_spread:
        return (zlib.crc32(file_of(test).encode()) + case) % SHARES
    return row.share


def loads(table: Mapping[str, Slow]) -> list[float]:
    """The seconds of each share."""
    seconds = [0.0] * SHARES
    for row in table.values():
        for case in range(row.cases):
            seconds[share_of(row.test, case, table)] += row.expected / row.cases
    return seconds


def balanced(rows: Iterable[Slow]) -> dict[str, Slow]:
    """The same rows with shares that take about the same time: the longest first, each where least is yet.

    A function of more than `SPREAD` seconds is dealt to all shares, and with it those of its file that have as many
    cases: they share its fixture, which a share then needs for few cases only. For the sake of such fixtures the
    other functions of a file have one share, unless they are too long together.
    """
    rows = list(rows)
    long = {(file_of(row.test), row.cases) for row in rows if row.cases > 1 and row.expected > SPREAD}
    table = {row.test: replace(row, share=ALL) for row in rows if (file_of(row.test), row.cases) in long}
    files: dict[str, list[Slow]] = {}
    for row in sorted(rows, key=lambda row: row.test):
        if row.test not in table:
            files.setdefault(file_of(row.test), []).append(row)
    for together in sorted(_dealt(files.values()), key=_seconds, reverse=True):
        seconds = loads(table)
        share = seconds.index(min(seconds))
        table.update((row.test, replace(row, share=share)) for row in together)
    return table


def _dealt(files: Iterable[list[Slow]]) -> Iterator[list[Slow]]:
    for rows in files:
        if _seconds(rows) <= TOGETHER:
            yield rows
        else:
            yield from ([row] for row in rows)


def _seconds(rows: Iterable[Slow]) -> float:
    return sum(row.expected for row in rows)


def file_of(test: str) -> str:
    """Return the file of a test function."""
    return test.partition("::")[0]


def by_age(table: Mapping[str, Slow]) -> list[int]:
    """The shares, the one that has a test that has not run for longest first; tests of all shares aside."""
    oldest = dict.fromkeys(range(SHARES), "9999")
    for row in table.values():
        if not row.is_spread:
            oldest[row.share] = min(oldest[row.share], "0" if row.ran == NEVER else row.ran)
    return sorted(oldest, key=lambda share: (oldest[share], share))


def current_share(table: Mapping[str, Slow], environ: Mapping[str, str]) -> int:
    """The share whose turn it is, which `TURN` says."""
    return by_age(table)[0] if environ[TURN] == OLDEST else int(environ[TURN]) % SHARES


def turn(environ: Mapping[str, str], root: Path) -> str:
    """What `TURN` is set to, else the number of commits, else (outside git) the day.

    Commits are counted from the first one, so that no change of the table puts a share off.
    """
    if environ.get(TURN):
        return environ[TURN]
    count = _git(root, "rev-list", "--count", "HEAD") if (root / ".git").exists() else ""
    return count or str(datetime.datetime.now(datetime.UTC).date().toordinal())


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
