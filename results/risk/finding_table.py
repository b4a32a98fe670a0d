"""Findings by release of Kafka: what was tried at each level, with which result."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

Level: TypeAlias = Literal["model", "classes", "brokers"]
CellState: TypeAlias = Literal["shown", "not-shown", "inconclusive", "absent", "not-tried"]
LEVELS: tuple[Level, ...] = ("model", "classes", "brokers")
STRONGEST_FIRST = LEVELS[::-1]
NO_LEADER = "no leader"
"""The word of a run on brokers after which a partition had no leader, or none that serves it."""


class TableCell(Record, frozen=True):
    """The evidence of a finding at one level in one release."""

    level: Level
    """The model's variant of the release, its controller or broker classes, or a cluster that runs it."""
    kafka: str
    state: CellState
    """`absent`: not tried, because the release lacks what the finding needs."""
    word: str
    """The state in a word or two: breaks, holds, fails, lost, .."""
    result: str
    """The result in a sentence, or why it was not tried."""
    command: str
    """The command that repeats it; empty if it was not tried."""


class TableLine(Record, frozen=True):
    """The evidence that several releases share at one level."""

    level: Level
    releases: tuple[str, ...]
    result: str
    command: str


class FindingRow(Record, frozen=True):
    """A finding."""

    finding: str
    title: str
    prevented: dict[str, str]
    """Release -> the class and method that prevents the finding there."""
    cells: tuple[TableCell, ...]
    """One or more for each level and release, in this order."""

    def words(self, level: Level, kafka: str) -> str:
        """Return the cells of one level and release in a few words, with the recipes where these differ.

        Runs of one recipe may differ, too: the worst result names it.
        """
        recipes: dict[str, dict[str, None]] = {}
        cells = [cell for cell in self.cells if (cell.level, cell.kafka) == (level, kafka)]
        for cell in sorted(cells, key=lambda cell: cell.state != "shown"):
            command, *rest = cell.command.removeprefix("elrcheck ").split()[:2] or [""]
            recipes.setdefault(cell.word, {}).update(dict.fromkeys(rest if command == "reproduce" else ()))
        if len(recipes) == 1:
            return next(iter(recipes))
        named: set[str] = set()
        words = []
        for word, names in recipes.items():
            fresh = [name for name in names if name not in named]
            named |= names.keys()
            again = " in other runs" if names else ""
            words.append(f"{word} ({', '.join(fresh)})" if fresh else f"{word}{again}")
        return ", ".join(words)

    def is_shown(self, level: Level, kafka: str) -> bool:
        """Return whether the finding was shown in a release at this level."""
        return any((cell.level, cell.kafka, cell.state) == (level, kafka, "shown") for cell in self.cells)

    def lost_on_brokers(self, kafka: str) -> bool:
        """Return whether brokers of a release lost records by it; a partition without a leader is no loss."""
        return any(
            (cell.level, cell.kafka, cell.state) == ("brokers", kafka, "shown") and cell.word != NO_LEADER
            for cell in self.cells
        )

    def strongest(self, kafka: str) -> str:
        """Return the strongest level at which it was shown in a release; else no, ? (inconclusive) or - (not tried)."""
        states = [(cell.state, cell.level) for cell in self.cells if cell.kafka == kafka]
        levels = [level for state, level in states if state == "shown"]
        if levels:
            return max(levels, key=LEVELS.index)
        tried = {state for state, _ in states}
        return "no" if "not-shown" in tried else "?" if "inconclusive" in tried else "-"

    def lines(self) -> tuple[TableLine, ...]:
        """Return one line for each level, result and command, with its releases."""
        together: dict[tuple[Level, str, str], list[str]] = {}
        for level in LEVELS:
            for cell in self.cells:
                if cell.level == level:
                    together.setdefault((level, cell.result, cell.command), []).append(cell.kafka)
        return tuple(TableLine(level, tuple(kafka), *texts) for (level, *texts), kafka in together.items())


class FindingTable(Report, frozen=True, tag="elrcheck.finding-table/1"):
    """The result of `elrcheck list findings --by-version`."""

    releases: tuple[str, ...]
    rows: tuple[FindingRow, ...]
