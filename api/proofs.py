"""`prove`, `prove_controller` and `check_certificate`: the proofs of the command line, called from Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from elrcheck.api.arguments import (
    Place,
    Settings,
    Words,
    at_least,
    more_than_nothing,
    one_of,
    path,
    selection,
    told,
    words,
)
from elrcheck.api.result_types import CertificateResult, ControllerResult, ProofResult, as_result
from elrcheck.base.proof_requests import CertificateRequest, ControllerRequest, ProveRequest
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, ProofAssumption, ProofSolver


def prove(
    variant: str = DEFAULT_VARIANT,
    scope: Place = DEFAULT_SCOPE,
    settings: Settings | None = None,
    *,
    properties: Words = (),
    workers: int | None = None,
    timeout: float | None = None,
    fresh: bool = False,
    certificate: Place | None = None,
    solver: ProofSolver | None = None,
    surviving: bool = False,
    needed: bool = False,
    assumed: Iterable[ProofAssumption] = (),
    progress: bool = False,
) -> ProofResult:
    """Prove the properties by induction, with unbounded epochs, as `elrcheck prove` does.

    timeout: seconds for each obligation. fresh: prove again what an earlier run has proved. assumed: what
    `--assume` names.
    """
    from elrcheck.proving.prove import run_prove

    chosen = tuple(assumed)
    for name in chosen:
        one_of("assumed", name, get_args(ProofAssumption))
    if solver is not None:
        one_of("solver", solver, get_args(ProofSolver))
    at_least("workers", workers, 1)
    more_than_nothing("timeout", timeout)
    request = ProveRequest(
        selection(variant, scope, settings),
        words(properties),
        workers,
        timeout,
        fresh,
        path(certificate),
        solver,
        surviving,
        needed,
        chosen,
    )
    with told(progress) as shown:
        return as_result(ProofResult, run_prove(request, shown))


def prove_controller(
    variant: str = DEFAULT_VARIANT,
    scope: Place = DEFAULT_SCOPE,
    settings: Settings | None = None,
    *,
    all_variants: bool = False,
    rules: Words = (),
    brokers: int | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> ControllerResult:
    """Prove the rules of single controller steps from any legal registration: `elrcheck prove --controller`.

    rules: ids, names or globs; all by default. brokers: by default as many as the scope has. timeout: seconds
    for each obligation.
    """
    from elrcheck.proving.prove_controller import run_controller

    at_least("brokers", brokers, 1)
    at_least("workers", workers, 1)
    more_than_nothing("timeout", timeout)
    request = ControllerRequest(
        selection(variant, scope, settings), all_variants, brokers, words(rules), workers, timeout
    )
    with told(progress) as shown:
        return as_result(ControllerResult, run_controller(request, shown))


def check_certificate(
    folder: Place,
    *,
    solver: ProofSolver | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> CertificateResult:
    """Compare a certificate of `prove` with this source, and have a solver discharge it if one is named.

    As `elrcheck prove --check-certificate` does. timeout: seconds for each obligation.
    """
    from elrcheck.proving.check_certificate import run_check_certificate

    if solver is not None:
        one_of("solver", solver, get_args(ProofSolver))
    at_least("workers", workers, 1)
    more_than_nothing("timeout", timeout)
    request = CertificateRequest(Path(folder), solver, workers, timeout)
    with told(progress) as shown:
        return as_result(CertificateResult, run_check_certificate(request, shown))
