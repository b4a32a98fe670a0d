"""How files of the catalogue write a log: "r1@1 r2@2(1)", record id @ leader epoch, (1) for acks=1."""

from __future__ import annotations

import re

from elrcheck.model.state import Acks, Entry
from elrcheck.stored_traces.written_values import Notation, Unreadable


def read_log(text: str) -> tuple[Entry, ...]:
    """Parse records in order of offset: "r1@1 r2@2(1)"."""
    entries = []
    for word in text.split():
        match = re.fullmatch(r"r([1-9]\d*)@([1-9]\d*)(?:\((all|1)\))?", word)
        if match is None:
            raise Unreadable(f"`{word}` is not a record", "write r2@1 or r2@1(1): id, leader epoch, acks")
        acks = Acks.ONE if match[3] == "1" else Acks.ALL
        entries.append(Entry(id=int(match[1]), epoch=int(match[2]), acks=acks))
    return tuple(entries)


LOGS = {Entry.__name__: Notation(read_log, "a log, as in r1@1 r2@1(1)")}
"""The notations of the partition's state, for `read_value`."""
