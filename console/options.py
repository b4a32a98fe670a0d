"""Options shared by several commands."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, FAIL_ON, GUARD_SCOPE, Selection, SparkRequest
from elrcheck.console.completion import (
    actions,
    complete_setting,
    completer,
    configurations,
    hazards,
    properties,
    resumable_runs,
    scopes,
    variants,
)
from elrcheck.console.option_values import WorkerCount, duration, output_file, size
from elrcheck.report.formats import EVERY, LISTS, PLAIN

F = TypeVar("F", bound=Callable[..., Any])

REPORT_FORMATS = ("text", "json")
EXIT_CODES = """
\b
Exit codes: 0 holds and complete, 1 finding, 2 did not run, 3 inconclusive,
4 environment, 5 nothing checked, 70 internal error, 130 interrupted.
"""


def _stack(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Combines several option decorators into one; the help lists them in this order."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _selection(scope: str) -> Callable[[F], F]:
    """Options that select a model; `scope` is the default scope."""
    return _stack(
        click.option(
            "--variant",
            metavar="NAME",
            shell_complete=completer(variants),
            default=DEFAULT_VARIANT,
            show_default=True,
            help="Version of the protocol; see `elrcheck list variants`.",
        ),
        click.option(
            "--scope",
            metavar="NAME|FILE",
            shell_complete=completer(scopes, "file"),
            default=scope,
            show_default=True,
            help="Sizes and budgets: a packaged name or a TOML file.",
        ),
        click.option(
            "--set",
            "overrides",
            metavar="KEY=VALUE",
            multiple=True,
            shell_complete=complete_setting,
            help="Override one size, budget or knob; may be repeated.",
        ),
    )


selection_options = _selection(DEFAULT_SCOPE)


def chosen_selection(options: dict[str, Any]) -> Selection:
    """Removes the selection options from a command's options and returns them as a Selection."""
    return Selection(options.pop("variant"), options.pop("scope"), options.pop("overrides"))


def named_selection() -> frozenset[str]:
    """Which of --variant and --scope the command line gives; they win over what a trace file names."""
    ctx, command_line = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    return frozenset(n for n in ("variant", "scope") if ctx.get_parameter_source(n) is command_line)


mutation_options = _stack(
    click.option(
        "--hazard",
        "hazards",
        metavar="ID",
        multiple=True,
        shell_complete=completer(hazards),
        help="Run only this hazard, such as F-1; may be repeated.",
    ),
    click.option(
        "--guards",
        is_flag=True,
        help="Guard survey: remove each guard of each action once, in the model selected below.",
    ),
    click.option(
        "--rules",
        is_flag=True,
        help="Change each comparison, set operation, constant and condition of the rules, one at a "
        "time, over the suite and `prove --controller`; the same command resumes.",
    ),
    click.option(
        "--function",
        "functions",
        metavar="NAME",
        multiple=True,
        help="Change only this function (implies --rules); may be repeated.",
    ),
    click.option(
        "--configuration",
        "configurations",
        metavar="NAME|GLOB",
        multiple=True,
        shell_complete=completer(configurations),
        help="With --rules: only these configurations of the suite; may be repeated.",
    ),
    click.option(
        "--sample", metavar="N", type=click.IntRange(min=1), help="With --rules: only N changes, drawn at random."
    ),
    click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(0, 2**64 - 1),
        default=1,
        show_default=True,
        help="With --sample: which ones.",
    ),
    click.option(
        "--controller/--no-controller",
        default=True,
        help="With --rules: also ask the proof of controller steps about what the suite does not catch.",
    ),
    click.option(
        "--answers/--no-answers",
        default=True,
        help="With --rules: first compare with Kafka's answers, as `conform --answers packaged`.",
    ),
    click.option(
        "--proof",
        is_flag=True,
        help="Also put each hazard, or change of --rules, that a property catches to the proof.",
    ),
    click.option(
        "--action",
        "actions",
        metavar="NAME",
        multiple=True,
        shell_complete=completer(actions),
        help="Survey only the guards of this action (implies --guards); may be repeated.",
    ),
    _selection(GUARD_SCOPE),
    click.option(
        "--timeout",
        metavar="30s|5m",
        type=duration,
        default="60s",
        show_default=True,
        help="Time limit of each search; inconclusive when reached.",
    ),
    click.option(
        "--max-states",
        metavar="N",
        type=click.IntRange(min=1),
        default=5_000_000,
        show_default="5000000",
        help="State limit of each search; inconclusive when reached.",
    ),
)


def reject_given(ctx: click.Context, names: Iterable[str], only: str) -> None:
    """Raises UsageFault if one of these options is on the command line; defaults from files are allowed."""
    for name in names:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(part.opts[0] for part in ctx.command.params if part.name == name)
            raise UsageFault("usage-option", f"{option} requires {only}", help=f"see `{ctx.command_path} --help`")


