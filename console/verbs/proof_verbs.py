"""Verbs that test the rules themselves: prove and mutate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.option import Option, options_of
from elrcheck.console.output import CASES, LOCATED_CASES, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import on_command_line, reject_given, verb

if TYPE_CHECKING:
    from elrcheck.base.progress import Progress
    from elrcheck.base.proof_requests import (
        AllVariants,
        Brokers,
        Ethos,
        MutateRequest,
        ProofFolder,
        ProveRequest,
        Signatures,
    )
    from elrcheck.results.mutation_report import MutateReport

BY_INDUCTION = ("certificate", "solver", "surviving", "needed", "any_size", "liveness", "reductions", "assumed")


@verb(requests="proof_requests", formats=LOCATED_CASES)
def prove(
    shell: Shell,
    request: ProveRequest,
    output: Output,
    controller: Annotated[
        bool, Option("Prove instead that every controller event preserves the rules CT-1 to CT-20.")
    ] = False,
    all_variants: AllVariants = False,
    brokers: Brokers = None,
    check_certificate: Annotated[
        Path | None, Option("Prove nothing; check whether this certificate fits the present model.", kind="folder")
    ] = None,
    proofs: ProofFolder = None,
    ethos: Ethos = None,
    signatures: Signatures = None,
) -> ExitCode:
    """Prove the properties by induction, with unbounded epochs (Z3).

    With --controller, proves that every controller event preserves the rules CT-1 to CT-20 from any legal
    registration, reachable or not; --property then selects rules.
    """
    from elrcheck.base.proof_requests import CertificateRequest, ControllerRequest

    if not controller and (all_variants or brokers is not None):
        option = "--all-variants" if all_variants else "--brokers"
        raise UsageFault("usage-controller", f"{option} needs --controller", help="or use --set")
    if check_certificate is not None:
        from elrcheck.proving.check_certificate import run_check_certificate

        of_both = {one.name for one in options_of(CertificateRequest)} | {"fresh"}
        of_a_proof = [one.name for one in options_of(type(request)) if one.name not in of_both]
        reject_given((*of_a_proof, "controller"), "a proof, and --check-certificate makes none")
        certificate = CertificateRequest(
            check_certificate,
            request.solver,
            request.workers,
            request.timeout,
            request.selection,
            proofs,
            ethos,
            signatures,
            request.fresh,
        )
        return shell.run(lambda progress: run_check_certificate(certificate, progress, partial=True), output)
    reject_given(("proofs",), "a certificate, with --check-certificate")
    if not controller:
        from elrcheck.proving.prove import run_prove

        return shell.run(lambda progress: run_prove(request, progress, partial=True), output)
    from elrcheck.kafka.controller_proof import run_controller

    if request.selection.source is not None:
        help = "leave out --model and --patch"
        raise UsageFault("usage-controller", "--controller is about Kafka's controller", help=help)
    reject_given(BY_INDUCTION, "a proof by induction, without --controller")
    if request.fresh:
        raise UsageFault("usage-controller", "--fresh does nothing with --controller", help="leave it out")
    rules = ControllerRequest(
        request.selection, all_variants, brokers, request.properties, request.workers, request.timeout
    )
    return shell.run(lambda progress: run_controller(rules, progress), output)


@verb(requests="proof_requests", formats=CASES)
def mutate(shell: Shell, request: MutateRequest, output: Output) -> ExitCode:
    """Break a rule on purpose and see which property catches it.

    Runs every hazard with and without its one change; with --guards, removes each guard of each action once
    instead, and with --rules changes one expression at a time.  Exits with 1 when no property
    catches a hazard, or when a changed rule goes unnoticed and no recorded reason explains why.
    """
    guards = request.guards or bool(request.actions)
    rules = request.rules or bool(request.functions)
    if rules and (guards or request.hazards):
        raise UsageFault("usage-option", "--rules runs alone: leave out --hazard, --guards and --action")
    of_model = rules and request.selection.source is not None
    if not guards and not of_model:
        reject_given(
            ("variant", "scope", "overrides", "model", "patch"), "--guards, or --rules with --model or --patch"
        )
    if of_model:
        reject_given(("controller", "answers", "proof"), "Kafka's partition, without --model and --patch")
        if request.configurations:
            reject_given(("scope",), "--rules without --configuration, which names scopes too")
    if not rules:
        reject_given(("configurations", "sample", "seed", "controller"), "--rules")
        if guards and not request.hazards:
            reject_given(("proof",), "--rules or --hazard")
    elif not on_command_line("max_states"):
        request = replace(request, max_states=None)
    hazards = request.hazards if request.hazards or not (guards or rules) else None
    request = replace(request, hazards=hazards, guards=guards, rules=rules, kept=True)
    return shell.run(lambda progress: _run_mutate(request, progress), output)


def _run_mutate(request: MutateRequest, progress: Progress) -> MutateReport:
    """Run the kind of mutation that the request selects: rules, guards, or hazards of Kafka's partition."""
    if request.rules and request.selection.source is not None:
        from elrcheck.mutation.rule_run import run_model_rules

        return run_model_rules(request, progress)
    if request.rules:
        from elrcheck.laboratory.rule_survey import run_changed_rules

        return run_changed_rules(request, progress)
    if request.hazards is None:
        from elrcheck.mutation.guard_survey import run_guards

        return run_guards(request, progress)
    from elrcheck.kafka.mutation.hazard_run import run_hazards

    return run_hazards(request, progress)
