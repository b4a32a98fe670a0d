"""JSON schemas of the documents, made from the types of the report objects.

A document has every field of its type and no other, so each is required and an unknown one is refused. The
descriptions are docstrings: the one of a class describes the object, the text below a field the field.
`docs/schemas/generate.py` writes the schemas of all documents to `docs/schemas/`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from elrcheck.lang.source import field_texts
from elrcheck.report.document import every_kind
from elrcheck.results.any_report import Report
from elrcheck.results.audit_report import AuditedLog, AuditStep
from elrcheck.results.check_report import SearchReport
from elrcheck.results.conform_report import ConformReport
from elrcheck.results.exploration_report import SimulationReport
from elrcheck.results.trace_reports import TlcReport
from elrcheck.results.trace_view import MOST_STATES, UNWRITTEN, SmallGraph

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NARROWER: Mapping[tuple[type[Any], str], Schema] = {
    (TlcReport, "tlc_exit_code"): {"minimum": -(2**31)},
    (SearchReport, "collision_probability"): {"minimum": 0, "maximum": 1},
    (SimulationReport, "seed"): {"minimum": 0, "maximum": 2**64 - 1},
    (ConformReport, "seed"): {"minimum": 0, "maximum": 2**64 - 1},
    **{(AuditStep, name): {"minimum": -(2**31)} for name in ("leader", "leader_epoch", "partition_epoch")},
    **{
        (AuditStep, name): {"items": {"type": "integer", "minimum": -(2**31)}}
        for name in ("replicas", "adding", "removing", "isr", "elr", "last_known_elr")
    },
    **{(AuditedLog, name): {"items": {"type": "integer", "minimum": -(2**31)}} for name in ("brokers", "fenced")},
    **{(AuditedLog, name): {"minimum": -(2**15)} for name in ("metadata_version", "elr_version")},
    (SmallGraph, "states"): {"minItems": 1, "maxItems": MOST_STATES},
}
"""Limits of numbers and lists that their types do not express; all other numbers are 0 or more."""


def report_schemas() -> dict[str, Schema]:
    """Return file name -> schema, of every report."""
    return {
        file_name(identifier(kind)): document(kind, f"The result of `elrcheck {described.command} --format json`")
        for kind, described in every_kind().items()
    }


def file_name(schema: str) -> str:
    """Return the file name of a schema: `elrcheck.report/1` is in `elrcheck.report-1.schema.json`."""
    return schema.replace("/", "-") + ".schema.json"


def identifier(kind: type[Any]) -> str:
    """Return the name of the schema of a report."""
    return str(kind.__struct_config__.tag)


def document(kind: type[Any], title: str) -> Schema:
    """Return the schema of a whole document."""
    defs: dict[str, Schema] = {}
    body = _object(kind, defs, frozenset(every_kind()) - {kind})
    return {"$schema": DIALECT, "title": title, **body, **({"$defs": defs} if defs else {})}


def array_of(kind: type[Any]) -> Schema:
    """Return the schema of a list of objects of a type, each described in place."""
    return {"type": "array", "items": _object(kind, {}, frozenset())}


def _object(kind: type[Any], defs: dict[str, Schema], others: frozenset[type[Any]]) -> Schema:
    hints = get_type_hints(kind)
    declaring = [each for each in reversed(kind.__mro__) if inspect.get_annotations(each)]
    texts = {name: text for each in declaring for name, text in field_texts(each).items()}
    properties: dict[str, Schema] = {}
    if issubclass(kind, Report):
        properties["schema"] = {"const": identifier(kind)}
    keys = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    for name, key in keys:
        if key != UNWRITTEN:
            properties[key] = _schema(hints[name], defs, others) | NARROWER.get((kind, name), {})
            properties[key] |= {"description": " ".join(texts[name].split())} if name in texts else {}
    return {
        "description": " ".join((kind.__doc__ or "").split()),
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _schema(hint: Any, defs: dict[str, Schema], others: frozenset[type[Any]] = frozenset()) -> Schema:
    """Return the schema of a value; objects become entries of `defs`, other documents are referred to."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint], **({"minimum": 0} if hint in (int, float) else {})}
    if hint is Any:
        return {}
    if hint in others:
        return {"$ref": file_name(identifier(hint))}
    if isinstance(hint, type) and issubclass(hint, Struct):
        name = hint.__name__
        if name not in defs:
            defs[name] = {}  # a type may be part of itself
            defs[name] = _object(hint, defs, others)
        return {"$ref": f"#/$defs/{name}"}
    inside = functools.partial(_schema, defs=defs, others=others)
    arguments = get_args(hint)
    match get_origin(hint):
        case origin if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        case origin if origin in (Union, types.UnionType):
            return _any_of([inside(part) for part in arguments])
        case origin if origin in (tuple, list, Sequence):
            return {"type": "array", "items": inside(arguments[0])}
        case origin if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": inside(arguments[1])}
    raise TypeError(f"a document cannot hold {hint}")


_SCALARS: Mapping[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def _any_of(parts: list[Schema]) -> Schema:
    """Return the schema of a union; scalars become one list of types, with a minimum if only one is a number."""
    if not all(set(part) <= {"type", "minimum"} for part in parts):
        return {"anyOf": parts}
    numbers = [part for part in parts if part["type"] in ("integer", "number")]
    merged: Schema = {"type": [part["type"] for part in parts]}
    return merged | ({"minimum": 0} if len(numbers) == 1 and "minimum" in numbers[0] else {})
