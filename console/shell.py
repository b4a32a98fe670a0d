"""Between the commands and the operating system: streams, exit codes, and the printing of errors.

* stdout carries only the result; errors, progress and annotations go to stderr.
* A usage or environment error prints one message; only an internal error has a traceback, in a file.
* Exit code 1 means "a finding" and nothing else; click's own 1 never escapes.
* A reader that closes the pipe early causes no error and does not change the exit code.
"""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

import click

from elrcheck.base.atomic import FREE_SPACE, FULL
from elrcheck.base.caches import one_notice
from elrcheck.base.errors import ElrError, EnvironmentFault, ExitCode, UsageFault
from elrcheck.base.printable import printable, printable_line
from elrcheck.base.progress import Color, Progress, open_progress
from elrcheck.console.github_job import add_step_summary, annotates, annotates_errors, workspace
from elrcheck.console.streams import give_up, give_up_stdout, print_error, stderr, stdout, to_stdout

if TYPE_CHECKING:
    from elrcheck.console.output import Output
    from elrcheck.report.document import Block
    from elrcheck.results.any_report import Report

    Renderer: TypeAlias = Callable[[Report, str], str | bytes | None]

LANGUAGE = "docs/reading-the-model.md describes the language"
OF_ANY_MODEL = "docs/own-models.md lists the commands that do, such as check, prove and trace"
CHOICES_TWICE = re.compile(r" '[^']*\|[^']*'\. Choose")
"""What click says of a missing argument: its metavar, which lists the choices, and then the choices again."""
NAMED_BY_OPTION = {"unknown-variant": "variant", "unknown-scope": "scope"}
"""Codes of errors about a name that an option gives -> the parameter of the option."""
PIECE = 65536
_MACHINE_FAULTS = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EIO,
        errno.EFBIG,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.ENAMETOOLONG,
        errno.ELOOP,
    }
)


@dataclass(frozen=True)
class Shell:
    """The options of all verbs, and the streams that a command may use. detail: the number of -v minus that of -q."""

    color: Color = "auto"
    detail: int = 0
    progress: bool = True

    def open_progress(self) -> AbstractContextManager[Progress]:
        visible = self.progress and self.detail >= 0
        return open_progress(stderr(), os.environ, visible=visible, color=self.color)

    def show(self, blocks: Iterable[Block]) -> None:
        """Print blocks on stdout and flush; if the reader has closed the pipe, discard the rest."""
        from elrcheck.report.terminal import Page, open_console

        try:
            with to_stdout() as stream:
                Page(open_console(stream, self.color)).show(blocks)
                stream.flush()
        except BrokenPipeError:
            give_up_stdout()

    def write(self, text: str) -> None:
        """Write to stdout and flush; if the reader has closed the pipe, discard the text."""
        try:
            with to_stdout() as stream:
                stream.write(text)
                stream.flush()
        except BrokenPipeError:
            give_up_stdout()

    def write_json(self, document: object) -> None:
        """Write a document of JSON types to stdout."""
        import json

        self.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")

    def write_line(self, text: str) -> None:
        """Write a line, with every name in it made printable."""
        self.write(printable_line(text) + "\n")

    def lines(self) -> Iterator[bytes]:
        """Yield stdin in pieces of whole lines, as they arrive; nothing if the caller closed it."""
        stdin = None if sys.stdin is None else cast("io.BufferedReader", sys.stdin.buffer)
        rest = b""
        while stdin is not None and (part := stdin.read1(PIECE)):
            whole, end, begun = part.rpartition(b"\n")
            if end:
                yield rest + whole + end
                rest = begun
            else:
                rest += begun
        if rest:
            yield rest

    @property
    def typed(self) -> bool:
        """Return whether stdin is a terminal."""
        return sys.stdin is not None and sys.stdin.isatty()

    def note(self, text: str) -> None:
        """Print a hint on stderr, unless -q."""
        if self.detail >= 0:
            print_error(printable_line(text))

    def run(self, work: Callable[[Progress], Report], output: Output) -> ExitCode:
        """Compute a report with progress on stderr, and deliver it."""
        with self.open_progress() as progress:
            report = work(progress)
        return self.deliver(report, output)

    def deliver(self, report: Report, output: Output, renderer: Renderer | None = None) -> ExitCode:
        """Write the report to its files, then to stdout; return its exit code.

        Raise EnvironmentFault for a file that cannot be written, after all others.
        renderer: renders formats that only this kind of report has; returns None for others.
        """
        from elrcheck.base.atomic import write_files

        def render(form: str) -> str | bytes:
            special = renderer(report, form) if renderer is not None else None
            return self.render(report, form, output.exit_zero) if special is None else special

        unwritten: EnvironmentFault | None = None  # raised at the end: the report on stdout may have taken hours
        for form, path in output.files:
            try:
                write_files(path.parent, {path.name: render(form)})
            except EnvironmentFault as fault:
                unwritten = unwritten or fault
        form = output.form
        if form != "text":
            text = str(render(form))
            if form == "github":
                add_step_summary(str(render("markdown")))
            self.write(text)
        else:
            from elrcheck.report.formats import blocks

            self.show(blocks(report, self.detail))
            if annotates():
                stderr().write(str(render("github")))
                add_step_summary(str(render("markdown")))
        if unwritten is not None:
            raise unwritten
        code = report.exit_code
        return ExitCode.HOLDS if output.exit_zero and code is ExitCode.FINDING else code

    def render(self, report: Report, form: str, exit_zero: bool = False) -> str:
        """Return the report in one format, without colours. exit_zero: the command exits with 0 for a finding."""
        from elrcheck.report.formats import render

        return render(report, form, self.detail, workspace(), exit_zero)


