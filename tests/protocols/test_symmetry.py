"""Protocols that others have counted up to the names of replicas and values: as many states here, up to those names."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.lang.plain import PlainModel
from support.places import protocol as file_of

SetKey = tuple[Any, ...]


def _simplified_paxos(s: Any, name: Callable[[int | None], int], replicas: range) -> SetKey:
    """What a state is, whatever its replicas are called. name: of a value."""
    rows = sorted(
        (
            s.promised[n],
            s.accepted[n],
            name(s.value[n]),
            sorted((m.ballot, m.accepted, name(m.value)) for m in s.promises if m.replica == n),
            sorted((m.ballot, name(m.value)) for m in s.acceptances if m.replica == n),
        )
        for n in replicas
    )
    return name(s.decision), sorted(s.prepared), sorted((m.ballot, name(m.value)) for m in s.proposals), rows


@pytest.mark.slow
def test_up_to_names_there_are_as_many_states_as_tlc_counts() -> None:
    """One of each set of symmetric states is searched, as by TLC with SYMMETRY: generated, distinct, diameter."""
    selected = resolve(Selection(model=file_of("simplified_paxos")))
    config: Any = selected.config
    plain = PlainModel(selected.declared.whole(), config)
    namings = [
        dict(enumerate(order)) | {None: -1} for order in itertools.permutations(range(vars(config).get("values", 1)))
    ]
    replicas = range(config.replicas)

    def key(state: Any) -> str:
        return str(min(_simplified_paxos(state, naming.__getitem__, replicas) for naming in namings))

    level: list[Any] = list(plain.starts)
    reached = {key(state) for state in level}
    generated, diameter = len(level), 0
    while level:
        diameter += 1
        fresh = []
        for state in level:
            for _, after in plain.successors(state):
                generated += 1
                name = key(after)
                if name not in reached:
                    reached.add(name)
                    fresh.append(after)
        level = fresh
    assert (generated, len(reached), diameter) == (13290, 1207, 22)


@pytest.mark.parametrize(
    ("protocol", "settings", "counts"),
    [
        ("simplified_paxos", {}, (13290, 1207, 22)),
        ("multi_paxos", {}, (735918, 343796, 28)),
        ("fast_paxos", {}, (320053, 25617, 22)),
        ("paxos_voting", {}, (4357, 686, 16)),
        ("two_phase", {}, (318, 80, 11)),
        ("two_phase", {"rms": 6}, (4328, 553, 20)),
    ],
)
def test_a_search_up_to_renaming_counts_them(
    protocol: str, settings: dict[str, int], counts: tuple[int, int, int]
) -> None:
    report = elrcheck.check(model=file_of(protocol), settings=settings, symmetry=True)
    counted = report.search
    assert report.verdict == "holds"
    assert (counted.generated, counted.distinct, counted.diameter) == counts


@pytest.mark.tlc
@pytest.mark.parametrize(
    "protocol",
    ["two_phase", *(pytest.param(each, marks=pytest.mark.slow) for each in ("paxos_voting", "simplified_paxos"))],
)
def test_tlc_counts_the_same_with_symmetry(protocol: str, invoke: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = invoke("tlc", "--count", "--symmetry", "--model", str(file_of(protocol)), "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (0, "same")
