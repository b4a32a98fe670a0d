"""Preferences that make a counterexample easy to read, the most important first.

They do not affect the result: a solver model is pinned to each preference in turn where possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from elrcheck.model.config import Config
from elrcheck.proof.symbolic_values import Scalar, Symbolic

# Suffix of a path -> the least surprising values, best first.
_USUAL: dict[str, tuple[Any, ...]] = {
    "elr_enabled": (True,),
    "topic_min_isr": (-1,),
    "cluster_min_isr": (2, 1, 3),
    "registered": (True,),
    "fenced": (False,),
    "in_controlled_shutdown": (False,),
    "epoch": (1,),
    "presented": (0,),
    "value": (1, 2),
}


def wishes(config: Config, situation: Symbolic, event: Symbolic, knobs: Mapping[str, Any]) -> Iterator[Any]:
    """Return the preferences as formulas over the symbolic situation and event."""
    settings = [s for s in situation.scalars if s.path.startswith("s.settings.")]
    replicas = [s for s in situation.scalars if s.path.startswith("s.partition.replicas")]
    rest = [s for s in situation.scalars if s not in settings and s not in replicas]
    for name, term in knobs.items():
        yield term == getattr(config, name)
    for scalar in (*settings, *_by_interest(rest)):
        yield from _wish(scalar)
    yield from _short_and_ascending(replicas)
    for scalar in event.scalars:
        if scalar.path.startswith("e.replicas"):
            continue
        yield from _wish(scalar)
    yield from _short_and_ascending([s for s in event.scalars if s.path.startswith("e.replicas")])


def _by_interest(scalars: list[Scalar]) -> list[Scalar]:
    """Sort fields that rarely matter first, so that they are pinned before ISR and ELR."""
    order = (".adding", ".removing", ".last_known", ".recovery", "_epoch", ".in_controlled_shutdown")
    quiet = [s for part in order for s in scalars if part in s.path]
    return list(dict.fromkeys(quiet + scalars))


def _wish(scalar: Scalar) -> Iterator[Any]:
    if isinstance(scalar.term, list):
        yield from (term == False for term in reversed(scalar.term))  # noqa: E712
        return
    usual = _USUAL.get(scalar.path.rpartition(".")[2])
    if usual is None:
        usual = (-1,) if scalar.ty.kind == "opt" else (False,) if scalar.ty.kind == "bool" else (0,)
    yield from (scalar.term == value for value in usual)


def _short_and_ascending(slots: list[Scalar]) -> Iterator[Any]:
    """Prefer a short list, ascending from broker 0."""
    for length in range(len(slots)):
        yield slots[0].term <= length
    for k, slot in enumerate(slots[1:]):
        yield slot.term == k
