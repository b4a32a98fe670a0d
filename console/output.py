"""The options for the destinations of a report: `--format`, `--output`, `--html` and `--exit-zero`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import click

from elrcheck.base.errors import UsageFault
from elrcheck.base.option import Declared, Option
from elrcheck.console.click_options import GroupedOption, click_parameter
from elrcheck.console.option_values import output_file
from elrcheck.report.formats import EVERY, LISTS, LOCATED, PLAIN, SUFFIXES


def format_option(help: str = "Format of the report on stdout.", forms: tuple[str, ...] = ()) -> Option:
    """Return the option `--format`. forms: its choices, if the type of the field does not determine them."""
    return Option(help, flags="--format -f", choices=forms, group="Output")


Form: TypeAlias = Annotated[Literal["text", "json"], format_option()]
"""The option `--format` of a verb that only prints."""


@dataclass(frozen=True)
class Output:
    """The destinations of a report: its format on stdout, and (format, path) of each file."""

    form: str
    files: tuple[tuple[str, Path], ...] = ()
    exit_zero: bool = False

    @property
    def has_page(self) -> bool:
        """Return whether a page was requested, which has pictures that the other formats lack."""
        return "html" in (self.form, *(form for form, _ in self.files))


@dataclass(frozen=True)
class Formats:
    """The formats of a report on stdout, and in files, by default the same; the ending of a file name selects one."""

    printed: tuple[str, ...]
    written: tuple[str, ...] = ()
    accepted: Sequence[str] = EVERY
    endings: Mapping[str, str] | None = None
    format_help: str = "Format of the report on stdout."
    output_help: str = (
        "Also write the report to a file; without FORMAT its extension decides, else text; may be repeated."
    )

    def parameters(self) -> list[click.Parameter]:
        """Return the options of a verb whose report has these formats."""
        form = click_parameter(Declared("form", str, "text", format_option(self.format_help, self.printed)))
        page = GroupedOption(
            ["--html"],
            metavar="FILE",
            multiple=True,
            type=self._parser("html:"),
            help="Also write the report as a page; short for -o html:FILE.",
            group="Output",
        )
        files = GroupedOption(
            ["--output", "-o", "outputs"],
            metavar="[FORMAT:]FILE",
            multiple=True,
            type=self._parser(),
            help=self.output_help,
            group="Output",
        )
        exit_zero = GroupedOption(
            ["--exit-zero"], is_flag=True, help="Exit with 0 instead of 1 when there are findings.", group="Output"
        )
        return [form, *([page] if "html" in self.printed else []), files, exit_zero]

    def output(self, ctx: click.Context) -> Output:
        """Return the destinations on the command line; raise UsageFault if two outputs are one file."""
        params = ctx.params
        output = Output(params["form"], (*params["outputs"], *params.get("html", ())), params["exit_zero"])
        _reject_clashes(ctx, output)
        return output

    def _parser(self, prefix: str = "") -> Callable[[str], tuple[str, Path]]:
        def to_file(text: str) -> tuple[str, Path]:
            return output_file(self.written or self.printed, prefix + text, self.accepted, self.endings or SUFFIXES)

        return to_file


PLAIN_REPORT = Formats(PLAIN)
PAGE = Formats((*PLAIN, "html"))
CASES = Formats((*PLAIN, *LISTS))
VERDICT = Formats((*PLAIN, *(form for form in LISTS if form != "html")))
LOCATED_CASES = Formats((*PLAIN, *LISTS, *LOCATED))
MEASURED_CASES = Formats(EVERY)


STORED = ("graph", "save")
"""Options that name a file to write beside the report."""


def _reject_clashes(ctx: click.Context, output: Output) -> None:
    """Raise UsageFault for two outputs to one file, and for an output to one of the input files.

    A trace may be stored in place of the one that was read.
    """
    flags = {param.name: param.opts[0] for param in ctx.command.params if param.name in STORED}
    stored = [(flag, ctx.params[name]) for name, flag in flags.items() if name and ctx.params.get(name)]
    written: dict[str, str] = {}
    for flag, path in [*(("--output", path) for _, path in output.files), *stored]:
        if os.path.exists(path) and not os.path.isfile(path):
            continue  # a device or a pipe takes any number of outputs
        if _real(path) in written:
            help = "give each output its own file"
            raise UsageFault("output-clash", f"two outputs would be written to {path}", help=help)
        written[_real(path)] = flag
    for option in ctx.command.params:
        content = ctx.params.get(option.name or "")
        for value in content if isinstance(content, tuple) else (content,):
            flag = next((written[_real(each)] for each in _files_of(option, value) if _real(each) in written), "")
            if flag and not (flag == "--save" and option.name == "path"):
                name = option.opts[0] if isinstance(option, click.Option) else option.human_readable_name
                help = "give each output its own file"
                raise UsageFault("output-clash", f"{value} is given to both {name} and {flag}", help=help)


def _files_of(option: click.Parameter, value: object) -> tuple[str, ...]:
    """Return the files that a value of an option or argument may name as inputs."""
    if option.name in STORED or option.name == "outputs":
        return ()
    if isinstance(value, Path) or (option.name == "scope" and str(value).endswith(".toml")):
        return (str(value),)
    if isinstance(option, click.Argument) and isinstance(value, str):
        return (value, value.rpartition("@")[0])  # MODEL@VARIANT of `model diff`
    return ()


def _real(path: Path | str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # the working directory is gone
        return str(path)
