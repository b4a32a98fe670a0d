"""Mistakes in model source that Python itself detects, during import or while a rule runs in plain Python.

A syntax error, an undefined name or a misspelt knob of a variant raises a Python exception before the language's
compiler sees it. `behind` distinguishes these from errors in elrcheck itself.
"""

from __future__ import annotations

import inspect
import linecache
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from elrcheck.lang.runtime import Role
from elrcheck.lang.source import ModelError, error_at


def behind(
    fault: BaseException, package: Path, folders: Sequence[str], models: Sequence[Path] = ()
) -> ModelError | None:
    """Return the mistake behind an exception if it comes from a file in these folders of the package, else None.

    models: folders with models of the user, in which every function is the user's.
    """
    if isinstance(fault, ModelError):
        return fault
    owned = [*(package / folder for folder in folders), *models]
    if isinstance(fault, SyntaxError):
        return _syntax(fault, owned)
    foreign = isinstance(fault, ModuleNotFoundError) and not (fault.name or "").startswith("elrcheck.")
    ours = [package / "lang", *owned]
    files = ((f, Path(_file(f[0]))) for f in traceback.walk_tb(fault.__traceback__))
    frames = [f for f, file in files if package in file.parents or file.parent in models]
    if foreign or not frames or Path(_file(frames[-1][0])).parent not in ours:
        return None
    description = f"{type(fault).__name__}: {fault}"
    for frame, line in reversed(frames):
        if Path(_file(frame)).parent not in owned:
            continue
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or of a class
            return error_at(_file(frame), line, description, "the module cannot be imported until this is fixed")
        if Path(_file(frame)).parent in models and not _is_rule(frame):
            help = "a value must not depend on itself" if isinstance(fault, RecursionError) else ""
            return error_at(_file(frame), line, f"{description}, in {frame.f_code.co_name}", help)
        if _is_rule(frame):
            help = "the compiled model reads a blank value where plain Python stops: check for it first"
            return error_at(_file(frame), line, f"{description}, in {frame.f_code.co_name} in plain Python", help)
    return None


def _file(frame: FrameType) -> str:
    return frame.f_code.co_filename


def _is_rule(frame: FrameType) -> bool:
    """Return whether the frame belongs to a decorated function."""
    function = frame.f_globals.get(frame.f_code.co_name)
    return isinstance(getattr(function, "__elr_role__", None), Role)


def _syntax(fault: SyntaxError, owned: Sequence[Path]) -> ModelError | None:
    file = fault.filename or ""
    if Path(file).parent not in owned or fault.lineno is None:
        return None
    text = linecache.getline(file, fault.lineno).rstrip("\n")
    margin = len(text) - len(text.lstrip())
    mark = " " * max(0, (fault.offset or 1) - 1 - margin) + "^"
    return ModelError(
        f"not valid Python: {fault.msg}", where=f"{file}:{fault.lineno}", excerpt=f"{textwrap.dedent(text)}\n{mark}"
    )
