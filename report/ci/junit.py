"""Renders the judgements of a document as JUnit XML: one suite per configuration, one test case per case.

A failed case is a `failure`, unless it is advisory: then the command does not exit with 1 for it. An undecided one is
`skipped`, because JUnit has no better word; the exit code still shows that the run did not pass.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from elrcheck.report.document import Case, Document, Suite, split_place
from elrcheck.report.terminal import full_text

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(document: Document) -> str:
    """Render the document, with a final newline."""
    root = ET.Element("testsuites", name=f"elrcheck {document.command}")
    totals = [0, 0, 0]
    for suite in document.sheet.suites:
        numbers = (len(suite.cases), sum(case.fails for case in suite.cases), suite.count("undecided"))
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        root.append(_suite(suite, numbers))
    root.set("tests", str(totals[0]))
    root.set("failures", str(totals[1]))
    root.set("errors", "0")
    root.set("skipped", str(totals[2]))
    root.set("time", f"{sum(suite.seconds for suite in document.sheet.suites):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(suite: Suite, numbers: tuple[int, int, int]) -> ET.Element:
    tests, failures, skipped = (str(number) for number in numbers)
    element = ET.Element(
        "testsuite",
        name=legal(suite.name),
        tests=tests,
        failures=failures,
        errors="0",
        skipped=skipped,
        time=f"{suite.seconds:.3f}",
    )
    if suite.facts:
        facts = ET.SubElement(element, "properties")
        for name, value in suite.facts:
            ET.SubElement(facts, "property", name=legal(name), value=legal(value))
    for case in suite.cases:
        element.append(_case(suite, case))
    return element


def _case(suite: Suite, case: Case) -> ET.Element:
    element = ET.Element("testcase", classname=legal(suite.name), name=legal(case.title), time=f"{case.seconds:.3f}")
    where = case.place or case.source
    if where is not None:
        file, line = split_place(where)
        element.set("file", legal(file))
        element.set("line", str(line))
    if case.fails:
        failure = ET.SubElement(element, "failure", message=legal(case.message), type=legal(case.verdict))
        failure.text = legal(full_text(case) or case.message)
    elif case.outcome == "undecided":
        ET.SubElement(element, "skipped", message=legal(case.message or case.verdict))
    elif case.text:
        ET.SubElement(element, "system-out").text = legal(full_text(case))
    return element


def legal(text: str) -> str:
    """Return the text with every character that XML 1.0 cannot represent replaced by U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", text)
