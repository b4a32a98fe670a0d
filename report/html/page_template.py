"""Loads the packaged templates, with autoescaping for every text."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, loader=FunctionLoader(source),
    )  # fmt: skip


def source(name: str) -> str:
    return (files("elrcheck.report.html") / "templates" / name).read_text("utf-8")