def end_as_interrupted() -> None:
    """Make SIGTERM and SIGHUP act like Ctrl-C, so that drafts are removed and child processes stopped.

    An ignored signal stays ignored. In a child that inherits the handler, the signal has its default effect.
    """
    owner = os.getpid()

    def end(number: int, _: FrameType | None) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def run(command: click.Command, argv: Sequence[str], name: str = "elrcheck") -> int:
    """Run a command whose callbacks return their exit code; report every failure."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # never fail on an unprintable character
    with one_notice():
        code = _run(command, argv, name)
    for stream in (stdout(), stderr()):
        try:
            stream.flush()
        except OSError:
            give_up(stream)  # already reported; otherwise the interpreter would exit with 120
    return code


def _run(command: click.Command, argv: Sequence[str], name: str) -> int:
    try:
        code = _invoke(command, argv, name)
        with to_stdout() as stream:
            stream.flush()
        return code
    except click.exceptions.NoArgsIsHelpError as fault:
        if fault.ctx is not None and fault.ctx.parent is None:  # `elrcheck` alone is a request for help
            with to_stdout() as stream:
                stream.write(fault.format_message() + "\n")
            return ExitCode.HOLDS
        print_error(fault.format_message())
        return ExitCode.DID_NOT_RUN
    except (click.Abort, KeyboardInterrupt):
        print_error("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        give_up_stdout()
        return ExitCode.HOLDS
    except Exception as fault:
        if not isinstance(fault, ElrError) and _comes_from_ctrl_c(fault):
            print_error("interrupted")
            return ExitCode.INTERRUPTED
        expected = _expected(fault)
        return _internal(fault, argv) if expected is None else _show(argv, expected)


def _comes_from_ctrl_c(fault: BaseException) -> bool:
    """Return whether Ctrl-C caused an exception: Python and libraries wrap it, for example while a class is created."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _expected(fault: Exception) -> ElrError | None:
    """Return the error to report for an exception; None if it is a bug of elrcheck."""
    match fault:
        case ElrError():
            if fault.where is None and fault.code in NAMED_BY_OPTION:
                fault.where = _not_typed(fault, NAMED_BY_OPTION[fault.code])
            return fault
        case click.UsageError():
            return _from_click(fault)
        case click.ClickException():
            return UsageFault("usage", fault.format_message())
        case MemoryError():
            return EnvironmentFault("out-of-memory", "out of memory", help="set --memory, or choose a smaller scope")
        case OSError() if fault.errno in _MACHINE_FAULTS:
            where = None if fault.filename is None else str(fault.filename)
            help = FREE_SPACE if fault.errno in FULL else None
            return EnvironmentFault("system", fault.strerror or str(fault), where=where, help=help)
        case FileNotFoundError() if not _has_working_directory():
            return EnvironmentFault("system", "the working directory is gone", help="change to a folder that exists")
    return _model_mistake(fault)


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _invoke(command: click.Command, argv: Sequence[str], name: str) -> int:
    instruction = os.environ.get(f"_{name.replace('-', '_').upper()}_COMPLETE")
    if instruction:
        from elrcheck.console.completion import answer

        stdout().write(answer(command, instruction, name) + "\n")
        return ExitCode.HOLDS
    try:
        with command.make_context(name, list(argv)) as context:
            code = command.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    return code if isinstance(code, int) else ExitCode.HOLDS


