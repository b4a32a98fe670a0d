"""Renders judgements as SARIF 2.1.0: one result per failed case, with the counterexample as a code flow.

A result is located at the source of the broken rule, a step of its code flow at the source of its action, so
code scanning shows the trace as steps through the model. Passed cases are omitted, because viewers show every
result as a problem. Undecided cases are notifications of the invocation.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from elrcheck.base.errors import ExitCode
from elrcheck.base.origin import documentation
from elrcheck.base.printable import printable_report
from elrcheck.base.version import __version__
from elrcheck.report.document import Case, Document, Suite, path_below, path_in, split_place
from elrcheck.report.plain_words import several
from elrcheck.results.trace_view import Step, TraceView

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""Base of relative paths."""
BASE = "The package elrcheck for the files of its model; the job's repository or the working directory for all others."
DESCRIBED = "`elrcheck show {}` prints its description."
ACCEPTED = "`elrcheck gate --update-baseline` accepts the new results."
Node = dict[str, Any]


def to_sarif(document: Document, workspace: Path = Path()) -> str:
    """Render the log file, with a final newline. workspace: the folder that paths are relative to."""
    failed = [(s, c) for s in document.sheet.suites for c in s.cases if c.outcome == "failed"]
    rules: dict[str, Case] = {}
    for _, case in failed:
        rules.setdefault(case.rule or case.id, case)
    numbers = {rule: number for number, rule in enumerate(rules)}
    run: Node = {
        "tool": {
            "driver": {
                "name": "elrcheck",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(name, case) for name, case in rules.items()],
            }
        },
        "automationDetails": {"id": f"elrcheck/{document.command}/"},
        "originalUriBaseIds": {ROOT: {"description": {"text": BASE}}},
        "invocations": [_invocation(document)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(document, suite, case, numbers, workspace) for suite, case in failed],
    }
    log = printable_report({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _rule(name: str, case: Case) -> Node:
    title = case.name if case.rule in ("", case.id) else case.rule
    own = case.help and not case.about and isinstance(case.text, str)  # its text begins with what happens
    rule = {
        "id": name,
        "name": title,
        "shortDescription": _message(title),
        "fullDescription": _message(str(case.text).partition("\n")[0] if own else f"{title}."),
        "defaultConfiguration": {"level": case.level},
        "help": _message(case.help or (DESCRIBED.format(name) if case.place is None else ACCEPTED)),
    }
    folder = documentation()
    return {**rule, "helpUri": f"{folder}/{case.page}"} if case.page and folder is not None else rule


def _invocation(document: Document) -> Node:
    notes = [
        f"{case.title} ({suite.name}): {case.message or case.verdict}"
        for suite in document.sheet.suites
        for case in suite.cases
        if case.outcome == "undecided"
    ]
    return {
        "executionSuccessful": True,
        "exitCode": int(document.exit_code),
        "exitCodeDescription": ExitCode(document.exit_code).name.lower().replace("_", " "),
        "toolExecutionNotifications": [
            {"level": level, "message": _message(text)}
            for level, texts in (("warning", document.sheet.remarks), ("note", notes))
            for text in texts
        ],
    }


def _result(document: Document, suite: Suite, case: Case, numbers: dict[str, int], workspace: Path) -> Node:
    rule = case.rule or case.id
    identity = f"{document.command}\0{suite.name}\0{case.id}".encode("utf-8", "backslashreplace")
    result: Node = {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "kind": "fail",
        "level": case.level,
        "message": _message(f"{case.message or case.title} ({suite.name})."),
        "partialFingerprints": {"elrcheckCase/v1": hashlib.sha256(identity).hexdigest()},
    }
    places = [place for place in (case.source, case.place) if place is not None]
    if case.byte is not None and case.place is not None:
        result["locations"] = [_inside(case.place, case.byte, case.about, workspace)]
    elif places:
        result["locations"] = [_location(places[0], workspace)]
        related = [{**_location(place, workspace), "message": _message("Expected result")} for place in places[1:]]
        if related:
            result["relatedLocations"] = related
    if case.trace is not None and case.trace.steps:
        result["codeFlows"] = [_code_flow(case.trace, workspace)]
    if case.facts:
        result["properties"] = {name: fact for name, fact in case.facts if fact is not None}
    return result


def _code_flow(trace: TraceView, workspace: Path) -> Node:
    flow: Node = {"locations": [_step(step, workspace) for step in trace.steps]}
    if trace.initial:
        flow["initialState"] = {path: _message(value) for path, value in trace.initial.items()}
    text = f"A trace of {several(len(trace.steps), 'step')}"
    return {"message": _message(text), "threadFlows": [flow]}


def _step(step: Step, workspace: Path) -> Node:
    changes = "; ".join(f"{c.path}: {c.old} -> {c.new}" for c in step.changes)
    text = f"{step.index}. {step.label}" + (f": {changes}" if changes else "")
    node: Node = {
        "location": {**(_location(step.source, workspace) if step.source else {}), "message": _message(text)},
        "executionOrder": step.index,
        "importance": "essential",
    }
    if step.changes:
        node["state"] = {change.path: _message(change.new) for change in step.changes}
    return node


def _location(place: str, workspace: Path) -> Node:
    file, line = split_place(place)
    file = path_in(workspace, file) or path_below(workspace, file) or file
    artifact = {"uri": f"file://{_uri(file)}"} if file.startswith("/") else {"uri": _uri(file), "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


def _inside(file: str, byte: int, about: str, workspace: Path) -> Node:
    """Return a byte of a binary file, and what it is about; code scanning demands a line."""
    file = file if file.startswith("/") else path_in(workspace, file) or file
    uri = ("file://" if file.startswith("/") else "") + _uri(file)
    artifact = {"uri": uri} if "://" in uri else {"uri": uri, "uriBaseId": ROOT}
    return {
        "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": 1, "byteOffset": byte}},
        "logicalLocations": [{"fullyQualifiedName": about, "kind": "resource"}],
    }


def _uri(file: str) -> str:
    """Return a relative reference or a `file` URI, escaped as in RFC 3986."""
    from urllib.parse import quote

    return quote(file.replace("\\", "/"), safe="/:" if "://" in file else "/", errors="backslashreplace")


def _message(text: str) -> Node:
    """Return a message; escapes braces (placeholders, SARIF 3.11.5) and ``[..](..)`` (links, 3.11.6)."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}
