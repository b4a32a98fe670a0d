"""A whole search and all its traces, in one call."""

from __future__ import annotations

from typing import Any

from elrcheck.base.progress import Progress
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.lang.lowering.program import Program


def search(
    program: Program, *, progress: Progress | None = None, stop: str = "complete", **settings: Any
) -> SearchResult:
    """Explore a program, and rebuild a shortest trace for each check that was hit."""
    run = Search(program, SearchSettings(**settings))
    return with_traces(run, run.run(progress, stop))


def with_traces(run: Search, result: SearchResult) -> SearchResult:
    """Add the traces of a finished search to its result."""
    result.traces = Retrace(run).traces(list(result.first))
    return result
