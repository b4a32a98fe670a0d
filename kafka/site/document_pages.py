"""Builds the documentation pages and their search with mkdocs, if it is installed and the documents exist."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.captured_warnings import captured_warnings

PACKAGE = Path(__file__).resolve().parents[2]
SETTINGS = PACKAGE / "mkdocs.yml"
NEEDED = ("mkdocs", "material")


def obstacle() -> str | None:
    """Return why the documentation cannot be built here, and a remedy; None if it can."""
    if not SETTINGS.is_file() or not (PACKAGE / "docs" / "findings").is_dir():
        return "this installation does not contain them"
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return "mkdocs-material is missing: `pip install mkdocs-material`"
    return None


def build_documents(out: Path) -> None:
    """Write the pages of the documents and their search into a folder, which is emptied first."""
    load: Any = importlib.import_module("mkdocs.config").load_config
    build: Any = importlib.import_module("mkdocs.commands.build").build
    abort: Any = importlib.import_module("mkdocs.exceptions").MkDocsException
    with captured_warnings("mkdocs") as warnings:
        try:
            build(load(str(SETTINGS), site_dir=str(out)))
        except abort as fault:
            why = "; ".join((*warnings, str(fault)))
            raise EnvironmentFault("site-documents", f"mkdocs cannot build the documentation: {why}") from fault
