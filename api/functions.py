"""The functions of `import elrcheck`: the verbs of the command line, called from Python.

Most take a request, as the verb does. `from_request` turns its options into keywords, with their checks and
documentation; `__init__.pyi` has the same signatures for type checkers and editors.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from elrcheck.api.arguments import from_request
from elrcheck.api.model_walk import ModelWalk, walk_from, walk_of
from elrcheck.api.result_types import (
    AssessResult,
    AuditResult,
    CertificateResult,
    CheckResult,
    ControllerResult,
    ProofResult,
    RiskResult,
    ScenarioResult,
    SimulationResult,
    SweepResult,
    WhatIfResult,
    as_result,
)
from elrcheck.base.common_options import ModelFile, PatchFile
from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import AssessRequest, AuditRequest, Compare, Describe, RiskRequest
from elrcheck.base.option import Option
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import CertificateRequest, ControllerRequest, ProveRequest
from elrcheck.base.requests import CheckRequest, Selection, SimulateRequest, SweepRequest

Initial: TypeAlias = Annotated[int, Option("Number of the initial state, for a model with several", least=0)]
TracePath: TypeAlias = Annotated[
    Path, Option("The trace, in any notation that `elrcheck replay` reads", positional=True)
]


SOLVER = threading.Lock()
"""Held during a proof: a process has one Z3, which two threads may not use at once, so that one waits."""


@from_request
def check(request: CheckRequest, progress: Progress) -> CheckResult:
    """Explore every reachable state and check the properties, as `elrcheck check` does."""
    from elrcheck.checking.check import run_check

    request = replace(request, selected=request.selection != Selection(), kept=True)
    return as_result(CheckResult, run_check(request, progress))


@from_request
def simulate(request: SimulateRequest, progress: Progress) -> SimulationResult:
    """Walk at random through a scope, as `elrcheck simulate` does."""
    from elrcheck.commands.simulate import run_simulate

    return as_result(SimulationResult, run_simulate(request, progress))


@from_request
def sweep(request: SweepRequest, progress: Progress) -> SweepResult:
    """Check a grid of configurations, as `elrcheck sweep` does; the limits apply to each of them.

    The values of an axis are a list, or the text that `--sweep` takes, such as `1..3` or `code_*`.
    """
    from elrcheck.commands.sweep.sweep import run_sweep

    named = request.resume is None or bool(request.sweeps) or request.grid is not None
    return as_result(SweepResult, run_sweep(replace(request, named=named), progress))


@from_request
def prove(request: ProveRequest, progress: Progress) -> ProofResult:
    """Prove the properties by induction, with unbounded epochs, as `elrcheck prove` does."""
    from elrcheck.proving.prove import run_prove

    with SOLVER:
        return as_result(ProofResult, run_prove(request, progress))


@from_request
def prove_controller(request: ControllerRequest, progress: Progress) -> ControllerResult:
    """Prove the rules of single controller steps from any legal registration: `elrcheck prove --controller`."""
    from elrcheck.kafka.controller_proof import run_controller

    with SOLVER:
        return as_result(ControllerResult, run_controller(request, progress))


@from_request
def check_certificate(request: CertificateRequest, progress: Progress) -> CertificateResult:
    """Compare a certificate of `prove` with this source, and check it with a solver if one is named.

    As `elrcheck prove --check-certificate` does.
    """
    from elrcheck.proving.check_certificate import run_check_certificate

    with SOLVER:
        return as_result(CertificateResult, run_check_certificate(request, progress))


@from_request
def risk(request: RiskRequest, progress: Progress, describe: Describe = None, compare: Compare = ()) -> RiskResult:
    """Find the events after which a topic can lose data, as `elrcheck risk` does."""
    from elrcheck.kafka.risk.risk import run_risk
    from elrcheck.kafka.risk.settings_group import compared, described

    if describe is None:
        return as_result(RiskResult, run_risk(compared(request, compare), progress, ()))
    settings = (request.replication_factor, request.min_insync_replicas, request.first_partition)
    if compare or settings != (3, 1, False):
        raise UsageFault("usage-option", "`describe` has the settings of the topics: leave out the others")
    questions = described(request, describe)
    return as_result(RiskResult, run_risk(questions.requests, progress, questions.unread, questions.not_searched))


@from_request
def assess(request: AssessRequest, progress: Progress) -> AssessResult:
    """List the findings known to lose data with a release and its settings, as `elrcheck assess` does."""
    from elrcheck.kafka.assess.assess import run_assess

    return as_result(AssessResult, run_assess(request, progress))


@from_request
def audit(request: AuditRequest, progress: Progress) -> AuditResult:
    """Check the partitions of a real cluster, in its metadata logs or live, as `elrcheck audit` does."""
    from elrcheck.kafka.audit.audit import run_audit

    if bool(request.paths) == (request.bootstrap is not None):
        code = "usage-option" if request.paths else "usage-missing"
        raise UsageFault(code, "give paths, or `bootstrap`, and not both")
    if request.client_config is not None and request.bootstrap is None:
        raise UsageFault("usage-option", "`client_config` needs `bootstrap`", where="client_config")
    return as_result(AuditResult, run_audit(request, progress))


@from_request
def start(selection: Selection, progress: Progress, initial: Initial = 0) -> ModelWalk:
    """Return a walk through a model: `step` takes a step, `explain` explains why one is not enabled."""
    return walk_from(selection, initial)


@from_request
def replay(file: TracePath, progress: Progress, model: ModelFile = None, patch: PatchFile = None) -> ModelWalk:
    """Return a stored trace as a walk. Raises UsageFault if the model refuses one of its steps."""
    from elrcheck.stored_traces.recorded import subject_of
    from elrcheck.traces.loaded import NamedSelection

    selection = Selection(model=model, patch=patch)
    return walk_of(subject_of(file, None, NamedSelection(selection)), selection)


def scenario(name: str) -> ScenarioResult:
    """Replay a scenario in every variant that it names, as `elrcheck scenario` does.

    name: an id, such as E-6, or a TOML file.
    """
    from elrcheck.catalogue.lookup import find
    from elrcheck.kafka.scenario import run_scenario

    file = name if name.endswith(".toml") else find(name, "scenarios")["source"]
    return as_result(ScenarioResult, run_scenario(file))


def what_if(question: Mapping[str, Any]) -> WhatIfResult:
    """Return the controller's decision; question and answer have the form of `elrcheck what-if`.

    Brokers may be numbers, lists may be tuples. If the controller refuses the request, the answer names Kafka's error.
    Raises UsageFault with the path of the field for a malformed question.
    """
    from elrcheck.kafka.what_if.ask import answer

    try:
        document = json.loads(json.dumps(question, default=list))
    except (TypeError, ValueError) as fault:
        raise UsageFault("json-malformed", f"a question must be like JSON: {fault}") from fault
    if not isinstance(document, dict):
        raise UsageFault("json-malformed", f"a question is a mapping, not {type(question).__name__}")
    return WhatIfResult(**answer(document))
