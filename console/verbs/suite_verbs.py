"""The verb `suite`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elrcheck.base.errors import ExitCode
from elrcheck.console.output import CASES, Output
from elrcheck.console.shell import Shell
from elrcheck.console.verb import verb

if TYPE_CHECKING:
    from elrcheck.base.requests import SuiteRequest


@verb(requests="requests", formats=CASES)
def suite(shell: Shell, request: SuiteRequest, output: Output) -> ExitCode:
    """Check small configurations that combine operations with faults.

    Every violation must have its explanation in the suite, and every explanation its violation; otherwise the
    exit code is 1. A configuration also fails if it does not reach a required witness, and so shows nothing, or
    if its exact counts differ from the recorded ones.
    """
    from elrcheck.checking.suite.suite import run_suite

    with shell.open_progress() as progress:
        report = run_suite(request, progress)
    code = shell.deliver(report, output)
    if report.interrupted:
        shell.note("interrupted; the same command resumes where it stopped")
    return code
