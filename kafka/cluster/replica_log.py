"""The log of a replica on disk, as far as a recipe looks at it: where it ends."""

from __future__ import annotations

import struct
from pathlib import Path

HEAD = struct.Struct(">qi")  # base offset, length of what follows
LAST_DELTA_AT = 23  # in a batch: after leader epoch, magic, checksum and attributes
FIXED = 61  # bytes of a batch before its records


def log_end(folder: Path) -> int:
    """The offset after the last whole batch in a replica's folder; 0 if there is none.

    A broker may be writing, so what is incomplete at the end does not count.
    """
    end = 0
    for segment in sorted(folder.glob("*.log")):
        try:
            data = segment.read_bytes()
        except OSError:  # deleted meanwhile
            continue
        at = 0
        while at + FIXED <= len(data):
            base, length = HEAD.unpack_from(data, at)
            following = at + HEAD.size + length
            if length <= 0 or following > len(data):
                break
            end = base + struct.unpack_from(">i", data, at + LAST_DELTA_AT)[0] + 1
            at = following
    return int(end)
