"""Which files make one metadata log, and in which order they are read.

A log is what one controller keeps in the folder `__cluster_metadata-0`: segments, named for the offset of
their first record, and snapshots, named for the offset behind the last record they contain and its epoch. A
controller deletes old segments once a snapshot contains them. As much history as possible is read: from the
first segment if it starts at offset 0, else from the oldest snapshot that reaches the first segment. The text
of a dump is a log of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.log.dump_text import is_dump, read_dump
from elrcheck.kafka.log.entries import Entry, Item, SnapshotStart, read_entries
from elrcheck.kafka.log.segments import CutOff, Damage

SEGMENT = re.compile(r"(\d{20})\.log")
SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
FOLDER = "__cluster_metadata-0"
WHAT_IT_IS = (
    "name a segment (*.log), a snapshot (*.checkpoint), the text of kafka-dump-log.sh"
    f" --cluster-metadata-decoder, or a folder such as {FOLDER}"
)


@dataclass(frozen=True)
class MetadataLog:
    """The files of one log. name: how it is called in messages; segments, snapshots: in order of offset."""

    name: str
    segments: tuple[tuple[int | None, Path], ...] = ()
    snapshots: tuple[tuple[int, Path], ...] = ()
    dump: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        dumps = () if self.dump is None else (self.dump,)
        return (*dumps, *(path for _, path in self.snapshots), *(path for _, path in self.segments))


def logs_of(paths: Sequence[Path]) -> tuple[MetadataLog, ...]:
    """Sort files and folders into logs: binary files of one folder are one log."""
    files: dict[Path, None] = {}
    for path in paths:
        files.update(dict.fromkeys(_files_of(path)))
    folders: dict[Path, list[Path]] = {}
    logs: list[MetadataLog] = []
    for file in files:
        if is_dump(file):
            logs.append(MetadataLog(str(file), dump=file))
        else:
            folders.setdefault(file.parent, []).append(file)
    logs += [_log_of(folder, found) for folder, found in folders.items()]
    return tuple(logs)


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.is_file():  # a pipe would be waited for
            what = "this is not a regular file" if path.exists() else "there is no such file or folder"
            raise UsageFault("log-unreadable", what, where=str(path), help=WHAT_IT_IS)
        return [path]
    try:
        for folder in (path, path / FOLDER):
            found = sorted(folder.iterdir()) if folder.is_dir() else []
            named = [file for file in found if SEGMENT.fullmatch(file.name) or SNAPSHOT.fullmatch(file.name)]
            if named:
                return named
    except OSError as fault:
        raise UsageFault("log-unreadable", fault.strerror or str(fault), where=str(path)) from fault
    raise UsageFault("log-unreadable", "the folder has no metadata log", where=str(path), help=WHAT_IT_IS)


def _log_of(folder: Path, files: Sequence[Path]) -> MetadataLog:
    segments: list[tuple[int | None, Path]] = []
    snapshots: list[tuple[int, Path]] = []
    for file in files:
        if found := SNAPSHOT.fullmatch(file.name):
            snapshots.append((int(found[1]), file))
        elif file.suffix == ".checkpoint":
            snapshots.append((0, file))  # bootstrap.checkpoint
        else:
            found = SEGMENT.fullmatch(file.name)
            segments.append((int(found[1]) if found else None, file))
    segments.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0))
    return MetadataLog(str(folder), tuple(segments), tuple(sorted(snapshots)))


def read_log(log: MetadataLog) -> Iterator[Item]:
    """Read a log from its start: perhaps a snapshot, then every record behind it once."""
    if log.dump is not None:
        yield from read_dump(log.dump)
        return
    start = _start(log)
    reached: int | None = None
    if start is not None:
        end, path = start
        yield SnapshotStart(str(path), end)
        for item in read_entries(path, 0):
            yield _unfinished(item) if isinstance(item, CutOff) else item
        reached = end
    elif log.segments and (first := log.segments[0][0]):
        message = f"offsets 0 to {first - 1} are missing, and no snapshot has what they did"
        yield Damage(str(log.segments[0][1]), 0, 0, message)
    for number, (base, path) in enumerate(log.segments):
        if reached is not None and base is not None and base > reached:
            yield Damage(str(path), 0, reached, f"offsets {reached} to {base - 1} are missing")
        is_last = number == len(log.segments) - 1
        for item in read_entries(path, base):
            if isinstance(item, Entry):
                if reached is not None and item.offset < reached:
                    continue
                reached = item.offset + 1
            yield _unfinished(item) if isinstance(item, CutOff) and not is_last else item


def size_of(path: Path) -> int:
    """Bytes of a file; 0 if it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _start(log: MetadataLog) -> tuple[int, Path] | None:
    """The snapshot to start from."""
    if not log.snapshots:
        return None
    first = log.segments[0][0] if log.segments else log.snapshots[-1][0]
    if not first:  # the log is complete; only a snapshot of nothing comes before it
        return log.snapshots[0] if log.snapshots[0][0] == 0 else None
    reaching = [snapshot for snapshot in log.snapshots if snapshot[0] >= first]
    return reaching[0] if reaching else log.snapshots[-1]


def _unfinished(cut: CutOff) -> Damage:
    message = f"the file ends within a batch; {cut.bytes_left} bytes not read"
    return Damage(cut.path, cut.position, cut.offset, message)