fresh_option = click.option(
    "--fresh", is_flag=True, help="Search again what an earlier run with the same program has answered."
)
property_option = click.option(
    "--property",
    "-p",
    "properties",
    metavar="GLOB",
    multiple=True,
    shell_complete=completer(properties),
    help="Check only these properties, by id, name or glob; may be repeated.",
)

workers_option = click.option(
    "--workers",
    metavar="N|auto",
    type=WorkerCount(),
    default="auto",
    show_default=True,
    help="Number of threads for a search, or processes for a proof.",
)

limit_options = _stack(
    click.option(
        "--max-depth",
        metavar="N",
        type=click.IntRange(min=1),
        help="Stop at this depth (steps from the initial state); inconclusive when reached.",
    ),
    click.option(
        "--max-states",
        metavar="N",
        type=click.IntRange(min=1),
        help="Stop beyond this many distinct states; inconclusive when reached.",
    ),
    click.option(
        "--time-budget", metavar="90s|5m|1h", type=duration, help="Stop after this long; inconclusive when reached."
    ),
    click.option("--memory", metavar="4GiB", type=size, help="Memory limit; states beyond it spill to disk."),
)


def fail_on_option(known: Sequence[str], default: str = "") -> Callable[[F], F]:
    """`--fail-on`: a comma-separated list of the words of FAIL_ON that the command supports."""

    def words(text: str) -> tuple[str, ...]:
        found = tuple(word.strip() for word in text.split(","))
        for word in found if text else ():
            if word not in known:
                raise click.BadParameter(f"{word!r} is not one of {', '.join(known)}")
        return found if text else ()

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem[str]]:
        before, comma, last = typed.rpartition(",")
        return [CompletionItem(before + comma + word, help=FAIL_ON[word]) for word in known if word.startswith(last)]

    lead = "Fail (exit code 1) on" if default else "Also fail (exit code 1) on"
    meant = "; ".join(f"{word} ({FAIL_ON[word]})" for word in known)
    return click.option(
        "--fail-on",
        metavar="LIST",
        type=words,
        default=default,
        show_default=bool(default),
        shell_complete=complete,
        help=f"{lead} these, separated by commas: {meant}.",
    )


REDUCTIONS = ("skips_no_news=true", "forgets=true")
"""Knobs that merge states no property and no step can distinguish (docs/adr/0008, 0009)."""

NEWEST = ".elrcheck/runs/*"
"""The value of --resume without a folder."""


def _resumed(ctx: click.Context, _: click.Parameter, chosen: Path | None) -> Path | None:
    """The folder to resume: the given one, else the newest, which a note on stderr names."""
    if chosen is None or chosen != Path(NEWEST) or ctx.resilient_parsing:
        return chosen
    from elrcheck.commands.run_list import newest_resumable

    found = newest_resumable(chosen.parent)
    if ctx.obj is not None:
        ctx.obj.note(f"resuming {found}")
    return found


run_options = _stack(
    click.option("--reduce", is_flag=True, help="Merge indistinguishable states: fewer states, the same findings."),
    click.option(
        "--fingerprint",
        type=click.Choice(("64", "128")),
        help="Store a fingerprint of this many bits instead of each state; the report bounds the "
        "probability of an omission.",
    ),
    click.option(
        "--run-dir",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="Run folder: stores traces, and checkpoints for a later --resume.",
    ),
    click.option(
        "--resume",
        metavar="[DIR]",
        type=click.Path(file_okay=False, path_type=Path),
        is_flag=False,
        flag_value=NEWEST,
        callback=_resumed,
        shell_complete=completer(resumable_runs, "dir"),
        help="Resume the run in this folder, by default the newest in .elrcheck/runs; variant, "
        "scope and properties come from the run.",
    ),
    click.option(
        "--checkpoint-every",
        metavar="30s|5m",
        type=duration,
        default="5m",
        show_default=True,
        help="How often a long search writes a checkpoint.",
    ),
)


def run_choices(options: dict[str, Any]) -> dict[str, Any]:
    """Removes the selection and `run_options` from a command's options; returns them as request fields."""
    ctx = click.get_current_context()
    named = [ctx.get_parameter_source(name) for name in ("variant", "scope", "overrides", "reduce")]
    selection = chosen_selection(options)
    if options.pop("reduce"):
        selection = replace(selection, overrides=(*REDUCTIONS, *selection.overrides))
    return {
        "selection": selection,
        "fingerprint": int(options.pop("fingerprint") or 0),
        "run_dir": options.pop("run_dir"),
        "resume": options.pop("resume"),
        "checkpoint_every": options.pop("checkpoint_every"),
        "selected": click.core.ParameterSource.COMMANDLINE in named,
    }


