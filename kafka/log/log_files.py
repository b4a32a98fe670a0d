"""The files of one metadata log, and the order in which they are read.

A log is what one controller keeps in the folder `__cluster_metadata-0`: segments, named for the offset of
their first record, and snapshots, named for the offset behind the last record they contain and its epoch. A
controller deletes old segments once a snapshot contains them. As much history as possible is read: from the
first segment if it starts at offset 0, else from the oldest snapshot that reaches the first segment. The text
of a dump is a log of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from elrcheck.kafka.log.dump_text import is_dump, read_dump
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun, SnapshotStart, read_entries
from elrcheck.kafka.log.segments import CutOff, Damage, demand_regular, never, unreadable

SEGMENT = re.compile(r"(\d{20})\.log")
SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
BESIDE = re.compile(
    r"\d{20}(-\d{10})?\.(index|timeindex|txnindex|snapshot|\w+\.(deleted|part))"
    r"|(leader-epoch-checkpoint|partition\.metadata|quorum-state|meta\.properties)(\.tmp)?"
    r"|(recovery-point|log-start|replication|cleaner)-offset-checkpoint|\.lock|\.kafka_cleanshutdown"
)
"""Files without metadata records that Kafka keeps beside its logs, or is deleting or writing."""
LOST_AND_FOUND = "lost+found"
"""A folder of the file system, which only root may read."""
FOLDER = "__cluster_metadata-0"
WHAT_IT_IS = (
    "name a segment (*.log), a snapshot (*.checkpoint), the text of kafka-dump-log.sh"
    f" --cluster-metadata-decoder, or a folder such as {FOLDER}"
)


class Reached(NamedTuple):
    """The end offset of the records in a file, including those not yielded."""

    offset: int


PartItem: TypeAlias = LogEntry | RecordRun | Damage | CutOff | Reached


@dataclass(frozen=True)
class MetadataLog:
    """The files of one log. name: used in messages; segments, snapshots: in order of offset."""

    name: str
    segments: tuple[tuple[int | None, str], ...] = ()
    snapshots: tuple[tuple[int, str], ...] = ()
    dump: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        dumps = () if self.dump is None else (self.dump,)
        return (*dumps, *(path for _, path in self.snapshots), *(path for _, path in self.segments))

    @property
    def parts(self) -> tuple[LogPart, ...]:
        """The files that are read, in order; empty for a dump."""
        parts = [LogPart(path, base) for base, path in self.segments]
        if (start := _start(self)) is not None:
            parts.insert(0, LogPart(start[1], 0, start[0]))
        return tuple(parts)


@dataclass(frozen=True)
class LogPart:
    """A file of a log. base: the first offset in its name, if any; reaches: of a snapshot, its end offset."""

    path: str
    base: int | None
    reaches: int | None = None

    @property
    def has_footer(self) -> bool:
        """True for a snapshot of a log, whose last record is SnapshotFooter; the one that formatting leaves
        need not have it.
        """
        return bool(self.reaches)


def logs_of(paths: Sequence[Path]) -> tuple[MetadataLog, ...]:
    """Sort files and folders into logs: binary files of one folder are one log."""
    return sorted_into_logs(files_of(paths))


def files_of(paths: Iterable[Path]) -> dict[str, bool]:
    """Return the files, each with whether it is the text of a dump.

    A pattern such as `__cluster_metadata-0/*` names other files of Kafka as well; they are left out.
    """
    files = {str(file): is_dump(file) for path in paths for each in _matching(path) for file in _files_of(each)}
    logs = {file: dump for file, dump in files.items() if not BESIDE.fullmatch(file.rpartition("/")[2])}
    return logs or files


def _matching(path: Path) -> list[Path]:
    """Return the paths that match one with an asterisk, which no shell has expanded; else the path itself."""
    if "*" not in path.name or path.exists():
        return [path]
    return sorted(path.parent.glob(re.sub(r"\*{2,}", "*", path.name))) or [path]


def sorted_into_logs(files: Mapping[str, bool]) -> tuple[MetadataLog, ...]:
    """Sort files into logs, each with whether it is the text of a dump."""
    folders: dict[str, list[str]] = {}
    logs: list[MetadataLog] = []
    for file, dump in files.items():
        if dump:
            logs.append(MetadataLog(file, dump=file))
        else:
            folders.setdefault(file.rpartition("/")[0] or ("/" if file[:1] == "/" else "."), []).append(file)
    logs += [_log_of(folder, members) for folder, members in folders.items()]
    return tuple(logs)


def is_named_as_log(name: str) -> bool:
    """Return whether the name is that of a segment or a snapshot."""
    return bool(SEGMENT.fullmatch(name) or SNAPSHOT.fullmatch(name))


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        demand_regular(path, WHAT_IT_IS)
        return [path]
    try:
        for folder in (path, path / FOLDER):
            if named := _named_in(folder):
                return named
        below = sorted(each for each in path.iterdir() if each.name != LOST_AND_FOUND)
        if named := [file for folder in below for file in _named_in(folder / FOLDER)]:
            return named
        fits = any(_named_in(folder) for folder in below)
    except OSError as fault:
        raise unreadable(path, fault) from fault
    help = f"if its subfolders are metadata logs, name them: '{path}/*'" if fits else WHAT_IT_IS
    raise unreadable(path, "the folder has no metadata log", help)


def _named_in(folder: Path) -> list[Path]:
    """Return the files of a folder that are named like segments and snapshots; empty if it is not a folder."""
    return sorted(file for file in folder.iterdir() if is_named_as_log(file.name)) if folder.is_dir() else []


def _log_of(folder: str, files: Sequence[str]) -> MetadataLog:
    segments: list[tuple[int | None, str]] = []
    snapshots: list[tuple[int, str]] = []
    for file in files:
        name = file.rpartition("/")[2]
        if match := SNAPSHOT.fullmatch(name):
            snapshots.append((int(match[1]), file))
        elif name.endswith(".checkpoint"):
            snapshots.append((0, file))  # bootstrap.checkpoint
        else:
            match = SEGMENT.fullmatch(name)
            segments.append((int(match[1]) if match else None, file))
    segments.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0))
    alone = len(files) == 1 and not is_named_as_log(files[0].rpartition("/")[2])  # the folder does not stand for it
    return MetadataLog(files[0] if alone else folder, tuple(segments), tuple(sorted(snapshots)))


def read_log(log: MetadataLog, stop: Callable[[], bool] = never) -> Iterator[Item]:
    """Read a log from its start: perhaps a snapshot, then every record behind it once.

    stop: polled often, even within damage; once true, the log ends.
    """
    if log.dump:
        items = read_dump(Path(log.dump), stop)
    else:
        first = log.parts[:1]
        items = in_one(log, lambda part: _from_start(part, _entries(part, stop), part in first))
    for item in items:
        if stop():
            return
        yield item


def _entries(part: LogPart, stop: Callable[[], bool]) -> Iterator[LogEntry | RecordRun | Damage | CutOff]:
    return read_entries(Path(part.path), part.base, footer=part.has_footer, stop=stop)


def _from_start(
    part: LogPart, items: Iterator[LogEntry | RecordRun | Damage | CutOff], is_first: bool
) -> Iterator[LogEntry | RecordRun | Damage | CutOff]:
    """Yield the items, after damage if the first file of a log has no offset in its name and starts later than 0."""
    for item in items:
        if is_first and part.base is None and isinstance(item, LogEntry | RecordRun):
            offset = item.offset if isinstance(item, LogEntry) else item.offsets[0]
            if offset > 0:
                yield _missing_start(part, offset)
        is_first = False
        yield item


def _missing_start(part: LogPart, first: int) -> Damage:
    return Damage(part.path, 0, 0, f"offsets 0 to {first - 1} are missing, and no snapshot covers them")


def in_one(log: MetadataLog, read: Callable[[LogPart], Iterable[PartItem]]) -> Iterator[Item]:
    """Yield the items of all files of a log: no record twice, and gaps between files as damage.

    read: returns the items of a file, perhaps only some of them, with the offset that the file reaches.
    """
    reached: int | None = None
    parts = log.parts
    if parts and parts[0].reaches is None and (first := parts[0].base):
        yield _missing_start(parts[0], first)
    for number, part in enumerate(parts):
        if part.reaches is not None:
            yield SnapshotStart(part.path, part.reaches)
        elif reached is not None and part.base is not None and part.base > reached:
            yield Damage(part.path, 0, reached, f"offsets {reached} to {part.base - 1} are missing")
        is_last = number == len(parts) - 1 and part.reaches is None
        for item in read(part):
            if isinstance(item, CutOff):
                yield item if is_last else _unfinished(item)
                continue
            if part.reaches is None and (
                isinstance(item, LogEntry | Reached) or (isinstance(item, Damage) and item.is_record)
            ):
                if reached is not None and item.offset < reached:
                    continue
                reached = item.offset + 1
                if isinstance(item, Reached):
                    continue
            if isinstance(item, RecordRun) and part.reaches is None:
                if reached is not None and item.offsets[0] < reached:
                    item = item.since(reached)
                    if not item.values:
                        continue
                reached = item.offsets[-1] + 1
            if not isinstance(item, Reached):
                yield item
        if part.reaches is not None:
            reached = part.reaches


def size_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if it is gone."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _start(log: MetadataLog) -> tuple[int, str] | None:
    """Return the snapshot to start from, if there is one."""
    if not log.snapshots:
        return None
    first = log.segments[0][0] if log.segments else log.snapshots[-1][0]
    if not first:  # the log is complete; only an empty snapshot precedes it
        return log.snapshots[0] if log.snapshots[0][0] == 0 else None
    reaching = [snapshot for snapshot in log.snapshots if snapshot[0] >= first]
    return reaching[0] if reaching else log.snapshots[-1]


def _unfinished(cut: CutOff) -> Damage:
    message = f"the file ends within a batch; {cut.bytes_left} bytes not read"
    return Damage(cut.path, cut.position, cut.offset, message)
