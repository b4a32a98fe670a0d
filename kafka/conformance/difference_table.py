"""What is not compared, and which differences are known, read from `differences.toml`."""

from __future__ import annotations

import functools
from importlib.resources import files

from elrcheck.base.documents import read_toml
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import read_record
from elrcheck.catalogue.evidence.conformance import Side
from elrcheck.kafka.conformance.kafka_part import KnownClass
from elrcheck.results.conform_report import ProjectionReport


@functools.cache
def known_class(ident: str) -> KnownClass:
    """Return the known difference with this id."""
    (row,) = (row for row in _table()["class"].items() if row["id"].text() == ident)
    return read_record(row, KnownClass)


@functools.cache
def projections(side: Side) -> tuple[ProjectionReport, ...]:
    """Return the parts of an answer of a side that are not compared, and why that is no difference in behaviour."""
    rows = [row for row in _table()["projection"].items() if row["side"].text() == side]
    return tuple(ProjectionReport(row["name"].text(), row["what"].text(), row["why"].text()) for row in rows)


@functools.cache
def _table() -> Node:
    return read_toml(files("elrcheck.kafka.conformance") / "differences.toml").object(("projection", "class"))
