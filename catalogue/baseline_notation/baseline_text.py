"""Writes a baseline as text, always in the same order, so that a diff shows only what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from elrcheck.base.requests import Selection
from elrcheck.catalogue.baseline_notation.baseline import COUNTS, SCHEMA, Entry, Expected, Proof
from elrcheck.catalogue.baseline_notation.suite_entry import SuiteEntry, words_of

HEADER = """\
# The baseline of `elrcheck gate`: the last accepted results of each entry.
# `elrcheck gate` fails on any difference. After an intended change, run
#
#     elrcheck gate --update-baseline
#
# and review the diff of this file like source code. Entries may be edited by hand (variant, scope, set,
# properties, liveness, max-depth, max-states, proof, proof-timeout, teeth, controller; of a suite only,
# files, deep, sample); comments are lost.
"""
_WIDTH = 100


def baseline_text(entries: Iterable[Entry], suites: Iterable[SuiteEntry] = ()) -> str:
    """The whole file, with the entries in order of their names, and then the suites."""
    lines = [HEADER, f"schema = {_text(SCHEMA)}"]
    for entry in sorted(entries, key=lambda e: e.name):
        lines += ["", *_entry(entry)]
    for suite in sorted(suites, key=lambda e: e.name):
        lines += ["", *_suite(suite)]
    return "\n".join(lines) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    selection: Selection = entry.selection
    here = f"entry.{entry.name}"
    yield f"[{here}]"
    yield f"variant = {_text(selection.variant)}"
    yield f"scope = {_text(selection.scope)}"
    if selection.overrides:
        yield from _list("set", selection.overrides)
    if entry.properties:
        yield from _list("properties", entry.properties)
    for key, given in (
        ("liveness", entry.liveness),
        ("proof", entry.proof),
        ("teeth", entry.teeth),
        ("controller", entry.controller),
    ):
        if given:
            yield f"{key} = true"
    for key, limit in (
        ("max-depth", entry.max_depth),
        ("max-states", entry.max_states),
        ("proof-timeout", entry.proof_timeout),
    ):
        if limit is not None:
            yield f"{key} = {limit}"
    if entry.expected is not None:
        yield ""
        yield from _expected(f"{here}.expected", entry.expected)


def _suite(suite: SuiteEntry) -> Iterator[str]:
    yield f"[suite.{suite.name}]"
    for key, words in (("only", suite.only), ("files", suite.files)):
        if words:
            yield from _list(key, words)
    if suite.deep:
        yield "deep = true"
    if suite.sample is not None:
        yield f"sample = {suite.sample}"
    if suite.expected is not None:
        yield from _table(
            f"suite.{suite.name}.expected", suite.expected, lambda run: f"{{ {', '.join(words_of(run))} }}"
        )


def _expected(here: str, expected: Expected) -> Iterator[str]:
    yield f"[{here}]"
    yield f"verdict = {_text(expected.verdict)}"
    for name in COUNTS:
        yield f"{name} = {expected.counts[name]}"
    yield from _table(f"{here}.properties", expected.properties, _text)
    yield from _table(
        f"{here}.actions", expected.actions, lambda pair: f"{{ fired = {pair[0]}, cut = {pair[1]} }}"
    )
    yield ""
    yield f"[{here}.guards]"
    for name in sorted(expected.guards):
        yield from _list(_key(name), expected.guards[name])
    if expected.proof is not None:
        yield ""
        yield from _proof(f"{here}.proof", expected.proof)
    if expected.teeth is not None:
        yield from _table(f"{here}.teeth", expected.teeth, _text)
    if expected.controller is not None:
        yield from _table(f"{here}.controller", expected.controller, _text)


def _proof(here: str, proof: Proof) -> Iterator[str]:
    yield f"[{here}]"
    yield f"verdict = {_text(proof.verdict)}"
    yield from _list("lemmas", sorted(proof.lemmas, key=natural))
    yield from _list("properties", sorted(proof.properties, key=natural))
    yield ""
    yield f"[{here}.cells]"
    for action in sorted(proof.cells):
        yield from _list(_key(action), sorted(proof.cells[action], key=natural))
    yield from _table(f"{here}.open", proof.open, _text)


def _table(here: str, values: Mapping[str, Any], show: Any) -> Iterator[str]:
    yield ""
    yield f"[{here}]"
    for name in sorted(values, key=natural):
        yield f"{_key(name)} = {show(values[name])}"


def _list(key: str, values: Iterable[str]) -> Iterator[str]:
    parts = [_text(value) for value in values]
    line = f"{key} = [{', '.join(parts)}]"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{key} = ["
    for part in parts:
        yield f"    {part},"
    yield "]"


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key that puts P-2 before P-10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's, except that TOML also escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
