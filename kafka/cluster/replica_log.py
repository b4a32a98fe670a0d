"""The end offset of a replica's log on disk, and a log that loses its end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from elrcheck.kafka.log.batches import BatchHeader, head_of


def log_end(folder: Path) -> int:
    """Return the offset after the last whole batch in a replica's folder; 0 without a batch.

    A broker may be writing, so an incomplete batch at the end does not count.
    """
    end = 0
    for segment in sorted(folder.glob("*.log")):
        for _, head in _batches(segment):
            end = head.next_offset
    return end


def cut_log(folder: Path, first: int) -> bool:
    """Cut the last segment before the batch that has an offset; return whether there is one.

    The broker must not run, and must not have stopped cleanly: its recovery then rebuilds the indexes.
    """
    segment = max(folder.glob("*.log"))
    for at, head in _batches(segment):
        if head.base_offset <= first < head.next_offset:
            os.truncate(segment, at)
            return True
    return False


def _batches(segment: Path) -> Iterator[tuple[int, BatchHeader]]:
    """Yield the position and the header of each whole batch."""
    try:
        data = segment.read_bytes()
    except OSError:  # deleted meanwhile
        return
    at = 0
    while (head := head_of(data, at)) is not None and head.is_possible() and at + head.size <= len(data):
        yield at, head
        at += head.size
