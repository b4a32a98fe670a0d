"""The search loop, as LLVM IR.

    i64 @explore(ptr shared, ptr context)

expands rows of a level and stores new states (`table_ir`). A worker takes slices of rows from a cursor
shared by all workers; positions count from the row at `FRONTIER`. It processes a slice in chunks: expand
the chunk into a buffer; hash every successor and prefetch its home slot; inspect the slots and prefetch the
rows that seem equal (none in a set of fingerprints); then probe. So the cache misses of a successor overlap
with those of the whole chunk.

It returns 1 when the cursor has passed `STOP`, and 0 when the arrays might run full. No work is half done
then, so the caller may grow the arrays and call again. `LIMIT` is safe because a worker checks the number of
reserved rows before every chunk, and all workers together reserve fewer than `MARGIN` rows between checks.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS, RecordLayout
from elrcheck.explorer.kernel.table_ir import Context, Shared


def explore_function(record: RecordLayout, chunk: int, fingerprint: int = 0, canonical: bool = False) -> str:
    """Return the IR of @explore. fingerprint: words per fingerprint, 0 if slots refer to rows.

    canonical: each successor is replaced by its least image (`canonical_ir`).
    """
    least = "\n  call void @canonical(ptr %rec1)" if canonical else ""
    words, size = record.words, record.size
    if fingerprint:
        peek, after_hash, before_probe = "", "probe", "hash"
    else:
        peek = "\n" + ir("search.peek", words=words, last=8 * words - 1)
        after_hash, before_probe = "peek", "peek"
    return ir(
        "search.explore",
        Shared,
        Context,
        chunk=chunk,
        size=size,
        least=least,
        width=max(1, fingerprint),
        after_hash=after_hash,
        peek=peek,
        before_probe=before_probe,
        origin=record.origin,
        instance_bits=INSTANCE_BITS,
    )
