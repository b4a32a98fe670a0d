"""Requests of what proves, changes and guards the model: proofs, mutations, gate, TLC (see `requests`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.base.requests import GateFailOn, ProofAssumption, ProofSolver, Selection


@dataclass(frozen=True)
class ProveRequest:
    """Prove properties by induction. `timeout`: seconds per obligation; one that exceeds it is unknown.

    fresh: prove again what an earlier run has proved.
    certificate: folder for what was proved; solver: ask this one again about everything that was proved.
    surviving: where a lemma is not preserved, find out what the others prove.
    needed: find out which obligation is open without each lemma.
    assumed: names of assumptions on steps, without which the claim would be false or is not proved.
    """

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None
    fresh: bool = False
    certificate: Path | None = None
    solver: ProofSolver | None = None
    surviving: bool = False
    needed: bool = False
    assumed: tuple[ProofAssumption, ...] = ()


@dataclass(frozen=True)
class CertificateRequest:
    """Check a certificate; solver: discharge it by this one. `timeout`: seconds per obligation."""

    folder: Path
    solver: ProofSolver | None = None
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class MutateRequest:
    """Mutate the model. `timeout` (in seconds) and `max_states` limit each search.

    rules: change the rules one expression at a time: of `functions` (empty for all), or a `sample` of these
    changes drawn by `seed`, over the `configurations` of the suite (empty for all small ones); controller:
    ask `prove --controller` too; answers: compare with Kafka's packaged answers first; proof: put
    what a property catches to the proof by induction. kept, fresh: as of `CheckRequest`.
    hazards: ids, empty for all, None for no hazard at all. guards: drop the guards of `actions` (empty for
    all), one by one, in `selection`. properties: restrict the expected or protected properties to these.
    """

    hazards: tuple[str, ...] | None = ()
    guards: bool = False
    actions: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None
    max_states: int | None = None
    run_dir: Path | None = None
    rules: bool = False
    functions: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 1
    controller: bool = True
    answers: bool = True
    proof: bool = False
    kept: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class ControllerRequest:
    """Prove the controller's rules. `rules` are ids, names or globs, empty for all.

    `brokers` None means as many as the scope has.
    """

    selection: Selection = field(default_factory=Selection)
    all_variants: bool = False
    brokers: int | None = None
    rules: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class NewEntry:
    """An entry to add to a baseline. suite: instead of one configuration, some of the suite."""

    name: str
    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    liveness: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    proof: bool = False
    teeth: bool = False
    controller: bool = False
    suite: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateRequest:
    """Rerun entries of a baseline: those in `only` (empty for all), or `add` alone.

    update: write the results into the baseline. fail_on: what fails the gate, from GATE_FAIL_ON.
    kept: believe what earlier runs have left in the store; otherwise everything is made anew.
    """

    baseline: Path
    only: tuple[str, ...] = ()
    add: NewEntry | None = None
    update: bool = False
    fail_on: tuple[GateFailOn, ...] = ("drift",)
    workers: int | None = None
    kept: bool = False


@dataclass(frozen=True)
class TlcRequest:
    """Run TLC to confirm `run`, a run directory or a stored trace; `count` compares state counts instead."""

    selection: Selection = field(default_factory=Selection)
    run: Path | None = None
    count: bool = False
    jar: Path | None = None
    timeout: float | None = None
