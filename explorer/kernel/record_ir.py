"""Records of successors, as LLVM IR.

    ptr @records(ptr out, i64 keep, ptr words, ptr fresh, ptr places, i64 count, i64 first)

writes a record for each lane of the mask `keep`: the words of its state, overwritten by its pieces of the
`count` planes `fresh`, whose numbers are `places`. `first` is the origin of lane 0, from which those of the
other lanes follow. It returns the place after the last record.

    void @flag(ptr from, ptr to, i64 lanes, i64 position, ptr seen, i64 word, i64 bit)

sets the bit of a step check in `seen`, if a lane has hit it, and in those of the records from..to that
belong to these lanes. Hits are rare, so its speed does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from elrcheck.explorer.kernel.emit import Lanes, copy_row
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.lang.lowering.program import Program

INSTANCE_BITS = 16


@dataclass(frozen=True)
class RecordLayout:
    """Layout of one successor record, in 64-bit words."""

    words: int
    flag_words: int

    @property
    def origin(self) -> int:
        return self.words

    @property
    def size(self) -> int:
        return self.words + 1 + self.flag_words


def flag_words(program: Program) -> int:
    """Return the number of words of step flags in a record."""
    return (len(program.checks) + 63) // 64 if any(check.scope == "step" for check in program.checks) else 0


def record_functions(record: RecordLayout, lanes: Lanes) -> str:
    """Return the IR of @records and @flag."""
    kind, size, count = f"i{lanes.bits}", lanes.bits // 8, lanes.count
    copies = copy_row(record.words, "state", "%column", "%at", source_step=count)
    clear = "".join(
        f"""
  %flag{k} = getelementptr i64, ptr %at, i64 {record.origin + 1 + k}
  store i64 0, ptr %flag{k}, align 8"""
        for k in range(record.flag_words)
    )
    return ir(
        "records.records",
        copies=copies,
        instance_bits=INSTANCE_BITS,
        origin=record.origin,
        clear=clear,
        kind=kind,
        count=count,
        size=size,
        record_size=record.size,
        flags_at=record.origin + 1,
    )
