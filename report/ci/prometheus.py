"""Renders the measures of a document for the text file collector of Prometheus' node exporter.

Each gauge appears once, as the exposition format requires; the exit code and the verdict come first. `-o elrcheck.prom`
replaces the file atomically, so the collector never reads half of it.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text-based format.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from elrcheck.report.document import Document, Gauge, Sample

PREFIX = "elrcheck"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def to_prometheus(document: Document) -> str:
    """Render the document, with a final newline."""
    return "".join(f"{line}\n" for line in _lines(document))


def _lines(document: Document) -> Iterator[str]:
    command = ("command", document.command)
    code = Gauge("exit_code", "Exit code of the command.", (Sample((command,), int(document.exit_code)),))
    verdict_now = Sample((command, ("verdict", document.verdict)), 1)
    verdict = Gauge("verdict", "1 for the verdict of the command.", (verdict_now,))
    moment = (Sample((command,), int(time.time())),)
    run = Gauge("run_timestamp_seconds", "When the command ended; an old one means that it no longer runs.", moment)
    for gauge in (code, verdict, run, *document.sheet.gauges):
        name = f"{PREFIX}_{gauge.name}"
        yield f"# HELP {name} {gauge.help}"
        yield f"# TYPE {name} gauge"
        for sample in gauge.samples:
            labels = ",".join(f'{label}="{text.translate(ESCAPES)}"' for label, text in sample.labels)
            yield f"{name}{{{labels}}} {sample.value}" if labels else f"{name} {sample.value}"
