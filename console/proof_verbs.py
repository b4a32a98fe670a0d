"""Verbs that test the rules themselves: prove and mutate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.requests import ProofAssumption, ProofSolver
from elrcheck.console.help import Verb
from elrcheck.console.option_values import duration
from elrcheck.console.options import (
    EXIT_CODES,
    case_options,
    chosen_selection,
    fresh_option,
    located_options,
    mutation_options,
    property_option,
    reject_given,
    selection_options,
    workers_option,
)
from elrcheck.console.shell import Shell


@click.command(cls=Verb, epilog=EXIT_CODES)
@selection_options
@property_option
@workers_option
@click.option(
    "--timeout", metavar="30s|5m", type=duration, help="Time limit of each obligation; one that reaches it is unknown."
)
@click.option("--fresh", is_flag=True, help="Prove again what an earlier run with the same rules has proved.")
@click.option(
    "--controller", is_flag=True, help="Prove instead that every controller event preserves the rules CT-1 to CT-20."
)
@click.option("--all-variants", is_flag=True, help="With --controller: prove every variant.")
@click.option(
    "--brokers",
    metavar="N",
    type=click.IntRange(1, 8),
    help="With --controller: number of brokers; by default that of the scope.",
)
@click.option(
    "--assume",
    "assumed",
    multiple=True,
    type=click.Choice(get_args(ProofAssumption)),
    help="Also cover unclean elections and recoveries, under this assumption on who wins.",
)
@click.option(
    "--certificate",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write what was proved as SMT-LIB text into this folder.",
)
@click.option(
    "--check-certificate",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Prove nothing: say whether this certificate fits the model as it is now.",
)
@click.option(
    "--solver",
    type=click.Choice(get_args(ProofSolver)),
    help="Then ask this solver again about everything that was proved, or is in the certificate.",
)
@click.option(
    "--surviving", is_flag=True, help="Where a lemma is not preserved, say which properties the others still prove."
)
@click.option("--needed", is_flag=True, help="Say of each lemma which obligation is open without it.")
@located_options
@click.pass_context
def prove(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    properties: tuple[str, ...],
    workers: int | None,
    timeout: float | None,
    fresh: bool,
    controller: bool,
    all_variants: bool,
    brokers: int | None,
    certificate: Path | None,
    check_certificate: Path | None,
    solver: ProofSolver | None,
    surviving: bool,
    needed: bool,
    assumed: tuple[ProofAssumption, ...],
    **options: Any,
) -> ExitCode:
    """Prove the properties by induction, with unbounded epochs (Z3).

    With --controller, proves that every controller event preserves the rules CT-1 to CT-20 from any legal
    registration, reachable or not; --property then selects rules.
    """
    shell: Shell = ctx.obj
    selection = chosen_selection(options)
    if not controller and (all_variants or brokers is not None):
        option = "--all-variants" if all_variants else "--brokers"
        raise UsageFault("usage-controller", f"{option} needs --controller", help="or use --set")
    if check_certificate is not None:
        whole = (
            "variant",
            "scope",
            "overrides",
            "properties",
            "controller",
            "certificate",
            "surviving",
            "needed",
            "assumed",
        )
        reject_given(ctx, whole, "a proof, and --check-certificate makes none")
        from elrcheck.base.proof_requests import CertificateRequest
        from elrcheck.proving.check_certificate import run_check_certificate

        asked = CertificateRequest(check_certificate, solver, workers, timeout)
        with shell.open_progress() as progress:
            checked = run_check_certificate(asked, progress)
        return shell.deliver(checked, form, outputs, exit_zero=exit_zero)
    if not controller:
        from elrcheck.base.proof_requests import ProveRequest
        from elrcheck.proving.prove import run_prove

        request = ProveRequest(
            selection, properties, workers, timeout, fresh, certificate, solver, surviving, needed, assumed
        )
        with shell.open_progress() as progress:
            proof = run_prove(request, progress)
        return shell.deliver(proof, form, outputs, exit_zero=exit_zero)
    by_induction = ("certificate", "solver", "surviving", "needed", "assumed")
    reject_given(ctx, by_induction, "a proof by induction, without --controller")
    from elrcheck.base.proof_requests import ControllerRequest
    from elrcheck.proving.prove_controller import run_controller

    if fresh:
        raise UsageFault("usage-controller", "--fresh does nothing with --controller", help="leave it out")
    total = ControllerRequest(selection, all_variants, brokers, properties, workers, timeout)
    with shell.open_progress() as progress:
        report = run_controller(total, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)


@click.command(cls=Verb, epilog=EXIT_CODES)
@mutation_options
@fresh_option
@property_option
@workers_option
@click.option(
    "--run-dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the trace of each detected hazard.",
)
@case_options
@click.pass_context
def mutate(
    ctx: click.Context,
    /,
    form: str,
    outputs: Sequence[tuple[str, Path]],
    exit_zero: bool,
    hazards: tuple[str, ...],
    guards: bool,
    actions: tuple[str, ...],
    rules: bool,
    functions: tuple[str, ...],
    **options: Any,
) -> ExitCode:
    """Break a rule on purpose and see which property catches it.

    Runs every hazard with and without its one change; with --guards, removes each guard of each action once
    instead, and with --rules changes one expression at a time.  Exits with 1 when a hazard goes undetected,
    or a change of the rules for which there is no reason.
    """
    from elrcheck.base.proof_requests import MutateRequest
    from elrcheck.commands.mutate import run_mutate

    survey = guards or bool(actions)
    changes = rules or bool(functions)
    if changes and (survey or hazards):
        raise UsageFault("usage-option", "--rules runs alone: leave out --hazard, --guards and --action")
    if not survey:
        reject_given(ctx, ("variant", "scope", "overrides"), "--guards")
    if not changes:
        reject_given(ctx, ("configurations", "sample", "seed", "controller"), "--rules")
        if survey and not hazards:
            reject_given(ctx, ("proof",), "--rules or --hazard")
    elif ctx.get_parameter_source("max_states") is not click.core.ParameterSource.COMMANDLINE:
        options["max_states"] = None
    wanted = hazards if hazards or not (survey or changes) else None
    selection = chosen_selection(options)
    request = MutateRequest(
        wanted, survey, actions, selection, rules=changes, functions=functions, kept=True, **options
    )
    shell: Shell = ctx.obj
    with shell.open_progress() as progress:
        report = run_mutate(request, progress)
    return shell.deliver(report, form, outputs, exit_zero=exit_zero)
