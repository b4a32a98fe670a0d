"""Convert model values to TLA+ text and back: their form in the exported module.

| model value             | TLA+ in the exported module                   |
| ----------------------- | --------------------------------------------- |
| bool, int               | TRUE/FALSE, 7 or (-1)                         |
| member of a sort        | the integer 0..N-1                            |
| enum member             | the string of its name, "FENCED"              |
| set                     | {0, 2}                                        |
| optional                | the value itself, or the model value None     |
| one value per member    | a function on 0..N-1, (0 :> a @@ 1 :> b)      |
| map                     | a function, ("IDLE" :> a @@ "BUSY" :> b)      |
| sequence                | <<a, b>>                                      |
| record                  | [isr |-> {0}, leader |-> None]                |

Vectors and sequences are tuples in Python, so nothing can be printed without its type: `show` and
`read` walk a value and its `Ty` together; a mismatch is an error that names the path inside the value.
`read` takes parsed values (`elrcheck.tla_export.reading.parse`), in which a function on 1..n has
already become a tuple; a vector starts at 0, so the two can only be confused if the trace is wrong,
and then the error reports the domain.

>>> from elrcheck.lang.types import opt, set_of, sort
>>> nodes = set_of(sort("Node", 3))
>>> show(opt(nodes), frozenset({2, 0})), show(opt(nodes), None)
('{0, 2}', 'None')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from elrcheck.base.printable import shortened
from elrcheck.lang.domains import in_order
from elrcheck.lang.runtime import Map
from elrcheck.lang.types import Ty, optional_fields
from elrcheck.tla_export.reading.parse import IDENTIFIER, ModelValue, Parsed, TlaFunction, is_int, parse, quote, text_of

NONE_NAME = "None"
TLC_MAX = 2**31 - 1

RESERVED_WORDS = """
    ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN
    ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS
    OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRING SUBSET SUFFICES TAKE
    TEMPORAL THEN THEOREM TRUE UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS
"""
RESERVED = frozenset(RESERVED_WORDS.split())


class ValueMismatch(ValueError):
    """A value does not have the type it should have; `path` is the place inside the value."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}" if path else why)
        self.path = path
        self.why = why


@dataclass(frozen=True)
class _Place:
    """The position of the walk; its text is built only for an error."""

    step: str = ""
    up: _Place | None = None

    def field(self, name: str) -> _Place:
        return _Place(f".{name}", self)

    def item(self, index: object) -> _Place:
        return _Place(f"[{index}]", self)

    def fail(self, why: str) -> NoReturn:
        steps: list[str] = []
        at: _Place | None = self
        while at is not None:
            steps.append(at.step)
            at = at.up
        raise ValueMismatch("".join(reversed(steps)).removeprefix("."), why)


