"""What a bug leaves behind: one file with the command, versions, settings and the traceback.

It is meant to be attached to a public report, so it has no variables of the environment but the names of
ours, and what looks like a secret is left out.
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

from elrcheck import __version__

FOLDER = Path(".elrcheck")
PACKAGES = ("click", "rich", "numpy", "llvmlite", "pyarrow", "z3-solver", "networkx", "jinja2", "pyspark",
            "pandas")  # fmt: skip
SECRET = re.compile(r"secret|passw|token|credential|api_?key|access[._]?key|account[._]?key|private", re.I)
HIDDEN = "(hidden)"
SHORTEST = 6
"""A shorter value of a variable would also be replaced where it stands by chance."""


def bug_report(fault: Exception, argv: Sequence[str], environ: Mapping[str, str]) -> tuple[str, Path]:
    """The text, and the folder to keep it in: that of the run if one was named, else `.elrcheck`."""
    context = _context(fault)
    lines = [
        f"elrcheck {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(_versions()),
        "command: " + shlex.join(["elrcheck", *argv]),
        "variables: " + (", ".join(sorted(n for n in environ if n.startswith("ELRCHECK_"))) or "none"),
        "",
        *_options(context),
        "".join(traceback.format_exception(fault)),
    ]
    given = {} if context is None else context.params
    folder = given.get("resume") or given.get("run_dir") or FOLDER
    return without_secrets("\n".join(lines), environ), Path(folder)


def keep(text: str, folder: Path) -> Path | None:
    """Writes the text into the folder, or else among temporary files; None if neither can be written."""
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
    """The text without values of variables, and of KEY=VALUE, whose names say that they are secret."""
    for name, value in environ.items():
        if SECRET.search(name) and len(value) >= SHORTEST:
            text = text.replace(value, HIDDEN)
    text = re.sub(r"(?<=://)[^/@\s'\"]+@", f"{HIDDEN}@", text)
    return re.sub(
        r"([\w.\-]+)=('[^']*'|\"[^\"]*\"|[^\s,'\"]+)",
        lambda found: f"{found[1]}={HIDDEN}" if SECRET.search(found[1]) else found[0],
        text,
    )


def _context(fault: BaseException) -> click.Context | None:
    """That of the command that was running: the innermost one that the traceback went through."""
    found = None
    for frame, _ in traceback.walk_tb(fault.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, click.Context) and (found is None or found in _parents(value)):
                found = value
    return found


def _parents(context: click.Context) -> Iterator[click.Context]:
    while context.parent is not None:
        context = context.parent
        yield context


def _options(context: click.Context | None) -> Iterator[str]:
    """What the command was told, and where each value is from."""
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
