"""`elrcheck conform --record FILE`: the record of what was compared, for `list variants` and `show VARIANT`."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.roundtrip import from_text, to_data
from elrcheck.catalogue.evidence.compared_rules import Rules, knobs_read, rules_below
from elrcheck.catalogue.evidence.conformance import Compared, Conformance, ExplainedClass, Side
from elrcheck.kafka.conformance.sides import SIDES, level_of, side_of
from elrcheck.results.conform_report import ConformReport


def reject_unrecordable(request: ConformRequest) -> None:
    """Raise UsageFault if the run is not one of the variant itself, or if the file is not a record."""
    if request.answers and (request.kafka or request.homes or request.record or request.keep_answers):
        raise UsageFault(
            "usage-option",
            "--answers takes no --kafka, --kafka-home, --record or --keep-answers",
            help="its files say which release answered",
        )
    if request.record is not None and request.keep_answers is not None:
        raise UsageFault("usage-option", "--keep-answers compares nothing that --record could keep")
    if request.record is None:
        return
    if request.overrides:
        raise UsageFault("usage-record", "--record takes no --set: the comparison is not one of the variant")
    if request.record.exists():
        read_record(request.record)


def compared_rules(side: Side) -> Rules:
    """Return the present rules that a comparison of this side uses: call it before the comparison."""
    return rules_below(SIDES[side].rules)


def record_comparison(report: ConformReport, request: ConformRequest, rules: Rules, path: Path) -> None:
    """Write the versions of a report to the file, each in place of its earlier comparison of that side."""
    record = read_record(path) if path.exists() else Conformance()
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    entries = [
        Compared(
            kafka=version.kafka,
            variant=version.variant,
            day=day,
            asked=request.comparisons,
            compared=version.compared,
            builder=version.builder,
            controller=version.controller,
            isr_order=version.isr_order,
            indexes=version.indexes,
            not_held=version.unheld,
            unexplained=version.unexplained,
            explained=tuple(
                ExplainedClass(group.class_, group.count, group.what)
                for group in report.disagreements
                if group.kafka == version.kafka and group.explained
            ),
            seed=report.seed,
            rules=rules.digest,
            knobs=knobs_read(rules, version.variant),
            side=side_of(request),
            level=level_of(request),
        )
        for version in report.versions
    ]
    write_file(path, json.dumps(to_data(record.plus(rules, entries)), indent=2) + "\n")


def read_record(path: Path) -> Conformance:
    """Read the record in a file; raise UsageFault if it is not a record."""
    try:
        return from_text(path.read_bytes(), Conformance)
    except (OSError, ValueError) as fault:
        raise UsageFault(
            "usage-record",
            f"{path} is not a record of comparisons: {fault}",
            help="give a file that `elrcheck conform --record` wrote, or a new one",
        ) from fault
