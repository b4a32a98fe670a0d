"""Random protocols: each engine and option finds what a plain search of the same functions finds.

Compared are counts, levels, the depth of each property, every state of each trace, fair waits without an end, and what
is answered after one word of a model has changed. `support/random_protocols.py` makes the models.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking.check import run_check
from elrcheck.checking.engines import SearchSubject, explore
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.source import ModelError
from elrcheck.lang.symmetry.alike_members import all_renamings, renamed
from support.level_folder import Folder
from support.plain_graph import PlainGraph, TooLarge
from support.random_protocols import RandomProtocol

pytestmark = pytest.mark.slow
SEEDS = (10, 14)
ENGINES: tuple[dict[str, Any], ...] = ({"workers": 1}, {"workers": 2}, {"engine": "numpy"}, {"engine": "reference"})
ROOM = 100_000
"""Bytes for the states of a search, doubled until a part of a level fits: most continue on disk."""
WORDS = (
    *(("all(", "any("), ("any(", "all("), (" < ", " <= "), (" and ", " or "), (" or ", " and "), ("== 0", "== 1")),
    *(("is None", "is not None"), ("Mode.A", "Mode.B"), ("int = 2", "int = 1"), ("int = 3", "int = 2")),
    *(("= True", "= False"), ("= False", "= True"), (" - {", " | {"), ("(0, n)", "(1, n)"), ("!=", "==")),
)
"""A part of a model, and what it is changed to."""


class Case:
    """A random protocol in a file, loaded, and explored by its plain functions."""

    def __init__(self, protocol: RandomProtocol, file: Path, text: str) -> None:
        file.write_text(text)
        self.protocol, self.file = protocol, file
        selected = resolve(Selection(model=file))
        self.config: Any = selected.config
        self.model: Model = selected.declared.whole()
        functions = SimpleNamespace(**self.model.init.source.__globals__)
        self.plain = PlainGraph(functions, self.config, protocol.actions)

    def search(self, **options: Any) -> SearchOutcome:
        request = CheckRequest(Selection(model=self.file), run_dir=self.file.parent, **options)
        checks = select_properties(self.model, ())
        return explore(SearchSubject(self.model, self.config, checks, symmetry=request.symmetry), request, Silent())

    def follow(self, outcome: SearchOutcome) -> None:
        """Every trace is one of the plain graph, as short as it may be, and ends in what it is about."""
        plain = self.plain
        for ident, states in outcome.traces.items():
            assert len(states) == plain.first[ident] + 1
            numbers = [plain.numbers[state] for state in states]
            assert numbers[0] < plain.levels[0]
            for before, after in itertools.pairwise(numbers):
                assert after in {target for _, target in plain.edges[before]}
            property = getattr(plain.module, ident.replace("-", ""))
            last = states[-2:] if property.__code__.co_argcount == 3 else states[-1:]
            assert bool(property(self.config, *last)) == ident.startswith("W")


def sizable(seed: int, folder: Path) -> Case:
    """The first protocol from this seed on that is neither tiny nor large, and whose numbers stay in range."""
    for number in itertools.count(1000 * seed):
        protocol = RandomProtocol(number)
        try:
            case = Case(protocol, folder / "protocol.py", protocol.text)
        except TooLarge:
            continue
        if len(case.plain.numbers) > 50 and not case.plain.overflow:
            return case
    raise AssertionError("there is one")


@pytest.fixture(scope="module", params=SEEDS)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return sizable(request.param, tmp_path_factory.mktemp("random"))


def summary(counted: SearchOutcome | PlainGraph) -> tuple[Any, ...]:
    """What all searches agree on."""
    sizes = counted.counts if isinstance(counted, PlainGraph) else (counted.generated, counted.distinct, counted.levels)
    return *sizes, counted.cut, counted.deadlocks, dict(sorted(counted.first.items()))


def test_engines_agree(case: Case) -> None:
    details = []
    for options in ENGINES:
        outcome = case.search(**options)
        assert outcome.complete and summary(outcome) == summary(case.plain), options
        assert outcome.traces.keys() == case.plain.first.keys()
        case.follow(outcome)
        details.append((outcome.new_states, outcome.enabled, outcome.beyond, outcome.variables))
    assert details[0] == details[1] == details[2]


@pytest.mark.parametrize("bits", [0, 64, 128])
def test_states_on_disk_and_fingerprints(case: Case, bits: int, tmp_path: Path) -> None:
    program = lower(case.model, case.config, select_properties(case.model, ())).program
    room: int | None = None
    for folder in map(str, itertools.count()):
        settings = SearchSettings(Limits(memory=room), fingerprint=bits, keeper=Folder(tmp_path / folder))
        result = Search(program, settings).run(None, "complete")
        if result.reason == f"--memory {room}":  # not even a part of a level has room
            assert not result.complete and room is not None
            room *= 2
            continue
        first = {program.checks[number].name: depth for number, depth in result.first.items()}
        sizes = (result.generated, result.distinct, result.levels, sum(result.cut), result.deadlocks)
        assert (*sizes, dict(sorted(first.items()))) == summary(case.plain)
        if room is not None:
            return
        room = ROOM


def test_a_limit_is_never_a_pass(case: Case) -> None:
    plain, chance = case.plain, random.Random(len(case.plain.numbers))
    for options in ({}, {"engine": "numpy"}):
        for depth in (0, 1, len(plain.levels) - 2):
            outcome = case.search(limits=Limits(max_depth=depth), **options)
            assert not outcome.complete and list(outcome.levels) == plain.levels[: depth + 1]
            reached = {ident: at for ident, at in plain.first.items() if at <= depth}
            assert {ident: at for ident, at in outcome.first.items() if at <= depth} == reached
            case.follow(outcome)
        most = chance.randint(2, len(plain.numbers))
        outcome = case.search(limits=Limits(max_states=most), **options)
        assert not outcome.complete and outcome.reason == f"--max-states {most}"
        case.follow(outcome)
        broken = [depth for ident, depth in plain.first.items() if ident.startswith("P")]
        outcome = case.search(stop_at_first=True, **options)
        assert outcome.complete == (not broken)
        depths = [depth for ident, depth in outcome.first.items() if ident.startswith("P")]
        assert min(depths, default=None) == min(broken, default=None)
        case.follow(outcome)


@pytest.mark.parametrize("seed", SEEDS)
def test_up_to_renaming(seed: int, tmp_path: Path) -> None:
    case = next(each for each in cases(seed, tmp_path) if each.protocol.symmetric)
    renamings = list(all_renamings(case.model.symmetric_sorts, case.config))
    orbits = {frozenset(renamed(state, case.model.state_ty, to) for to in renamings) for state in case.plain.numbers}
    outcomes = [case.search(symmetry=True, **options) for options in ENGINES]
    for outcome in outcomes:
        assert (outcome.distinct, len(outcome.levels)) == (len(orbits), len(case.plain.levels))
        assert outcome.first == case.plain.first
        assert outcome.levels == outcomes[0].levels
        case.follow(outcome)


def cases(seed: int, folder: Path) -> Iterator[Case]:
    return (sizable(number, folder) for number in itertools.count(seed))


def test_waits_without_an_end(case: Case) -> None:
    """Against a search for strongly connected parts in the plain graph; every lasso is replayed before it is shown."""
    expected = {
        f"V-{number}": "violated" if case.plain.refuted(f"V{number}", case.protocol.fair) else "holds"
        for number in (1, 2)
    }
    for engine in ("local", "reference"):
        request = CheckRequest(
            Selection(model=case.file), liveness=True, engine=engine, run_dir=case.file.parent / engine
        )
        report = run_check(request, Silent())
        assert {each.id: each.verdict for each in report.properties} == expected


def changed(text: str, chance: random.Random) -> str:
    """The model with one of `WORDS` changed, in one place."""
    places = [(at.start(), old, new) for old, new in WORDS for at in re.finditer(re.escape(old), text)]
    body = [place for place in places if place[0] > text.index("@config")]
    at, old, new = chance.choice(body)
    return text[:at] + new + text[at + len(old) :]


def test_a_changed_model_does_not_get_an_old_answer(case: Case, own_store: Path, tmp_path: Path) -> None:
    chance, compared = random.Random(case.protocol.text), 0
    texts = [case.protocol.text, *(changed(case.protocol.text, chance) for _ in range(8)), case.protocol.text]
    for text in texts:
        try:
            again = Case(case.protocol, tmp_path / "protocol.py", text)
        except (TooLarge, ModelError, ArithmeticError, LookupError, TypeError, ValueError):
            continue  # a change may leave no model
        if again.plain.overflow:
            continue
        for _ in range(2):
            outcome = again.search(kept=True, workers=1)
            assert summary(outcome) == summary(again.plain), text
            again.follow(outcome)
        assert outcome.kept is not None
        compared += 1
    assert compared > 4
