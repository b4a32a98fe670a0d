"""The LLVM IR of the kernel's functions that differ in a few numbers only, in the files of `ir/`: text with holes.

;; insert                        begins the text `table.insert`, in `table.ll`
${words}, ${Shared.ROWS}         a hole: a value, or the number of a field
!load %rows = %s ${Shared.ROWS}  loads a field of the struct at %s; an `i64` at the end: a number, not an address
!include table.next_slot         another text
"""

from __future__ import annotations

import functools
import re
from enum import IntEnum
from importlib.resources import files

from elrcheck.explorer.kernel.emit import load_field

FOLDER = files("elrcheck.explorer.kernel") / "ir"
BEGINNING = re.compile(r"^;; (\w+)\n", re.MULTILINE)
INCLUDE = re.compile(r"  !include ([\w.]+)")
FIELD = re.compile(r"\$\{(\w+)\.(\w+)\}")
LOAD = re.compile(r"  !load %(\S+) = (%\w+) (\d+)(?: (i64))?")
HOLE = re.compile(r"\$\{(\w+)\}")


def ir(name: str, *structs: type[IntEnum], **holes: str | int) -> str:
    """Return a text such as `table.insert`; KeyError for a hole without a value.

    structs: those whose fields it names.
    """
    parts = list(_parts(name, structs))
    parts[1::2] = [str(holes[hole]) for hole in parts[1::2]]
    return "".join(parts)


@functools.cache
def _parts(name: str, structs: tuple[type[IntEnum], ...]) -> tuple[str, ...]:
    """Return the text before each hole, and the name of the hole, in turn."""
    fields = {struct.__name__: struct for struct in structs}
    text = FIELD.sub(lambda field: str(int(fields[field[1]][field[2]])), _with_included(name))
    return tuple(HOLE.split(LOAD.sub(_loaded, text)))


def _loaded(line: re.Match[str]) -> str:
    return load_field(line[1], line[2], int(line[3]), line[4] or "ptr").removeprefix("\n")


@functools.cache
def _with_included(name: str) -> str:
    file, _, own = name.partition(".")
    return INCLUDE.sub(lambda line: _with_included(line[1]), _texts(file)[own])


@functools.cache
def _texts(file: str) -> dict[str, str]:
    """Return name -> text of a file, without the line breaks at the end."""
    _, *parts = BEGINNING.split((FOLDER / f"{file}.ll").read_text("utf-8"))
    return {name: text.rstrip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}
