"""Searches the hunt and asks for the cause of each violation: `python docs/search_hunt.py [NAME ..]`.

Writes catalogue/evidence/hunted.json, from which `python docs/generate_findings.py` makes
docs/findings/hunt.md. With names, such as `reassign/crash@code_4_0` or `unregister/*`, only these are
searched, with the repairs left out that the file names; what was found is printed and compared with the file,
which stays as it is: exit 1 if they differ.
"""

from __future__ import annotations

import fnmatch
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import to_data
from elrcheck.catalogue.conformance import model_digest
from elrcheck.catalogue.evidence.hunted import (
    NAME,
    Found,
    Hunt,
    HuntedCase,
    attributed,
    hunted_cases,
    packaged_hunt,
)
from elrcheck.catalogue.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache, default_cache
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits, SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.lower import Lowered, lower
from elrcheck.model.config import Config
from elrcheck.traces.replay import replay_finding

FILE = Path(__file__).resolve().parents[1] / "catalogue" / "evidence" / NAME
LIMITS = Limits(max_states=20_000_000, seconds=300.0)


class Bench:
    """Searches of the same model; a configuration is searched once."""

    def __init__(self) -> None:
        self.model = load_checked_model()
        self.done: dict[Config, Found] = {}

    def found(self, selection: Selection) -> Found:
        config = resolve(selection).config
        if config not in self.done:
            lowered, _, result = self._searched(config)
            broken = {lowered.program.checks[check].name: depth for check, depth in result.first.items()}
            self.done[config] = Found(
                dict(sorted(broken.items(), key=number)), result.complete, result.distinct
            )
        return self.done[config]

    def last_steps(self, selection: Selection) -> dict[str, str]:
        """The last action of a shortest trace to each violation, which the plain model has followed."""
        config = resolve(selection).config
        lowered, search, result = self._searched(config)
        fns = {fn.ident: fn for fn in self.model.always}
        found = {}
        for check, rows in Retrace(search).traces(list(result.first)).items():
            name, states = lowered.program.checks[check].name, list(map(lowered.decode, rows))
            labels = replay_finding(self.model, config, fns[name], states).labels
            found[name] = labels[-1].action if labels else ""
        return found

    def _searched(self, config: Config) -> tuple[Lowered, Search, SearchResult]:
        lowered = lower(self.model, config, self.model.always)
        search = Search(lowered.program, workers=1, cache=KernelCache(default_cache()), limits=LIMITS)
        return lowered, search, search.run(None, "complete")


def number(item: tuple[str, int]) -> int:
    return int(item[0].removeprefix("P-"))


def said(case: HuntedCase) -> str:
    parts = [f"{each.name}: {', '.join(each.reasons)}" for each in case.violations if each.explained]
    parts += [f"{each.name}: NOT EXPLAINED ({each})" for each in case.violations if not each.explained]
    note = "" if case.complete else " (not complete)"
    return f"{case.name}{note}: {'; '.join(parts) or 'holds'} {case.introduced or ''}".rstrip()


def main(names: Sequence[str]) -> int:
    wanted = [
        case
        for case in hunted_cases()
        if not names or any(fnmatch.fnmatchcase(case.name.partition("/")[2], name) for name in names)
    ]
    if not wanted:
        print(f"no configuration of the hunt is called {' or '.join(names)}", file=sys.stderr)
        return 2
    bench = Bench()
    done = []
    stored = {case.name: case for case in packaged_hunt().cases} if names and FILE.exists() else {}
    for case in wanted:
        old = stored.get(case.name.partition("/")[2])
        done.append(attributed(case, bench.found, bench.last_steps, old.left_out if old else None))
        print(said(done[-1]), flush=True)
    if not names:
        hunt = Hunt(datetime.now(UTC).date().isoformat(), model_digest(), tuple(done))
        write_file(FILE, json.dumps(to_data(hunt), indent=1) + "\n")
        return 0
    differ = [case.name for case in done if stored.get(case.name) != case]
    print(f"differ from the file: {', '.join(differ)}" if differ else "as in the file")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
