"""Builds the documentation pages and their search with mkdocs, if it is installed and the documents exist."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

from elrcheck.base.errors import EnvironmentFault

PACKAGE = Path(__file__).resolve().parents[2]
SETTINGS = PACKAGE / "mkdocs.yml"
NEEDED = ("mkdocs", "material")


def lacking() -> str | None:
    """Return why the documentation cannot be built here, and a remedy; None if it can."""
    if not SETTINGS.is_file() or not (PACKAGE / "docs" / "findings").is_dir():
        return "this installation has none"
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        return "mkdocs-material is missing: `pip install mkdocs-material`"
    return None


def build_documents(out: Path) -> None:
    """Write the pages of the documents and their search into a folder, which is emptied first."""
    load: Any = importlib.import_module("mkdocs.config").load_config
    build: Any = importlib.import_module("mkdocs.commands.build").build
    abort: Any = importlib.import_module("mkdocs.exceptions").MkDocsException
    warned: list[str] = []
    logger, handler = logging.getLogger("mkdocs"), _Collecting(warned)
    logger.addHandler(handler)
    try:
        build(load(str(SETTINGS), site_dir=str(out)))
    except abort as fault:
        why = "; ".join((*warned, str(fault)))
        raise EnvironmentFault("site-documents", f"mkdocs cannot make the pages of the documents: {why}") from fault
    finally:
        logger.removeHandler(handler)


class _Collecting(logging.Handler):
    """Keeps the warnings of mkdocs for the message of an error."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
