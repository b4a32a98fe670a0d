"""Searches the hunt and asks for the cause of each violation: `python docs/search_hunt.py [NAME ..]`.

Without names it searches what laboratory/evidence/hunted.json has of an older model or without leaving out every
repair, then what it does not have yet, and writes the file after each configuration: a run that was stopped resumes.
Until then an older result stays in the file. `python docs/generate_pages.py` writes docs/findings/hunt.md from it. With
names, such as `reassign/crash@code_4_0` or `unregister/*`, it searches only these, leaves out the repairs that the file
lists, prints the results and compares them with the file, which does not change: exit 1 if they differ.
"""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from elrcheck.base.atomic import write_file
from elrcheck.base.requests import Limits, Selection
from elrcheck.base.roundtrip import to_text
from elrcheck.catalogue.evidence.conformance import model_digest
from elrcheck.checking.suite.suite_file import SuiteCase
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.family import KernelFamily
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.invariants.modules import load_checked_model
from elrcheck.laboratory.evidence.hunted import (
    NAME,
    Hunt,
    HuntedCase,
    HuntResult,
    attributed,
    hunted_cases,
    is_whole,
    packaged_hunt,
)
from elrcheck.lang.lowering.open_numbers import budgets_of
from elrcheck.model.config import Config
from elrcheck.traces.replay import replay_finding

FILE = Path(__file__).resolve().parents[1] / "laboratory" / "evidence" / NAME
LIMITS = Limits(max_states=20_000_000, time_budget=300.0)


class Bench:
    """Searches of the same model; a configuration is searched once, by the kernel of its operation."""

    def __init__(self) -> None:
        self.model = load_checked_model()
        self.done: dict[Config, HuntResult] = {}
        self.widest = tuple(widest_of_operations())
        self.families: dict[Config, KernelFamily] = {}

    def search_result(self, selection: Selection) -> HuntResult:
        config = resolve(selection).config
        if config not in self.done:
            family, _, result = self._searched(config)
            broken = {family.program.checks[check].name: depth for check, depth in result.first.items()}
            self.done[config] = HuntResult(dict(sorted(broken.items(), key=number)), result.complete, result.distinct)
        return self.done[config]

    def last_steps(self, selection: Selection) -> dict[str, str]:
        """Return the last action of a shortest trace to each violation, which the plain model has followed."""
        config = resolve(selection).config
        family, search, result = self._searched(config)
        fns = {fn.ident: fn for fn in self.model.always}
        steps = {}
        retrace = Retrace(search, order=family.order(config))
        for check, rows in retrace.traces(list(result.first)).items():
            name, states = family.program.checks[check].name, list(map(family.decode, rows))
            labels = replay_finding(self.model, config, fns[name], states).labels
            steps[name] = labels[-1].action if labels else ""
        return steps

    def _searched(self, config: Config) -> tuple[KernelFamily, Search, SearchResult]:
        bounds = min(
            (most for most in self.widest if all(getattr(config, name) <= most[name] for name in most)),
            key=lambda most: sum(most.values()),
        )
        widest = replace(config, **bounds)
        if widest not in self.families:
            budgets = {name: 0 for name, most in bounds.items() if most}
            cache = KernelCache()
            self.families[widest] = KernelFamily(self.model, widest, self.model.always, least=budgets, cache=cache)
        family = self.families[widest]
        numbers = {parameter.name: getattr(config, parameter.name) for parameter in family.lowered.parameters}
        search = family.search(numbers, SearchSettings(LIMITS))
        return family, search, search.run(None, "complete")


def widest_of_operations() -> Iterator[dict[str, int]]:
    """For each operation of the hunt, how far its configurations use each budget at most."""
    operations: dict[str, list[Config]] = {}
    for case in hunted_cases():
        operations.setdefault(short(case).partition("/")[0], []).append(case.selected.config)
    for configs in operations.values():
        used = sorted(budgets_of(load_checked_model()))
        yield {name: max(getattr(config, name) for config in configs) for name in used}


def number(item: tuple[str, int]) -> int:
    return int(item[0].removeprefix("P-"))


def case_text(case: HuntedCase) -> str:
    parts = [f"{each.name}: {', '.join(each.reasons)}" for each in case.violations if each.explained]
    parts += [f"{each.name}: NOT EXPLAINED ({each})" for each in case.violations if not each.explained]
    note = "" if case.complete else " (not complete)"
    return f"{case.name}{note}: {'; '.join(parts) or 'holds'} {case.introduced or ''}".rstrip()


def add_missing(bench: Bench) -> None:
    """Search what is incomplete or of an older model, then what the file lacks, and add each to the file."""
    digest = model_digest()
    every = {short(case): case for case in hunted_cases()}
    done = {one.name: one for one in (packaged_hunt().cases if FILE.exists() else ()) if one.name in every}
    current = {name for name, one in done.items() if one.model == digest and is_whole(one, every[name])}
    for name in sorted(every.keys() - current, key=lambda name: (name not in done, list(every).index(name))):
        done[name] = structs.replace(attributed(every[name], bench.search_result, bench.last_steps), model=digest)
        print(case_text(done[name]), flush=True)
        hunt = Hunt(datetime.now(UTC).date().isoformat(), tuple(done[name] for name in every if name in done))
        write_file(FILE, to_text(hunt, indent=1) + "\n")


def repeat(names: Sequence[str], bench: Bench) -> int:
    """Search the configurations of these names again, and compare with the file."""
    cases = [case for case in hunted_cases() if any(fnmatch.fnmatchcase(short(case), name) for name in names)]
    if not cases:
        print(f"no configuration of the hunt is called {' or '.join(names)}", file=sys.stderr)
        return 2
    stored = {case.name: case for case in packaged_hunt().cases} if FILE.exists() else {}
    differ = []
    for case in cases:
        old = stored.get(short(case))
        repeated = attributed(case, bench.search_result, bench.last_steps, old.left_out if old else None)
        print(case_text(repeated), flush=True)
        if old is None or structs.replace(repeated, model=old.model) != old:
            differ.append(repeated.name)
    print(f"differ from the file: {', '.join(differ)}" if differ else "as in the file")
    return 1 if differ else 0


def short(case: SuiteCase) -> str:
    return case.name.partition("/")[2]


def main(names: Sequence[str]) -> int:
    if names:
        return repeat(names, Bench())
    add_missing(Bench())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