ENGINES = ("local", "spark", "reference", "numpy")
engine_options = _stack(
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="local",
        show_default=True,
        help="local: compiled; spark: same on a cluster; numpy: portable; reference: plain Python.",
    ),
    click.option(
        "--master",
        metavar="URL",
        default="local[*]",
        show_default=True,
        help="Spark master: local[N], spark://HOST:PORT, yarn or k8s://...",
    ),
    click.option(
        "--partitions",
        metavar="N",
        type=click.IntRange(1, 32_000),
        help="Number of partitions of the states; by default one per concurrent Spark task.",
    ),
    click.option(
        "--handover",
        metavar="STATES",
        type=click.IntRange(min=1),
        help="Expand levels with this many states or more on Spark; by default as measured.",
    ),
    click.option(
        "--storage",
        metavar="PATH|URI",
        help="Where a Spark run stores its states; every executor must be able to access it.",
    ),
    click.option("--spark-conf", metavar="KEY=VALUE", multiple=True, help="Set a Spark property; may be repeated."),
)
SPARK = ("master", "partitions", "handover", "storage", "spark_conf")


def engine_choices(options: dict[str, Any], verbose: bool) -> dict[str, Any]:
    """Removes `engine_options` from a command's options and returns them as request fields.

    Raises UsageFault for a Spark option with another engine.
    """
    engine = options.pop("engine")
    if engine != "spark":
        reject_given(click.get_current_context(), SPARK, "--engine spark")
    chosen = {name: options.pop(name) for name in SPARK}
    spark = SparkRequest(conf=chosen.pop("spark_conf"), verbose=verbose, **chosen)
    return {"engine": engine, "spark": spark}


def apart(function: F) -> F:
    """Makes a command refuse two outputs to one file, and an output to one of its input files."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _reject_clashes(click.get_current_context())
        return function(*args, **kwargs)

    return cast(F, checked)


def _reject_clashes(ctx: click.Context) -> None:
    help = "give each output its own file"
    written: set[str] = set()
    for _, path in ctx.params["outputs"]:
        if os.path.exists(path) and not os.path.isfile(path):
            continue  # a device or a pipe takes any number of outputs
        real = _real(path)
        if real in written:
            raise UsageFault("output-clash", f"two outputs would be written to {path}", help=help)
        written.add(real)
    for option in ctx.command.params:
        value = ctx.params.get(option.name or "")
        is_file = option.name == "scope" and str(value).endswith(".toml")
        if (is_file or isinstance(value, Path)) and _real(str(value)) in written:
            named = option.opts[0] if isinstance(option, click.Option) else option.human_readable_name
            what = f"{value} is given to both {named} and --output"
            raise UsageFault("output-clash", what, help=help)


def _real(path: Path | str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # the working directory is gone
        return str(path)


def _format_option(forms: Sequence[str]) -> Callable[[F], F]:
    return click.option(
        "--format",
        "-f",
        "form",
        type=click.Choice(forms),
        default="text",
        show_default=True,
        help="Format of the report on stdout.",
    )


format_option = _format_option(REPORT_FORMATS)


def report_options(forms: Sequence[str]) -> Callable[[F], F]:
    """Output options of a command whose report supports these formats."""

    def to_file(text: str) -> tuple[str, Path]:
        return output_file(forms, text)

    return _stack(
        _format_option(forms),
        *([html_option] if "html" in forms else []),
        click.option(
            "--output",
            "-o",
            "outputs",
            metavar="[FORMAT:]FILE",
            multiple=True,
            type=to_file,
            help="Also write the report to a file; without FORMAT its extension decides, else text; may be repeated.",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 instead of 1 when there are findings."),
        apart,
    )


def html_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--html FILE`, an alias of `--output html:FILE`; the command sees only its outputs."""

    def to_file(text: str) -> tuple[str, Path]:
        return output_file(("html",), f"html:{text}")

    @wraps(function)
    def call(*args: Any, html: Sequence[tuple[str, Path]], outputs: Sequence[Any], **given: Any) -> Any:
        return function(*args, outputs=(*outputs, *html), **given)

    return click.option(
        "--html",
        metavar="FILE",
        multiple=True,
        type=to_file,
        help="Also write the report as a page; short for -o html:FILE.",
    )(call)


def has_page(form: str, outputs: Sequence[tuple[str, Path]]) -> bool:
    """True if an HTML report was requested: it needs pictures that the other formats do without."""
    return "html" in (form, *(each for each, _ in outputs))


output_options = report_options(PLAIN)
page_options = report_options((*PLAIN, "html"))
case_options = report_options((*PLAIN, *LISTS))
verdict_options = report_options((*PLAIN, *(form for form in LISTS if form != "html")))
located_options = report_options(EVERY)