def _of_kafka(context: click.Context | None) -> TypeGuard[click.Context]:
    """Return whether the verb is declared to be about Kafka."""
    return context is not None and getattr(context.command, "of_kafka", False)


def _from_click(fault: click.UsageError) -> UsageFault:
    context = fault.ctx
    match fault:
        case click.NoSuchOption(option_name="--model" | "--patch") if _of_kafka(context):
            message = f"`{context.command_path}` is about Kafka's partition, and takes no other model"
            return UsageFault("usage-unknown-option", message, help=OF_ANY_MODEL)
        case click.NoSuchOption():
            code = "usage-unknown-option"
        case click.MissingParameter():
            code = "usage-missing"
        case click.BadParameter():
            code = "usage-bad-value"
        case _:
            code = "usage"
    message = " ".join(line.strip() for line in fault.format_message().rstrip(".").split("\n\t"))
    message = CHOICES_TWICE.sub(": choose", message[:1].lower() + message[1:])
    message = message.replace("not a valid integer range", "not a whole number")
    message = message.replace("not a valid float range", "not a number")
    help = f"see `{context.command_path} --help`" if context else None
    return UsageFault(code, message, where=_variable(fault), help=help)


def _variable(fault: click.UsageError) -> str | None:
    """Return the environment variable that holds the refused value; None if it comes from elsewhere."""
    if not isinstance(fault, click.BadParameter) or fault.param is None:
        return None
    name, context = fault.param.name, fault.ctx
    if name is None or context is None or context.auto_envvar_prefix is None:
        return None
    if context.get_parameter_source(name) is not click.core.ParameterSource.ENVIRONMENT:
        return None
    variable = fault.param.envvar
    return variable if isinstance(variable, str) else f"{context.auto_envvar_prefix}_{name.upper()}"


def _not_typed(fault: ElrError, name: str) -> str | None:
    """Return where a refused name comes from, if not from the command line. name: the option's parameter."""
    from elrcheck.console.bug_report import innermost_context

    context = innermost_context(fault)
    option = None if context is None else next((each for each in context.command.params if each.name == name), None)
    if context is None or option is None or f"`{context.params.get(name)}`" not in fault.message:
        return None
    match context.get_parameter_source(name):
        case click.core.ParameterSource.ENVIRONMENT:
            return str(option.envvar)
        case click.core.ParameterSource.DEFAULT_MAP:
            return "the settings file"
    return None


def _model_mistake(fault: Exception) -> UsageFault | None:
    """Return a usage error if the model's source failed to load, which is not a bug of elrcheck; else None."""
    import elrcheck
    from elrcheck.declared.mistakes import behind
    from elrcheck.declared.model_file import folders_of_models

    mistake = behind(fault, Path(str(elrcheck.__file__)).parent, ("model", "invariants"), folders_of_models())
    if mistake is None:
        return None
    place, colon, line = mistake.where.rpartition(":")
    file = Path(place)
    near = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return UsageFault(
        "model-source",
        mistake.message,
        where=f"{near}{colon}{line}" if mistake.where else None,
        excerpt=mistake.excerpt or None,
        help=mistake.help or (LANGUAGE if "not in the modelling language" in mistake.message else None),
    )


def _show(argv: Sequence[str], fault: ElrError) -> int:
    print_error(fault.render())
    if annotates_errors(argv):
        from elrcheck.report.ci.github import fault_command

        print_error(fault_command(fault, workspace()))
    return fault.exit_code


def _internal(fault: Exception, argv: Sequence[str]) -> int:
    """Print an unexpected error, and write the details to a file that the user can attach to an issue."""
    from elrcheck.console.bug_report import bug_report, write_report

    print_error(printable(f"error[internal]: {' '.join(traceback.format_exception_only(fault)).strip()}"))
    try:
        text, folder = bug_report(fault, argv, os.environ)
        path = write_report(text, folder)
    except Exception as second:  # the fault itself is still reported, and the exit code stays
        text = "".join(traceback.format_tb(fault.__traceback__))
        text += f"(the report about it failed: {type(second).__name__})"
        path = None
    if path is None:
        print_error(text.rstrip("\n"))
    else:
        print_error(f"  --> {path}\n   = help: this is a bug in elrcheck; please report it and attach that file")
    return ExitCode.INTERNAL
