"""The end offset of a replica's log on disk."""

from __future__ import annotations

from pathlib import Path

from elrcheck.kafka.log.batches import head_of


def log_end(folder: Path) -> int:
    """Return the offset after the last whole batch in a replica's folder; 0 without a batch.

    A broker may be writing, so an incomplete batch at the end does not count.
    """
    end = 0
    for segment in sorted(folder.glob("*.log")):
        try:
            data = segment.read_bytes()
        except OSError:  # deleted meanwhile
            continue
        at = 0
        while (head := head_of(data, at)) is not None and head.is_possible() and at + head.size <= len(data):
            end = head.next_offset
            at += head.size
    return end
