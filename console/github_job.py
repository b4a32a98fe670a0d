"""A report in a GitHub Actions job: annotations, and the summary of the job."""

from __future__ import annotations

import os

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
