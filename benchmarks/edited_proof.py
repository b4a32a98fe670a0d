"""Measures how much of a proof is made again after one rule, or one lemma, was edited.

    python benchmarks/edited_proof.py                 # the default claim: three brokers, logs of two records
    python benchmarks/edited_proof.py --set log_slots=1 --edit may_join --edit wrong
    python benchmarks/edited_proof.py --compare       # prove each edit from nothing, too: the same answers?

Copies the package, proves the claim from nothing, edits one rule of the copy at a time, and proves it again
with what was kept. Columns: the verdict; cells (an action and a lemma or property) in all, and those
proved again; seconds of the clock and of the processor; the actions of the cells proved again. Exits
with 1 if a verdict is not the one expected, if a cell is proved again that the edit does not touch, or if
an answer differs from that of a proof from nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import EditedCopy, PrintedTable, SourceEdit

MANY = 6
"""More actions than these are counted, not named."""


@dataclass(frozen=True)
class ProofEdit(SourceEdit):
    """An edit of a rule or a lemma. actions: whose cells may be proved again; None for all."""

    actions: frozenset[str] | None = None
    verdict: str = "proved"


PROPOSALS = "model/broker/isr_proposals.py"
EDITS = {
    "words": ProofEdit(
        "the docstring of a rule in other words",
        PROPOSALS,
        "f has reached the watermark and the",
        "f has got to the watermark and the",
        frozenset(),
    ),
    "may_join": ProofEdit(
        "a rule of one action: a follower joins with the whole log only",
        PROPOSALS,
        "and end >= leader.high_watermark",
        "and end >= len(leader.log)",
        frozenset(["ExpandIsr"]),
    ),
    "wrong": ProofEdit(
        "the same rule, wrongly: a follower joins by the high watermark alone (F-11)",
        PROPOSALS,
        "and (end >= leader.epoch_start or not c.join_requires_epoch_start)",
        "and end >= 0",
        frozenset(["ExpandIsr"]),
        "refuted",
    ),
    "shrink": ProofEdit(
        "a rule of one action: followers that lag leave one at a time",
        PROPOSALS,
        "and out != EMPTY and out <= sender",
        "and len(out) == 1 and out <= sender",
        frozenset(["ShrinkIsr"]),
    ),
    "watermark": ProofEdit(
        "a rule of five actions: no watermark while the leader has not heard of all it waits for",
        "model/broker/high_watermark.py",
        "or least <= leader.high_watermark:",
        "or heard != quorum or least <= leader.high_watermark:",
        frozenset(["ApplyMetadata", "ApplyMetadataFirst", "Fetch", "LeaderLearns", "Produce"]),
    ),
    "lemma": ProofEdit(
        "a lemma is stronger: EnoughByOldValue speaks of every broker that knows the leader epoch",
        "invariants/lemmas/lemmas_changes.py",
        "            leads_now(s, b)\n            and (\n                (\n",
        "            s.broker[b].view.leader_epoch == s.partition.leader_epoch\n            and (\n                (\n",
    ),
    "election": ProofEdit(
        "a rule of every action of the controller: the first candidate leads, whoever led before",
        "model/control_plane/partition.py",
        "    if p.leader in valid:\n        return Choice(leader=p.leader, unclean=False)\n",
        "",
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edit", action="append", choices=list(EDITS), help="by default all, one by one")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of `elrcheck prove`")
    parser.add_argument("--compare", action="store_true", help="prove each edit from nothing, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="elrcheck-edited-") as folder:
        proofs = EditedProofs(EditedCopy(Path(folder)), [f"--set={one}" for one in options.set])
        proofs.prove("from nothing")
        wrong = unexpected(proofs.prove("again, nothing edited"), "proved", frozenset())
        for name in options.edit or EDITS:
            wrong += proofs.edit(name, EDITS[name], options.compare)
    return int(wrong > 0)


class EditedProofs:
    """Proofs of one claim, by the copy."""

    def __init__(self, copy: EditedCopy, settings: list[str]) -> None:
        self.copy, self.settings = copy, settings
        numbers = (("cells", 7, ""), ("again", 7, ""), ("seconds", 9, ".1f"), ("processor", 10, ".1f"))
        self.table = PrintedTable(("run", 34, ""), ("verdict", 13, ""), *numbers, ("actions", 9, ""))

    def edit(self, name: str, edit: ProofEdit, compare: bool) -> int:
        """Prove with one edit; return the number of surprises."""
        print(f"{name}: {edit.what}")
        with self.copy.edited(edit):
            report = self.prove(f"  {name} edited")
            wrong = unexpected(report, edit.verdict, edit.actions)
            if compare:
                wrong += differences(report, self.prove(f"  {name} edited, --fresh", "--fresh"))
        return wrong

    def prove(self, label: str, *more: str) -> dict[str, Any]:
        """Print a run in a line; return its report."""
        run = self.copy.run("prove", "-f", "json", *self.settings, *more)
        report: dict[str, Any] = json.loads(run.output)
        cells = report["cells"]
        again = [cell for cell in cells if not cell["kept"]]
        actions = sorted({cell["action"] for cell in again})
        named = ", ".join(actions) if len(actions) <= MANY else f"{len(actions)} actions"
        self.table.row(
            label, report["verdict"], len(cells), len(again), run.seconds, run.cpu_seconds, "", note=f"  {named}"
        )
        return report


def unexpected(report: dict[str, Any], verdict: str, actions: frozenset[str] | None) -> int:
    """Print and count the surprises of a report: another verdict, or cells of other actions that were proved again."""
    wrong = 0
    if report["verdict"] != verdict:
        print(f"  expected: {verdict}")
        wrong += 1
    others = {cell["action"] for cell in report["cells"] if not cell["kept"]}
    if actions is not None and not others <= actions:
        print(f"  the edit does not touch {', '.join(sorted(others - actions))}")
        wrong += 1
    return wrong


def differences(stored: dict[str, Any], fresh: dict[str, Any]) -> int:
    """Name the cells whose answer is not that of a proof from nothing."""
    differ = {cell for cell, _ in _verdicts(stored).items() ^ _verdicts(fresh).items()}
    for cell in sorted(differ):
        print(f"  another answer than that of a proof from nothing: {' x '.join(cell)}")
    return len(differ)


def _verdicts(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(cell["action"], cell["lemma"]): cell["verdict"] for cell in report["cells"]}


if __name__ == "__main__":
    sys.exit(main())
