"""A report in a GitHub Actions job: annotations, and the summary of the job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import click

from elrcheck.base.errors import EnvironmentFault


def annotates() -> bool:
    """Return whether this is a GitHub Actions job of a command that supports `github`, and no format was chosen.

    The runner also reads workflow commands from stderr, so stdout contains only the report.
    """
    context = click.get_current_context(silent=True)
    if os.environ.get("GITHUB_ACTIONS") != "true" or context is None:
        return False
    form = next((param for param in context.command.params if param.name == "form"), None)
    source = context.get_parameter_source("form")
    return (
        form is not None
        and source is click.core.ParameterSource.DEFAULT
        and isinstance(form.type, click.Choice)
        and "github" in form.type.choices
    )


def annotates_errors(argv: Sequence[str]) -> bool:
    """Return whether an error is annotated as well: with the format `github`, or in a job without another format.

    The words of the command line are all there is when an option is refused.
    """
    forms = [
        following if word in ("-f", "--format") else word.removeprefix("--format=").removeprefix("-f")
        for word, following in pairwise([*argv, ""])
        if word == "--format" or word.startswith(("-f", "--format="))
    ]
    return forms[-1] == "github" if forms else os.environ.get("GITHUB_ACTIONS") == "true"


def workspace() -> Path:
    """Return the folder with the repository of the job, else the current one."""
    return Path(os.environ.get("GITHUB_WORKSPACE") or ".")


def add_step_summary(markdown: str) -> None:
    """Append to the summary of the GitHub job, if there is one; other steps write to the same file."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    try:
        with open(place, "a", encoding="utf-8") as file:
            file.write(markdown + "\n")
    except OSError as fault:
        why = fault.strerror or str(fault)
        message = f"cannot write {place}: {why}"
        raise EnvironmentFault("cannot-write", message, where="GITHUB_STEP_SUMMARY") from fault
