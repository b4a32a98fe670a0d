"""Measures how much of a suite is searched again after one rule was edited.

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

from measure import EditedCopy, PrintedTable, SourceEdit

EDITS = {
    "recovery": SourceEdit(
        "the same rule in other words: the operands of a union change places",
        "model/control_plane/recovery.py",
        "(p.isr | p.elr) & live",
        "(p.elr | p.isr) & live",
    ),
    "cancel": SourceEdit(
        "a cancellation has to leave one more replica than min ISR",
        "model/control_plane/reassignment.py",
        "len(remaining) < min(",
        "len(remaining) <= min(",
    ),
    "fence": SourceEdit(
        "an idle broker is fenced for free",
        "model/control_plane/broker_events.py",
        "s.spent.fences + 1 if alive else",
        "s.spent.fences + 1 if not alive else",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=40, help="configurations, evenly spread")
    parser.add_argument("--edit", action="append", choices=list(EDITS), help="by default all, one by one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="elrcheck-edited-") as folder:
        suite = EditedSuite(EditedCopy(Path(folder)), options.sample)
        suite.answer("from nothing, no kernel in the cache")
        suite.answer("from nothing, kernels in the cache", "--fresh")
        suite.answer("again, nothing edited")
        wrong = sum(suite.wrong_answers(name, EDITS[name]) for name in options.edit or EDITS)
    return int(wrong > 0)


class EditedSuite:
    """Part of the suite of the copy. sample: number of configurations."""

    def __init__(self, copy: EditedCopy, sample: int) -> None:
        self.copy, self.sample = copy, sample
        self.table = PrintedTable(
            ("run", 44, ""), ("configurations", 15, ""), ("searched", 10, ""), ("seconds", 9, ".1f")
        )

    def wrong_answers(self, name: str, edit: SourceEdit) -> int:
        """Answer with one edit; return the number of stored answers that are not those of the search."""
        print(f"{name}: {edit.what}")
        with self.copy.edited(edit):
            stored = self.answer(f"  {name} edited")
            fresh = self.answer(f"  {name} edited, --fresh", "--fresh")
        differ = [run for run, other in zip(stored, fresh, strict=True) if run != other]
        for run in differ:
            print(f"  another answer than that of a search: {run}")
        return len(differ)

    def answer(self, label: str, *more: str) -> list[dict[str, Any]]:
        """Run the suite; return the answer for each configuration, without times."""
        child = self.copy.run("suite", "--sample", str(self.sample), "-f", "json", *more)
        runs = json.loads(child.output)["runs"]
        self.table.row(label, len(runs), sum(run["searched"] for run in runs), child.seconds)
        return [{k: v for k, v in run.items() if k not in ("searched", "seconds", "kept")} for run in runs]


if __name__ == "__main__":
    sys.exit(main())
