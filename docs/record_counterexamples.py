"""Records a counterexample of every search of the findings: `python docs/record_counterexamples.py [F-20 ..]`.

Writes catalogue/evidence/counterexamples.json, which `elrcheck site` shows. Without ids, only what is new or no longer
followed by the model is searched; with ids, these findings again.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest
from elrcheck.base.roundtrip import to_text
from elrcheck.catalogue.evidence.counterexamples import (
    NAME,
    FindingCounterexample,
    FindingCounterexamples,
    Outdated,
    breaking_searches,
    followed,
    packaged_counterexamples,
    selection_of,
    shown_property,
)
from elrcheck.catalogue.finding_file import FindingRun, OtherSearch
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.checking.check import run_check
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.traces.describe import spelled

FILE = Path(__file__).resolve().parents[1] / "catalogue" / "evidence" / NAME


def searched(finding: str, run: FindingRun | OtherSearch) -> FindingCounterexample:
    """Return a shortest counterexample of a search."""
    ident, selection = shown_property(run), selection_of(run)
    liveness = isinstance(run, FindingRun) and run.liveness
    with tempfile.TemporaryDirectory(prefix="elrcheck-counterexamples-") as folder:
        place = Path(folder) / "run"
        request = CheckRequest(selection, (ident,), stop_at_first=not liveness, run_dir=place, liveness=liveness)
        run_check(request, Silent())
        loaded = load_trace(place / f"{ident}.trace.json", selection)
    trace, actions = loaded.behaviour, loaded.model.actions_by_name
    steps = tuple(spelled(actions[label.action], label.args) for label in trace.labels)
    assert selection.variant is not None and selection.scope is not None
    settings = tuple(selection.overrides)
    model = str(selection.model) if selection.model else None
    return FindingCounterexample(finding, selection.variant, selection.scope, settings, ident, steps, trace.loop, model)


def every_search() -> Iterator[tuple[str, FindingRun | OtherSearch]]:
    """Yield each search that breaks a property, once."""
    seen = set()
    for finding in packaged_findings():
        for run in breaking_searches(finding):
            if (key := (finding.id, selection_of(run), shown_property(run))) not in seen:
                seen.add(key)
                yield finding.id, run


def still_followed(recorded: FindingCounterexample) -> bool:
    try:
        followed(recorded)
    except Outdated as fault:
        print(recorded.finding, fault, flush=True)
        return False
    return True


def main(only: Collection[str]) -> None:
    before = packaged_counterexamples() if FILE.exists() else {}
    recorded = {(one.finding, one.selection, one.breaks): one for ones in before.values() for one in ones}
    done: list[FindingCounterexample] = []
    for finding, run in every_search():
        old = recorded.get((finding, selection_of(run), shown_property(run)))
        unchanged = old is not None and finding not in only and still_followed(old)
        one = old if unchanged and old is not None else searched(finding, run)
        followed(one)
        done.append(one)
        if not unchanged:
            print(finding, one.variant, one.breaks, len(one.steps), flush=True)
            _write(done)
    _write(done)


def _write(done: Sequence[FindingCounterexample]) -> None:
    write_file(FILE, to_text(FindingCounterexamples(counterexamples=tuple(done)), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
