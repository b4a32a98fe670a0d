"""`elrcheck conform --record FILE`: keeps what was compared, for `list variants` and `show VARIANT`."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.roundtrip import from_text, to_data
from elrcheck.catalogue.conformance import Compared, Conformance, Explained, Side, model_digest
from elrcheck.results.conform_report import ConformReport


def reject_unrecordable(request: ConformRequest) -> None:
    """UsageFault if the run is not one of the variant itself, or if the file is no such record."""
    if request.answers and (request.kafka or request.homes or request.record or request.keep_answers):
        raise UsageFault(
            "usage-option", "--answers takes no --kafka, --kafka-home, --record or --keep-answers",
            help="its files say which release answered",
        )  # fmt: skip
    if request.record is not None and request.keep_answers is not None:
        raise UsageFault("usage-option", "--keep-answers compares nothing that --record could keep")
    if request.record is None:
        return
    if request.overrides:
        raise UsageFault("usage-record", "--record takes no --set: the comparison is not one of the variant")
    if request.record.exists():
        _read(request.record)


def record_comparison(report: ConformReport, path: Path, side: Side = "controller") -> None:
    """Add the versions of a report to the file, each instead of its earlier comparison of that side."""
    kept = _read(path) if path.exists() else Conformance()
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    digest = model_digest()
    made = [
        Compared(
            kafka=version.kafka,
            variant=version.variant,
            day=day,
            compared=version.compared,
            builder=version.builder,
            controller=version.controller,
            isr_order=version.isr_order,
            not_held=version.unheld,
            unexplained=version.unexplained,
            explained=tuple(
                Explained(found.class_, found.count, found.what)
                for found in report.disagreements
                if found.kafka == version.kafka and found.explained
            ),
            seed=report.seed,
            model=digest,
            side=side,
        )
        for version in report.versions
    ]
    write_file(path, json.dumps(to_data(kept.plus(made)), indent=2) + "\n")


def _read(path: Path) -> Conformance:
    try:
        return from_text(path.read_bytes(), Conformance)
    except (OSError, ValueError) as fault:
        raise UsageFault(
            "usage-record",
            f"{path} is no record of comparisons: {fault}",
            help="give a file that `elrcheck conform --record` wrote, or a new one",
        ) from fault
