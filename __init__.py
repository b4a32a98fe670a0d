"""elrcheck: a toolkit for protocols written in Python, and the verification of Apache Kafka's partition (KIP-966).

The functions are those of the command line, and return what it prints as objects (docs/api.md). They are imported when
they are first used: `import elrcheck` alone loads nothing. `__init__.pyi` has their signatures.
"""

_PLACES = {
    "api.functions": (
        "assess",
        "audit",
        "check",
        "check_certificate",
        "prove",
        "prove_controller",
        "replay",
        "risk",
        "scenario",
        "simulate",
        "start",
        "sweep",
        "what_if",
    ),
    "api.model_walk": ("ModelWalk",),
    "api.result_types": (
        "AssessResult",
        "AuditResult",
        "CertificateResult",
        "CheckResult",
        "ControllerResult",
        "ExplainResult",
        "ProofResult",
        "Result",
        "RiskResult",
        "ScenarioResult",
        "SimulationResult",
        "SweepResult",
        "TraceResult",
        "WhatIfResult",
    ),
    "base.errors": ("ElrError", "EnvironmentFault", "ExitCode", "Interrupted", "NothingChecked", "UsageFault"),
    "base.requests": ("SparkRequest",),
    "base.version": ("__version__",),
}

__all__ = sorted(name for names in _PLACES.values() for name in names)  # `__init__.pyi` lists them


def __getattr__(name):
    place = next((place for place, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{place}"), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
