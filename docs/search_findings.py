"""Searches findings under the rules of released variants: `python docs/search_findings.py [F-20 ..]`.

Writes catalogue/evidence/searched.json, from which `python docs/generate_pages.py` makes the table of
findings by version. Without ids, only what is new is searched; with ids, these findings again; with `older`, what was
searched before a change of the model, as a release demands. A test repeats a sample.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.base.roundtrip import to_text
from elrcheck.catalogue.evidence.conformance import model_digest
from elrcheck.catalogue.evidence.searched import NAME, FindingSearch, FindingSearches, packaged_searches
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.checking.check import run_check
from elrcheck.declared.select import resolve
from elrcheck.laboratory.evidence.released_search import ReleasedSearch, commands_of, released_searches
from elrcheck.model.knobs import plain

FILE = Path(__file__).resolve().parents[1] / "catalogue" / "evidence" / NAME


def searched(search: ReleasedSearch) -> FindingSearch:
    """Return the search and its control, done; both have to be complete."""
    broken, states = _broken(search, control=False)
    repaired, _ = (broken, states) if repairs_nothing(search) else _broken(search, control=True)
    own = {name: broken[name] for name in search.run.breaks if name in broken}
    return FindingSearch(
        search.finding,
        search.variant,
        *commands_of(search),
        own,
        tuple(name for name in own if name in repaired),
        states,
        datetime.now(UTC).date().isoformat(),
        model_digest(),
    )


def repairs_nothing(search: ReleasedSearch) -> bool:
    """The release has the control's rules already."""
    return resolve(_selection(search, False)).config == resolve(_selection(search, True)).config


def _selection(search: ReleasedSearch, control: bool) -> Selection:
    run = search.run
    assert run.control is not None
    knobs = {**run.knobs, **(run.control.knobs if control else {})}
    return Selection(search.variant, run.scope, tuple(f"{name}={plain(value)}" for name, value in knobs.items()))


def _broken(search: ReleasedSearch, control: bool) -> tuple[dict[str, int], int]:
    """Property -> depth, of what breaks, and the number of states."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-findings-") as folder:
        request = CheckRequest(_selection(search, control), liveness=search.run.liveness, run_dir=Path(folder) / "run")
        report = run_check(request, Silent())
    assert report.search.complete, commands_of(search)[control]
    broken = {one.id: one.depth for one in report.properties if one.verdict == "violated"}
    return {name: depth for name, depth in broken.items() if depth is not None}, report.search.distinct


def main(only: Collection[str]) -> None:
    recorded = {(each.finding, each.variant): each for each in (packaged_searches() if FILE.exists() else ())}
    searches = [search for finding in packaged_findings() for search in released_searches(finding)]
    for search in searches:
        key = (search.finding, search.variant)
        old = recorded.get(key)
        same = old is not None and (old.command, old.control_command) == commands_of(search)
        older = "older" in only and old is not None and old.model != model_digest()
        if same and not older and search.finding not in only:
            continue
        recorded[key] = searched(search)
        print(*key, dict(recorded[key].breaks), "control", recorded[key].control, flush=True)
        done = tuple(recorded[s.finding, s.variant] for s in searches if (s.finding, s.variant) in recorded)
        write_file(FILE, to_text(FindingSearches(searches=done), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