def identifier(text: str, *, fallback: str = "Name") -> str:
    """Make a TLA+ identifier as close to the text as possible: `P-21 cex` becomes `P_21_cex`."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in text)
    if not name.strip("_0123456789"):
        name = f"{fallback}_{name}" if name.strip("_") else fallback
    if name in RESERVED or not IDENTIFIER.match(name):
        name = f"{fallback}_{name}"
    return name


def type_in_words(ty: Ty) -> str:
    """Describe a type in an error message."""
    match ty.kind:
        case "bool":
            return "TRUE or FALSE"
        case "nat":
            return "an integer"
        case "member":
            return f"a {ty.word}"
        case "enum":
            return "one of " + ", ".join(ty.members)
        case "set":
            return f"a set, each member {type_in_words(ty.elem)}"
        case "opt":
            return f"{type_in_words(ty.elem)}, or None"
        case "vec":
            return f"one value for each {ty.keys.word or ty.keys}"
        case "seq":
            return "a sequence"
        case "record" if ty.is_pair:
            return "a tuple of " + ", ".join(map(type_in_words, ty.parts))
        case "record" | "state":
            return f"a {ty.name} record"
    return f"a {ty}"


# --------------------------------------------------------------------------------- to TLA+ text


def show(ty: Ty, value: Any) -> str:
    """Format a model value of this type as TLA+ on one line; raise ValueMismatch if it has another type."""
    return _show(ty, value, _Place())


def show_call(action: str, args: Sequence[Any], types: Sequence[Ty]) -> str:
    """Format the action expression of a step, `Fetch(1, 0, FALSE)`, which is also its label."""
    if len(types) != len(args):
        raise ValueMismatch(action, f"takes {len(types)} arguments, got {len(args)}")
    texts = [show(ty, value) for ty, value in zip(types, args, strict=True)]
    return f"{action}({', '.join(texts)})" if texts else action


def _number(value: int, at: _Place) -> str:
    if abs(value) > TLC_MAX:
        at.fail(f"{value} does not fit the 32-bit integers of TLC")
    return str(value) if value >= 0 else f"({value})"


def _show(ty: Ty, value: Any, at: _Place) -> str:
    match ty.kind:
        case "bool" if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        case "nat" | "member" if is_int(value):
            return _number(value, at)
        case "enum" if isinstance(value, ty.cls):
            return quote(value.name)
        case "set" if isinstance(value, frozenset):
            texts = {member: _show(ty.elem, member, at) for member in value}
            return "{" + ", ".join(texts[member] for member in in_order(value)) + "}"
        case "opt":
            return NONE_NAME if value is None else _show(ty.elem, value, at)
        case "vec" if ty.is_map and isinstance(value, Map):
            pairs = (f"{_show(ty.keys, k, at.item(k))} :> {_show(ty.elem, v, at.item(k))}" for k, v in value.items())
            return "(" + " @@ ".join(pairs) + ")"
        case "vec" if isinstance(value, tuple) and value:
            pairs = (f"{i} :> {_show(ty.elem, v, at.item(i))}" for i, v in enumerate(value))
            return "(" + " @@ ".join(pairs) + ")"
        case "seq" if isinstance(value, tuple):
            return "<<" + ", ".join(_show(ty.elem, v, at.item(i)) for i, v in enumerate(value)) + ">>"
        case "record" if ty.is_pair and isinstance(value, tuple) and len(value) == len(ty.parts):
            parts = (_show(t, x, at.item(i)) for i, (t, x) in enumerate(zip(ty.parts, value, strict=True)))
            return f"<<{', '.join(parts)}>>"
        case "record" | "state" if isinstance(value, ty.cls):
            texts = {name: _show(t, getattr(value, name), at.field(name)) for name, t in ty.fields.items()}
            return "[" + ", ".join(f"{name} |-> {text}" for name, text in texts.items()) + "]"
    at.fail(f"expected {type_in_words(ty)}, got {value!r}")


# -------------------------------------------------------------------------------- from TLA+ text


def read_text(ty: Ty, text: str) -> Any:
    """Parse TLA+ text as a model value of a type; ValueSyntaxError or ValueMismatch if it is not one."""
    return read(ty, parse(text))


def read(ty: Ty, parsed: Parsed) -> Any:
    """Convert a parsed TLA+ value to a model value of this type."""
    return _read(ty, parsed, _Place())


def read_state(ty: Ty, variables: Mapping[str, Parsed], *, ignore: tuple[str, ...] = ()) -> Any:
    """Build the state whose variables have these parsed values; `ignore` names foreign variables."""
    return _record(ty, {name: value for name, value in variables.items() if name not in ignore}, _Place())


def _record(ty: Ty, values: Mapping[Any, Parsed], at: _Place) -> Any:
    optional = optional_fields(ty.cls)
    if missing := [name for name in ty.fields if name not in values and name not in optional]:
        at.fail(f"{ty.name} without {', '.join(missing)}")
    if extra := [str(name) for name in values if name not in ty.fields]:
        at.fail(f"{ty.name} has no field {', '.join(extra)}")
    named = {name: t for name, t in ty.fields.items() if name in values}
    return ty.cls(**{name: _read(t, values[name], at.field(name)) for name, t in named.items()})


def _read(ty: Ty, parsed: Parsed, at: _Place) -> Any:
    match ty.kind:
        case "bool" if isinstance(parsed, bool):
            return parsed
        case "nat" if is_int(parsed):
            return parsed
        case "member" if isinstance(parsed, int) and is_int(parsed) and parsed >= 0:
            return parsed
        case "enum" if isinstance(parsed, str):
            if parsed in ty.members:
                return ty.cls[parsed]
        case "set" if isinstance(parsed, frozenset):
            return frozenset(_read(ty.elem, v, at) for v in parsed)
        case "opt" if not isinstance(parsed, ModelValue):
            return _read(ty.elem, parsed, at)
        case "opt" if parsed == ModelValue(NONE_NAME):
            return None
        case "vec" if ty.is_map:
            return _map(ty, parsed, at)
        case "vec" if isinstance(parsed, TlaFunction):
            if set(parsed) != set(range(len(parsed))):
                at.fail(f"expected a function on 0..{len(parsed) - 1}, the domain is {text_of(frozenset(parsed))}")
            return tuple(_read(ty.elem, parsed[i], at.item(i)) for i in range(len(parsed)))
        case "seq" if isinstance(parsed, tuple):
            return tuple(_read(ty.elem, v, at.item(i)) for i, v in enumerate(parsed))
        case "record" if ty.is_pair and isinstance(parsed, tuple) and len(parsed) == len(ty.parts):
            return tuple(_read(t, v, at.item(i)) for i, (t, v) in enumerate(zip(ty.parts, parsed, strict=True)))
        case "record" | "state" if isinstance(parsed, TlaFunction):
            return _record(ty, parsed, at)
    at.fail(f"expected {type_in_words(ty)}, found {shortened(text_of(parsed))}")


def _map(ty: Ty, parsed: Parsed, at: _Place) -> Map[Any, Any]:
    """Read a function as a map, with its keys in order; TLC writes one on 1..n as a tuple."""
    if isinstance(parsed, tuple):
        parsed = TlaFunction(enumerate(parsed, start=1))
    if not isinstance(parsed, TlaFunction):
        at.fail(f"expected {type_in_words(ty)}, found {shortened(text_of(parsed))}")
    entries = {}
    for key, value in parsed.items():
        here = at.item(text_of(key))
        entries[_read(ty.keys, key, here)] = _read(ty.elem, value, here)
    return Map({key: entries[key] for key in in_order(entries)})
