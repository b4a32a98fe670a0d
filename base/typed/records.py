"""Reads a dataclass from a table of a document, and writes it; fields, types and defaults say what the table may hold.

    @dataclass(frozen=True)
    class Control:
        title: Prose
        features: Mapping[str, Natural] = field(default_factory=dict)
        where: Annotated[str, From.PLACE] = ""

    control = read_record(node, Control)

A field without a default is a required key; an unknown key is a fault. A type may be str, bool, int, a Literal of
texts, an Enum (by name), another dataclass, a tuple of any length, a Mapping from names, or one of these or None.
`Annotated` adds what a type cannot express: `NodeReader`, how a value is read; `KeyName`, under which name; `From` and
`SameTable`, that the field has no key of its own. If a record has a method `checked(node)`, it is called after the
fields have been read, and returns the record to use.

A record is always written in the same order, for diffs. Fields with their default are omitted, except a table of names,
which is written even if it is empty.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from elrcheck.base.strict import Node

R = TypeVar("R")
ReadValue: TypeAlias = Callable[[Node], Any]


@dataclass(frozen=True)
class NodeReader:
    """In `Annotated`: how the value of a field is read, with a fault for one that does not fit."""

    read: ReadValue


@dataclass(frozen=True)
class KeyName:
    """In `Annotated`: the key of a field, if it differs from the field's name."""

    name: str


class From(enum.Enum):
    """In `Annotated`: where the value of a field comes from, if not from a key of its own."""

    PLACE = "file and line of the table"
    FILE = "the name of the file"
    ELSEWHERE = "no table: what uses the record sets the field"
    TAG = "the key that says which kind of record this is"


@dataclass(frozen=True)
class SameTable:
    """In `Annotated`: a record whose keys are in the same table."""

    record: type[Any]


@dataclass(frozen=True)
class RecordField:
    """The notation of a field in a file. kind: its type, with annotations; inside: the record in the same table.

    default: `dataclasses.MISSING` for a required field, or a factory.
    """

    name: str
    key: str
    kind: Any
    source: From | None
    inside: Any
    required: bool
    default: Any

    @functools.cached_property
    def read(self) -> ReadValue:
        """The reader of its value; looked up at first use, since some fields are in no table."""
        return _reader(self.kind)


# --------------------------------------------------------------------------- values of common form


def stripped(node: Node) -> str:
    """Return a text without blanks around it."""
    return node.text().strip()


def prose(node: Node) -> str:
    """Return a text without blanks around it; fail if it is empty."""
    return stripped(node) or node.bad("expected a text, not an empty one")


def text_or_texts(node: Node) -> tuple[str, ...]:
    """Return the texts of a text or a list of texts."""
    if not isinstance(node.value, str | list):
        node.expected("a text or a list of texts")
    return (node.text(),) if isinstance(node.value, str) else node.texts()


def matching(form: str, what: str) -> NodeReader:
    """Return a reader of texts that match a regular expression as a whole. what: their name in a message."""
    pattern = re.compile(form)

    def read(node: Node) -> str:
        if pattern.fullmatch(node.text()) is None:
            node.expected(what)
        return node.text()

    return NodeReader(read)


Natural: TypeAlias = Annotated[int, NodeReader(Node.natural)]
Positive: TypeAlias = Annotated[int, NodeReader(Node.positive)]
MaybeEmpty: TypeAlias = Annotated[str, NodeReader(stripped)]
Prose: TypeAlias = Annotated[str, NodeReader(prose)]
OneOrMore: TypeAlias = Annotated[tuple[str, ...], NodeReader(text_or_texts)]


# ----------------------------------------------------------------------------------------- records


def read_record(
    node: Node, kind: type[R], preset: Mapping[str, Any] | None = None, *, tag: str = "", others: Collection[str] = ()
) -> R:
    """Return the record of a table; a UsageFault names the line and the key of a mistake.

    preset: values of fields that the table may not hold. tag: the key of the field with `From.TAG`. others: keys of the
    table that are read elsewhere.
    """
    fixed, record_kind = preset or {}, cast(Any, kind)
    plan = _plan(record_kind, node.source.joint, tag, frozenset(fixed))
    node.object(plan.required, (*plan.keys, *others))
    record: R = _filled(node, plan, fixed)
    return record


@dataclass(frozen=True)
class _Plan:
    """How to read the table of a record. inside: the plans of the records whose keys are in the same table.

    required, keys: the keys that the table must hold, and may hold. by_key: the fields that have a key of their own.
    """

    kind: Any
    required: tuple[str, ...]
    keys: tuple[str, ...]
    by_key: tuple[tuple[str, RecordField], ...]
    inside: tuple[tuple[str, _Plan], ...]
    places: tuple[str, ...]
    files: tuple[str, ...]


@functools.cache
def _plan(kind: Any, joint: str, tag: str, preset: frozenset[str]) -> _Plan:
    parts = [part for part in fields_of(kind, joint) if part.name not in preset]
    inside = [(part.name, _plan(part.inside, joint, tag, frozenset())) for part in parts if part.inside is not None]
    by_key = [
        (tag if part.source is From.TAG else part.key, part)
        for part in parts
        if part.inside is None and part.source in (None, From.TAG)
    ]
    needed = [key for key, part in by_key if part.required]
    return _Plan(
        kind=kind,
        required=(*needed, *(key for _, plan in inside for key in plan.required)),
        keys=(*(key for key, _ in by_key), *(key for _, plan in inside for key in plan.keys)),
        by_key=tuple(by_key),
        inside=tuple(inside),
        places=tuple(part.name for part in parts if part.source is From.PLACE),
        files=tuple(part.name for part in parts if part.source is From.FILE),
    )


