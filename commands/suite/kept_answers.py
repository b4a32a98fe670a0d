"""Answers of earlier suites, by a digest of everything they depend on: model, properties, engine,
configuration.

A file holds one answer. It is only ever replaced as a whole, so several suites may share the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from msgspec import structs

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import ElrError
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.base.version import __version__
from elrcheck.catalogue.configuration import config_values
from elrcheck.catalogue.suite_file import SuiteCase
from elrcheck.commands.suite.walked_case import WalkAnswer
from elrcheck.commands.sweep.job import Answer
from elrcheck.commands.sweep.ledger import model_digest
from elrcheck.explorer.runs.kept_searches import engine_digest


class KeptAnswers:
    """The answers in the cache folder. fresh: find none of them, but keep new ones."""

    def __init__(self, fresh: bool) -> None:
        self.folder = cache_directory(os.environ) / "suite"
        self.fresh = fresh
        self.model = f"{__version__} {model_digest()} {engine_digest()}"

    def find(self, number: int, case: SuiteCase) -> Answer | WalkAnswer | None:
        """The answer for a configuration; None if there is none, or it cannot be read."""
        if self.fresh:
            return None
        try:
            text = self._file(case).read_text(encoding="utf-8")
            kind: type[Answer | WalkAnswer] = Answer if case.walk is None else WalkAnswer
            return structs.replace(from_text(text, kind), number=number)
        except (OSError, ValueError):
            return None

    def add(self, case: SuiteCase, answer: Answer | WalkAnswer) -> None:
        """Keep the answer of walks or of a complete search; a full disk is no reason to fail."""
        if isinstance(answer, Answer) and (
            answer.report is None or not answer.report["search"]["complete"]
        ):
            return
        with contextlib.suppress(OSError, ElrError):
            write_file(self._file(case), to_text(answer))

    def _file(self, case: SuiteCase) -> Path:
        values = {"variant": case.selected.variant, "scope": case.selected.scope}
        walk = None if case.walk is None else [case.walk.walks, case.walk.steps, case.walk.seed]
        parts = [self.model, values, config_values(case.selected.config), *([walk] if walk else [])]
        asked = json.dumps(parts, sort_keys=True)
        return self.folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.json"
