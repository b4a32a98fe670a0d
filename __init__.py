"""elrcheck: a model checker for the partition state of Apache Kafka's KRaft controller (KIP-966).

The functions are those of the command line, and return what it prints as objects (docs/api.md). They are
imported when they are first used: `import elrcheck` alone loads nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # which type checkers know; importing `typing` for it would cost more than all the rest
if TYPE_CHECKING:
    from elrcheck.api.proofs import check_certificate, prove, prove_controller
    from elrcheck.api.questions import audit, risk, what_if
    from elrcheck.api.result_types import (
        AuditResult,
        CertificateResult,
        CheckResult,
        ControllerResult,
        ProofResult,
        Result,
        RiskResult,
        SimulationResult,
        SweepResult,
        WhatIfResult,
    )
    from elrcheck.api.searches import check, simulate, sweep
    from elrcheck.base.errors import ElrError, EnvironmentFault, ExitCode, Interrupted, NothingChecked, UsageFault
    from elrcheck.base.requests import SparkRequest
    from elrcheck.base.version import __version__

__all__ = [
    "AuditResult",
    "CertificateResult",
    "CheckResult",
    "ControllerResult",
    "ElrError",
    "EnvironmentFault",
    "ExitCode",
    "Interrupted",
    "NothingChecked",
    "ProofResult",
    "Result",
    "RiskResult",
    "SimulationResult",
    "SparkRequest",
    "SweepResult",
    "UsageFault",
    "WhatIfResult",
    "__version__",
    "audit",
    "check",
    "check_certificate",
    "prove",
    "prove_controller",
    "risk",
    "simulate",
    "sweep",
    "what_if",
]

if not TYPE_CHECKING:  # a type checker would take it to mean that every name exists
    _PLACES = {
        "api.proofs": ("check_certificate", "prove", "prove_controller"),
        "api.questions": ("audit", "risk", "what_if"),
        "api.searches": ("check", "simulate", "sweep"),
        "base.errors": ("ElrError", "EnvironmentFault", "ExitCode", "Interrupted", "NothingChecked", "UsageFault"),
        "base.requests": ("SparkRequest",),
        "base.version": ("__version__",),
        "api.result_types": (
            "AuditResult",
            "CertificateResult",
            "CheckResult",
            "ControllerResult",
            "ProofResult",
            "Result",
            "RiskResult",
            "SimulationResult",
            "SweepResult",
            "WhatIfResult",
        ),
    }

    def __getattr__(name):
        place = next((place for place, names in _PLACES.items() if name in names), None)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f"{__name__}.{place}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
