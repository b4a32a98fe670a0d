"""The bug report written after an internal error: command, versions, options and traceback in one file.

Users attach it to public issues, so it has the names of ELRCHECK_* environment variables but not their values, and
anything that looks like a secret is hidden.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import click
from click.core import ParameterSource

from elrcheck.base.version import __version__

FOLDER = Path(".elrcheck")
PACKAGES = ("click", "rich", "numpy", "llvmlite", "pyarrow", "z3-solver", "networkx", "jinja2", "pyspark", "pandas")
SECRET = re.compile(r"secret|passw|token|credential|api_?key|access[._]?key|account[._]?key|private", re.I)
HIDDEN = "(hidden)"
SHORTEST = 6
"""Minimum length of a value to hide: a shorter one may occur elsewhere in the text by chance."""


def bug_report(fault: Exception, argv: Sequence[str], environ: Mapping[str, str]) -> tuple[str, Path]:
    """Return the text and the folder to write it to: the run folder if one was given, else `.elrcheck`."""
    context = innermost_context(fault)
    lines = [
        f"elrcheck {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(_versions()),
        "command: " + shlex.join(["elrcheck", *argv]),
        "variables: " + (", ".join(sorted(n for n in environ if n.startswith("ELRCHECK_"))) or "none"),
        "",
        *_options(context),
        "".join(traceback.format_exception(fault)),
    ]
    params = {} if context is None else context.params
    # After a fault while options are parsed, click's own sentinels stand for missing values.
    folders = [value for name in ("resume", "run_dir") if isinstance(value := params.get(name), str | Path)]
    return without_secrets("\n".join(lines), environ), Path((*folders, FOLDER)[0])


def write_report(text: str, folder: Path) -> Path | None:
    """Write the text into the folder, else into the temporary folder; return the file, None if neither is writable."""
    for place in (folder, Path(tempfile.gettempdir())):
        name = time.strftime("bug-report-%Y%m%dT%H%M%SZ", time.gmtime())
        with contextlib.suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".txt", dir=place)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return place / Path(path).name
    return None


def without_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return the text without the values of environment variables and KEY=VALUE pairs whose names suggest a secret."""
    for name, value in environ.items():
        if SECRET.search(name) and len(value) >= SHORTEST:
            text = text.replace(value, HIDDEN)
    text = re.sub(r"(?<=://)[^/@\s'\"]+@", f"{HIDDEN}@", text)
    return re.sub(
        r"([\w.\-]+)=('[^']*'|\"[^\"]*\"|[^\s,'\"]+)",
        lambda match: f"{match[1]}={HIDDEN}" if SECRET.search(match[1]) else match[0],
        text,
    )


def innermost_context(fault: BaseException) -> click.Context | None:
    """Return the context of the running command: the innermost one in the frames of the traceback."""
    innermost = None
    for frame, _ in traceback.walk_tb(fault.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, click.Context) and (innermost is None or innermost in _parents(value)):
                innermost = value
    return innermost


def _parents(context: click.Context) -> Iterator[click.Context]:
    while context.parent is not None:
        context = context.parent
        yield context


def _options(context: click.Context | None) -> Iterator[str]:
    """Yield the options of the command and its parents that are not defaults, each with its source."""
    while context is not None:
        yield f"options of `{context.command_path}`:"
        for name, value in context.params.items():
            source = context.get_parameter_source(name)
            if source is not ParameterSource.DEFAULT:
                yield f"  {name}={value!r}  ({'unknown' if source is None else source.name.lower()})"
        yield ""
        context = context.parent


def _versions() -> Iterator[str]:
    yield f"{sys.implementation.name}"
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield f"{name} {metadata.version(name)}"
