"""The time line of a partition as a picture: a lane for each broker, a column for each record that changed it."""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.base.roundtrip import Record
from elrcheck.results.audit_report import AuditFlag, AuditStep, AuditTimeline

LEFT, LANE, TOP = 96, 26, 42
CHAR = 7.3
"""Width of a monospaced character at 12 px, slightly overestimated."""
HEAD = (
    "offset",
    "time",
    "record",
    "leader",
    "leader epoch",
    "partition epoch",
    "replicas",
    "ISR",
    "ELR",
    "LastKnownELR",
    "adding",
    "removing",
    "flags",
)


class LaneCell(Record, frozen=True):
    """The role of a broker during some columns, or a number."""

    x: float
    width: float
    role: str
    """A class of the style sheet."""
    letter: str
    text: str


class BrokerLane(Record, frozen=True):
    name: str
    y: float
    cells: tuple[LaneCell, ...]


class LaneColumn(Record, frozen=True):
    """A record."""

    x: float
    offset: int
    signs: str
    """The numbers of its flags."""


class LaneSign(Record, frozen=True):
    """A flag as a line of text."""

    number: int
    text: str


class LanePicture(Record, frozen=True):
    """The whole picture, and the same as a table."""

    key: str
    title: str
    width: float
    height: float
    step: float
    columns: tuple[LaneColumn, ...]
    lanes: tuple[BrokerLane, ...]
    signs: tuple[LaneSign, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int


def lane_picture(key: str, line: AuditTimeline, flags: Sequence[AuditFlag]) -> LanePicture:
    """Return the layout of a time line. flags: those of its partition."""
    steps = line.steps
    signs = tuple(LaneSign(n, _flag_text(flag)) for n, flag in enumerate(flags, 1))
    marked = [_marks(steps, flags, number) for number in range(len(steps))]
    longest = max((len(str(step.offset)) for step in steps), default=1)
    longest = max([longest, *(len(marks) for marks in marked)])
    width = round(max(30.0, longest * CHAR + 8), 1)
    columns = tuple(LaneColumn(round(LEFT + n * width, 1), step.offset, marked[n]) for n, step in enumerate(steps))
    rows = [(f"broker {broker}", [_role(step, broker) for step in steps]) for broker in _brokers(steps)]
    lanes = [BrokerLane(name, TOP + LANE * n, tuple(_cells(roles, width))) for n, (name, roles) in enumerate(rows)]
    below = (
        ("leader epoch", [step.leader_epoch for step in steps]),
        ("partition ep.", [step.partition_epoch for step in steps]),
    )
    for name, numbers in below:
        y = TOP + LANE * len(lanes)
        cells = tuple(
            LaneCell(round(LEFT + n * width, 1), width, "", "", str(number))
            for n, number in enumerate(numbers)
            if n == 0 or numbers[n - 1] != number
        )
        lanes.append(BrokerLane(name, y, cells))
    return LanePicture(
        key=key,
        title=f"{line.topic}-{line.partition}",
        width=round(LEFT + width * len(steps), 1),
        height=TOP + LANE * len(lanes),
        step=width,
        columns=columns,
        lanes=tuple(lanes),
        signs=signs,
        head=HEAD,
        rows=tuple(_row(step, marks) for step, marks in zip(steps, marked, strict=True)),
        left_out=line.left_out,
    )


def _flag_text(flag: AuditFlag) -> str:
    until = "" if flag.until is None else f", until {flag.until}"
    hazard = "" if flag.hazard is None else f" ({flag.hazard})"
    return f"{flag.severity}, {flag.rule}{hazard}, offset {flag.offset}{until}: {flag.message}"


def _marks(steps: Sequence[AuditStep], flags: Sequence[AuditFlag], number: int) -> str:
    """Return the numbers of the flags raised from this record up to the partition's next one."""
    start = steps[number].offset if number else 0
    end = steps[number + 1].offset if number + 1 < len(steps) else None
    here = [n for n, f in enumerate(flags, 1) if start <= f.offset and (end is None or f.offset < end)]
    return ",".join(map(str, here))


def _brokers(steps: Sequence[AuditStep]) -> list[int]:
    named: set[int] = set()
    for step in steps:
        named.update(step.replicas, step.isr, step.elr, step.last_known_elr, (step.leader,))
    return sorted(named - {-1})


def _role(step: AuditStep, broker: int) -> tuple[str, str]:
    """Return the role of the broker for the partition: a class and a letter."""
    if not step.exists:
        return "", ""
    if broker not in step.replicas and (broker in step.elr or broker in step.isr):
        return "outside", "!"
    if broker == step.leader:
        return "leader", "L"
    if broker in step.isr:
        return "isr", "I"
    if broker in step.elr:
        return "elr", "E"
    if broker in step.last_known_elr:
        return "known", "K"
    return ("replica", "R") if broker in step.replicas else ("", "")


def _cells(roles: Sequence[tuple[str, str]], width: float) -> list[LaneCell]:
    """Return the cells of a lane; neighbouring columns with the same role become one."""
    cells = []
    start = 0
    for end in range(1, len(roles) + 1):
        if end < len(roles) and roles[end] == roles[start]:
            continue
        role, letter = roles[start]
        if role:
            x = round(LEFT + start * width, 1)
            cells.append(LaneCell(x, round((end - start) * width, 1), role, letter, role))
        start = end
    return cells


def _row(step: AuditStep, marks: str) -> tuple[str, ...]:
    def ids(brokers: Sequence[int]) -> str:
        return "[" + ", ".join(map(str, brokers)) + "]"

    leader = "none" if step.leader == -1 else str(step.leader)
    record = step.record if step.exists else f"{step.record} (removed)"
    return (
        str(step.offset),
        step.time,
        record,
        leader,
        str(step.leader_epoch),
        str(step.partition_epoch),
        ids(step.replicas),
        ids(step.isr),
        ids(step.elr),
        ids(step.last_known_elr),
        ids(step.adding),
        ids(step.removing),
        marks,
    )
