r"""Print the model's types as sets: the domains of action parameters, and the invariant TypeOK.

    EntryType == [id : Nat, epoch : Nat, acks : {"ONE", "ALL"}]
    TypeOK ==
        /\ committed \in {s \in Seq(EntryType) : Len(s) <= LOG_SLOTS}

Only limits that are part of a type's meaning appear here. The range that a compiled search reserves for
an unbounded number does not: such a number is a Nat. TLC tests membership and never enumerates the sets.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from elrcheck.lang.types import Ty
from elrcheck.tla_export.names import local_name

Constants = Mapping[str, str]
Hidden = Container[tuple[str, str]]
"""Records and fields that a module does not print."""


def type_set(ty: Ty, constants: Constants, records: Mapping[str, str], taken: Container[str] = ()) -> str:
    """Print the set of all values of a type.

    records: the name of the set of each record class; taken: names that a bound variable must not hide.
    """
    match ty.kind:
        case "bool":
            return "BOOLEAN"
        case "nat":
            if ty.hi is not None:
                return f"{ty.lo}..{_limit(ty, constants)}"
            n = local_name("n", taken)
            return f"{{{n} \\in Int : {n} >= {ty.lo}}}" if ty.lo else "Nat"
        case "member":
            return ty.every
        case "set":
            elements = type_set(ty.elem, constants, records, taken)
            return f"SUBSET {elements if elements.isidentifier() else f'({elements})'}"
        case "enum":
            return "{" + ", ".join(f'"{member}"' for member in ty.members) + "}"
        case "opt":
            inner = type_set(ty.elem, constants, records, taken)
            return f"{inner if inner.isidentifier() else f'({inner})'} \\cup {{None}}"
        case "vec":
            return f"[{type_set(ty.keys, constants, records, taken)} -> {type_set(ty.elem, constants, records, taken)}]"
        case "seq":
            elements = f"Seq({type_set(ty.elem, constants, records, taken)})"
            s = local_name("s", taken)
            return f"{{{s} \\in {elements} : Len({s}) <= {_limit(ty, constants)}}}"
        case "record" if ty.is_pair:
            sets = (type_set(part, constants, records, taken) for part in ty.parts)
            return " \\X ".join(text if text.isidentifier() else f"({text})" for text in sets)
        case "record":
            return records[ty.name]
    raise ValueError(f"a {ty} has no set of values")


def size_text(ty: Ty, constants: Constants) -> str:
    """Print the size of a sort."""
    return constants[ty.size] if isinstance(ty.size, str) else str(ty.size)


def _limit(ty: Ty, constants: Constants) -> str:
    return constants[ty.hi] if isinstance(ty.hi, str) else str(ty.hi)


def limits(ty: Ty, hidden: Hidden = ()) -> Iterator[str]:
    """Yield the configuration fields that are limits, or sizes of sorts, in a type."""
    if ty.kind in ("nat", "seq") and isinstance(ty.hi, str):
        yield ty.hi
    if isinstance(ty.size, str):
        yield ty.size
    for part in parts(ty, hidden):
        yield from limits(part, hidden)


def parts(ty: Ty, hidden: Hidden = ()) -> Iterator[Ty]:
    """Yield the component types of a type."""
    if ty.kind == "vec":
        yield ty.keys
    if ty.kind in ("opt", "vec", "seq", "set"):
        yield ty.elem
    elif ty.kind in ("record", "state"):
        record = "" if ty.kind == "state" else ty.name
        yield from (part for name, part in ty.fields.items() if (record, name) not in hidden)


def records_of(ty: Ty, hidden: Hidden = ()) -> list[Ty]:
    """Return the record types inside a type, each once, inner ones first."""
    records: dict[str, Ty] = {}
    for part in parts(ty, hidden):
        records.update((record.name, record) for record in records_of(part, hidden))
        if part.kind == "record" and not part.is_pair:
            records[part.name] = part
    return list(records.values())
