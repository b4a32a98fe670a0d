"""Audit the logs that `elrcheck reproduce --keep` kept: `python docs/audit_kept.py DIR ..`.

Every folder `run` or `control` with a metadata log is audited; the folder above is named for its finding and
release, such as `F-20-loss-4.1.1`. Prints a table: by finding, the rules that are
flagged in runs and in controls. Notes (`low`) are left out. Names the runs without a flag on standard error.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.catalogue.configured import release_numbers
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.log_files import FOLDER, logs_of, read_log

NAME = re.compile(r"(F-\d+)(?!\d).*?(\d+\.\d+\.\d+)")


@dataclass
class Audited:
    """The logs of a finding's runs or controls. flagged: rule -> logs that have it; clean: logs with none."""

    releases: set[str] = field(default_factory=set)
    flagged: Counter[str] = field(default_factory=Counter)
    clean: int = 0
    logs: int = 0

    def add(self, release: str, rules: set[str]) -> None:
        self.releases.add(release)
        self.flagged.update(rules)
        self.logs += 1
        self.clean += not rules

    @property
    def summary(self) -> str:
        parts = [f"{rule} in {count}" for rule, count in sorted(self.flagged.items())]
        return ", ".join([*parts, *([f"none in {self.clean}"] if self.clean else [])]) or "no log"


def flags_of(folder: Path) -> set[str]:
    """Rules that are flagged in the logs of a folder."""
    rules = set()
    for log in logs_of([folder]):
        audit = LogAudit(log)
        for _ in audit.run(read_log(log)):
            pass
        rules |= {flag.rule for flag in audit.flags if flag.severity != "low"}
    return rules


def logs_below(folders: Sequence[Path]) -> Iterator[tuple[str, str, bool, Path]]:
    """Finding, release, whether it is a control, and the folder of the log."""
    for folder in folders:
        for log in sorted(folder.rglob(FOLDER)):
            kind, name = log.parent.name, NAME.search(log.parent.parent.name)
            if name is not None and re.fullmatch(r"run(-\d+)?|control", kind):
                yield name[1], name[2], kind == "control", log


def main(folders: Sequence[Path]) -> int:
    if missing := [folder for folder in folders if not folder.is_dir()]:
        print(f"no folder {missing[0]}", file=sys.stderr)
        return 2
    audited: dict[str, tuple[Audited, Audited]] = {}
    for finding, release, control, log in logs_below(folders):
        rules = flags_of(log)
        audited.setdefault(finding, (Audited(), Audited()))[control].add(release, rules)
        if not rules and not control:
            print(f"no flag: {log.parent}", file=sys.stderr)
    if not audited:
        print("no logs of runs: give folders that `elrcheck reproduce --keep` wrote to", file=sys.stderr)
        return 2
    print("| Finding | Kafka | Runs | Flagged in runs | Controls | Flagged in controls |")
    print("|---|---|---|---|---|---|")
    for finding, (runs, controls) in sorted(audited.items(), key=lambda item: int(item[0][2:])):
        releases = ", ".join(sorted(runs.releases | controls.releases, key=release_numbers))
        print(f"| {finding} | {releases} | {runs.logs} | {runs.summary} | {controls.logs} | {controls.summary} |")
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(word) for word in sys.argv[1:]]))