def _filled(node: Node, plan: _Plan, preset: Mapping[str, Any]) -> Any:
    """Return the record of a table whose keys have been checked."""
    values, table = dict(preset), node.value
    for key, part in plan.by_key:
        if key in table:
            values[part.name] = part.read(Node(table[key], node.source, key, node))
    for name, inner in plan.inside:
        values[name] = _filled(node, inner, {})
    for name in plan.places:
        values[name] = node.where
    for name in plan.files:
        values[name] = node.source.name
    record = plan.kind(**values)
    return record.checked(node) if hasattr(record, "checked") else record


@functools.cache
def fields_of(kind: Any, joint: str) -> tuple[RecordField, ...]:
    """Return the fields of a dataclass and their notation. joint: the character between the words of a key."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_field(part, hints[part.name], joint) for part in dataclasses.fields(kind))


def _field(part: dataclasses.Field[Any], hint: Any, joint: str) -> RecordField:
    notes = hint.__metadata__ if get_origin(hint) is Annotated else ()
    keys = [note.name for note in notes if isinstance(note, KeyName)]
    sources = [note for note in notes if isinstance(note, From)]
    inside = [note.record for note in notes if isinstance(note, SameTable)]
    missing = dataclasses.MISSING
    return RecordField(
        name=part.name,
        key=keys[0] if keys else part.name.replace("_", joint),
        kind=hint,
        source=sources[0] if sources else None,
        inside=inside[0] if inside else None,
        required=part.default is missing and part.default_factory is missing,
        default=part.default,
    )


# ------------------------------------------------------------------------------------ single values


def read_value(node: Node, hint: Any) -> Any:
    """Return the value of a node in a type; a UsageFault says what was expected."""
    return _reader(hint)(node)


@functools.cache
def _reader(hint: Any) -> ReadValue:
    """Return the reader for values of a type; raise TypeError for a type that cannot be read."""
    parts = get_args(hint)
    match get_origin(hint):
        case None:
            return _reader_of_class(hint)
        case origin if origin is Annotated:
            named = [note.read for note in hint.__metadata__ if isinstance(note, NodeReader)]
            return named[-1] if named else _reader(parts[0])
        case origin if origin is Literal:
            return lambda node: node.choice(parts)
        case origin if origin in (Union, types.UnionType):
            (inner,) = (part for part in parts if part is not types.NoneType)
            return _reader(inner)
        case origin if origin is tuple:
            return _reader_of_list(parts)
        case origin if origin is not None and issubclass(origin, Mapping):
            return lambda node: node.map(_reader(parts[1]))
    raise TypeError(f"no reader for {hint}")


def _reader_of_class(kind: Any) -> ReadValue:
    simple: Mapping[Any, ReadValue] = {str: Node.text, bool: Node.boolean, int: Node.integer}
    if kind in simple:
        return simple[kind]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return lambda node: read_record(node, kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return lambda node: node.member(kind)
    raise TypeError(f"no reader for {kind}")


def _reader_of_list(parts: tuple[Any, ...]) -> ReadValue:
    if len(parts) != 2 or parts[1] is not Ellipsis:
        raise TypeError(f"no reader for a tuple of {parts}")
    tables = dataclasses.is_dataclass(parts[0])

    def read(node: Node) -> tuple[Any, ...]:
        if tables and not isinstance(node.value, list):
            node.bad(f"expected an array of tables, written [[{node.key}]]")
        read_part = _reader(parts[0])
        return tuple(read_part(part) for part in node.items())

    return read


_WIDTH = 100


def table_text(path: str, record: Any, joint: str = "_") -> Iterator[str]:
    """Yield the lines of a dataclass: header, values, then the tables in it. joint: the character between words."""
    yield f"[{path}]"
    tables: dict[str, Any] = {}
    for key, value in _entries(record, type(record), joint):
        if isinstance(value, Mapping) or dataclasses.is_dataclass(value):
            tables[f"{path}.{key}"] = value
        else:
            yield from _line(key, value, joint)
    for inner, value in tables.items():
        yield ""
        if not isinstance(value, Mapping):
            yield from table_text(inner, value, joint)
            continue
        yield f"[{inner}]"
        for name in sorted(value, key=natural):
            yield from _line(_key(name), value[name], joint)


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key that puts P-2 before P-10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def text_value(value: str) -> str:
    """Return a TOML basic string; JSON's escapes are a subset of TOML's, except that TOML also escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _entries(record: Any, kind: Any, joint: str) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a record, except None and default values."""
    for part in fields_of(kind, joint):
        value = record[part.name] if isinstance(record, Mapping) else getattr(record, part.name)
        if part.inside is not None:
            yield from _entries(value, part.inside, joint)
        elif part.source is None and value is not None and value != part.default:
            yield part.key, value


def _line(key: str, value: Any, joint: str) -> Iterator[str]:
    """Return `key = value`, with a long list on several lines."""
    line = f"{key} = {_value(value, joint)}"
    if len(line) <= _WIDTH or not isinstance(value, tuple):
        yield line
        return
    yield f"{key} = ["
    yield from (f"    {_value(part, joint)}," for part in value)
    yield "]"


def _value(value: Any, joint: str) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return text_value(value)
        case Path():
            return text_value(value.as_posix())
        case tuple():
            return f"[{', '.join(_value(part, joint) for part in value)}]"
        case Mapping():
            return _inline(((_key(name), part) for name, part in value.items()), joint)
    entries = _entries(value, type(value), joint)
    return _inline(((key, part) for key, part in entries if part != {}), joint)


def _inline(entries: Iterable[tuple[str, Any]], joint: str) -> str:
    return f"{{ {', '.join(f'{key} = {_value(value, joint)}' for key, value in entries)} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text_value(name)
