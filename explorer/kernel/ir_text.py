"""The LLVM IR of the kernel's functions that differ in a few numbers only: a file of `ir/` for each, with holes.

$words, ${Shared.ROWS}          a hole: a value, or the number of a field
!load %rows = %s ${Shared.ROWS} loads a field of the struct at %s; an `i64` at the end: a number, not an address
!include next_slot              the lines of another file
"""

from __future__ import annotations

import functools
import re
from enum import IntEnum
from importlib.resources import files
from string import Template

from elrcheck.explorer.kernel.emit import load_field

INCLUDE = re.compile(r"^ *!include (\w+)$", re.MULTILINE)
LOAD = re.compile(r"^ *!load %(\S+) = (%\w+) (\d+)(?: (i64))?$", re.MULTILINE)


class _Holes(Template):
    braceidpattern = r"[\w.]+"


def ir(name: str, *structs: type[IntEnum], **holes: str | int) -> str:
    """Return the text of `ir/NAME.ll`. structs: those whose fields it names; KeyError for a hole without a value."""
    fields = {f"{struct.__name__}.{field.name}": int(field) for struct in structs for field in struct}
    return LOAD.sub(_loaded, _text(name).substitute(fields, **holes))


def _loaded(line: re.Match[str]) -> str:
    return load_field(line[1], line[2], int(line[3]), line[4] or "ptr").removeprefix("\n")


@functools.cache
def _text(name: str) -> _Holes:
    return _Holes(_with_included(name))


def _with_included(name: str) -> str:
    """Return a file with those that it includes, without the line break at its end."""
    text = (files("elrcheck.explorer.kernel") / "ir" / f"{name}.ll").read_text("utf-8").rstrip("\n")
    return INCLUDE.sub(lambda line: _with_included(line[1]), text)
