"""How much of a suite is searched again after one rule was edited.

    python benchmarks/edited_rule.py                       # 40 configurations, evenly spread
    python benchmarks/edited_rule.py --sample 441 --edit cancel

Copies the package, has the copy answer part of the suite from nothing, edits one rule of the copy at a time,
and has it answer again. Every run is a process of its own, and all use one cache folder, which is new. The
last run of an edit searches everything (`--fresh`), with kernels from the cache where they are the same.
Exits with 1 if an answer that was kept is not that of the search.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from edited_copy import EditedCopy

EDITS = {
    "recovery": (
        "the same rule in other words: the operands of a union change places",
        "model/control_plane/recovery.py",
        "(p.isr | p.elr) & live",
        "(p.elr | p.isr) & live",
    ),
    "cancel": (
        "a cancellation has to leave one more replica than min ISR",
        "model/control_plane/reassignment.py",
        "len(kept) < min(",
        "len(kept) <= min(",
    ),
    "fence": (
        "an idle broker is fenced for free",
        "model/control_plane/broker_events.py",
        "s.spent.fences + 1 if alive else",
        "s.spent.fences + 1 if not alive else",
    ),
}
"""Name -> what changes, file, text, new text."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=40, help="configurations, evenly spread")
    parser.add_argument("--edit", action="append", choices=list(EDITS), help="by default all, one by one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="elrcheck-edited-") as folder:
        return measure(EditedCopy(Path(folder)), options.sample, options.edit or list(EDITS))


def measure(copy: EditedCopy, sample: int, edits: list[str]) -> int:
    print(f"{'run':44} {'configurations':>14} {'searched':>9} {'seconds':>8}")
    answer(copy, sample, "from nothing, no kernel in the cache")
    answer(copy, sample, "from nothing, kernels in the cache", "--fresh")
    answer(copy, sample, "again, nothing edited")
    wrong = 0
    for name in edits:
        what, file, old, new = EDITS[name]
        print(f"{name}: {what}")
        with copy.edited(file, old, new):
            kept = answer(copy, sample, f"  {name} edited")
            fresh = answer(copy, sample, f"  {name} edited, --fresh", "--fresh")
        differ = [run for run, other in zip(kept, fresh, strict=True) if run != other]
        wrong += len(differ)
        for run in differ:
            print(f"  another answer than that of a search: {run}")
    return int(wrong > 0)


def answer(copy: EditedCopy, sample: int, what: str, *more: str) -> list[dict[str, Any]]:
    """Run the suite of the copy; return what each configuration has, without times."""
    done = copy.run("suite", "--sample", str(sample), "-f", "json", *more)
    if done.code not in (0, 1, 3):
        raise SystemExit(done.errors)
    runs = json.loads(done.output)["runs"]
    searched = sum(run["searched"] for run in runs)
    print(f"{what:44} {len(runs):14} {searched:9} {done.seconds:8.1f}", flush=True)
    return [{k: v for k, v in run.items() if k not in ("searched", "seconds", "kept")} for run in runs]


if __name__ == "__main__":
    sys.exit(main())
