"""Options of the verbs about traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from elrcheck.base.option import Option

SourceFormat: TypeAlias = Literal["elrcheck", "itf", "tlc-json", "tlc-text"]
Notation: TypeAlias = Literal["trace", "tla", "itf", "mermaid", "dot"]


def trace_file(metavar: str = "FILE") -> Option:
    """Return an argument that is a stored trace, or a file in another notation."""
    return Option(metavar=metavar, kind="path", complete="stored_traces", otherwise="file", argument=True)


OptionalTraceFile: TypeAlias = Annotated[Path | None, trace_file("[FILE]")]
FileFormat: TypeAlias = Annotated[
    SourceFormat | None, Option("Notation of FILE; by default detected from its content.", flags="--file-format")
]
Expressions: TypeAlias = Annotated[
    tuple[str, ...],
    Option(
        "Also show the value of EXPR, in the modelling language over the state s, such as len(s.partition.isr)",
        flags="--eval",
        metavar="EXPR",
    ),
]
As: TypeAlias = Annotated[
    Notation | None, Option("Print the trace in this notation instead of a report.", flags="--as")
]
Save: TypeAlias = Annotated[Path | None, Option("Store the trace in the format `check` uses.", kind="file")]
