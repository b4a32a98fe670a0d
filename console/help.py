"""The pages of `--help`: options in groups, examples, the JSON schema, exit codes. A test parses every example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import click

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.option import Group
from elrcheck.console.global_options import late_options

GROUPS = tuple(title for title in get_args(Group) if title)
"""Headings over options, in order; options without one are specific to their verb and come first."""
MANY = 12
"""Commands with at least this many options show them in groups."""

SCHEMAS: Mapping[str, str] = {
    "check": "report",
    "prove": "prove",
    "mutate": "mutate",
    "gate": "gate",
    "simulate": "simulation",
    "explore": "exploration",
    "sweep": "sweep",
    "suite": "suite",
    "replay": "replay",
    "explain": "explain",
    "assess": "assess",
    "risk": "risk",
    "tlc": "tlc",
    "audit": "audit",
    "reproduce": "reproduce",
    "trace show": "trace-view",
    "trace sample": "trace-view",
    "trace minimise": "trace-view",
    "trace diff": "trace-diff",
    "model diff": "model-diff",
    "runs": "runs",
    "runs coverage": "coverage",
    "config": "config",
    "list": "list",
    "show": "show",
    "scenario": "scenario",
    "doctor": "doctor",
}
"""Command -> name of the JSON schema of its report, in docs/schemas."""

EXAMPLES: Mapping[str, Sequence[str]] = {
    "assess": (
        "elrcheck assess --kafka 4.1 --replication-factor 3 --min-insync-replicas 2",
        "elrcheck assess --kafka 4.3 --log __cluster_metadata-0 --fail-on flag",
        "elrcheck assess --bootstrap localhost:9092 --format github",
    ),
    "risk": (
        "elrcheck risk --kafka 4.1 --replication-factor 3 --min-insync-replicas 2",
        "elrcheck risk --kafka 4.3 --min-insync-replicas 2 --event reassign --event stop -o risk.html",
        "elrcheck risk --kafka 3.9 --acks 1 --events 2 --format json",
    ),
    "check": (
        "elrcheck check --variant legacy --scope two-brokers",
        "elrcheck check --set min_isr=1 -p P-1 --max-states 1000000",
        "elrcheck check --fail-on unreached-action -o elrcheck.sarif --format json",
    ),
    "simulate": ("elrcheck simulate --variant legacy --seed 1", "elrcheck simulate --scope recovery --time-budget 20s"),
    "explore": (
        "elrcheck explore --scope three-brokers-tiny",
        "elrcheck explore --scope two-brokers-quiet --set fences=1 --graph states.graphml",
    ),
    "sweep": (
        "elrcheck sweep --scope two-brokers-quiet --sweep variant=kip_full,legacy --sweep crashes=0..1",
        "elrcheck sweep --scope two-brokers-quiet --sweep min_isr=1..3 -o matrix.html -o rows.parquet",
    ),
    "conform": (
        "elrcheck conform --kafka 4.1.2",
        "elrcheck conform --kafka 4.1.2 --kafka 4.3.1 --seconds 60 -o conform.html",
        "elrcheck conform --kafka 4.1.2 --level broker --format json",
    ),
    "audit": (
        "elrcheck audit /var/lib/kafka/__cluster_metadata-0",
        "elrcheck audit dump.txt --strict -o audit.json",
        "elrcheck audit --bootstrap localhost:9092 --format json",
    ),
    "reproduce": (
        "elrcheck reproduce F-20 --kafka 4.1.2",
        "elrcheck reproduce F-20/stuck --kafka 4.3.1 --no-control --keep kept -o reproduced.xml",
    ),
    "suite": ("elrcheck suite", "elrcheck suite --only 'pairs/*/crash' -o suite.xml", "elrcheck suite --sample 8"),
    "gate": (
        "elrcheck gate",
        "elrcheck gate --add small --scope two-brokers --proof",
        "elrcheck gate --only small --update-baseline",
    ),
    "new": ("elrcheck new lock", "elrcheck new lock --directory models"),
    "model fork": ("elrcheck model fork mine", "elrcheck model fork other --model lock.py"),
    "model diff": (
        "elrcheck model diff code_4_1 code_4_3 --scope two-brokers",
        "elrcheck model diff kafka mine --variant code_4_3 --scope two-brokers",
        "elrcheck model diff kafka change.diff --format json",
    ),
    "init": ("elrcheck init", "elrcheck init --directory project --force"),
    "replay": (
        "elrcheck replay trace.itf.json --variant legacy --scope two-brokers",
        "elrcheck replay run/P-8.trace.json --set strict_hwm=true",
    ),
    "trace show": (
        "elrcheck trace show run/P-8.trace.json --only isr --from 2",
        "elrcheck trace show --repro 1/5/2/7 --variant legacy --scope two-brokers --as mermaid",
    ),
    "trace diff": ("elrcheck trace diff run/P-8.trace.json run/P-1.trace.json",),
    "trace minimise": ("elrcheck trace minimise run/P-8.trace.json --search --save shorter.trace.json",),
    "trace sample": ("elrcheck trace sample --seed 7 --depth 30 --save walk.trace.json",),
    "trace step": (
        "elrcheck trace step --scope two-brokers",
        "printf '1\\n5\\ns walk.trace.json\\n' | elrcheck trace step --scope two-brokers",
    ),
    "explain": (
        "elrcheck explain run/P-8.trace.json",
        "elrcheck explain --repro 1/5 --variant legacy --scope two-brokers --action Produce",
    ),
    "web": ("elrcheck web --scope two-brokers", "elrcheck web --trace run/P-8.trace.json --no-open --port 8966"),
    "repl": ("elrcheck repl --scope two-brokers", "echo 'print(walk.enabled)' | elrcheck repl --model lock.py"),
    "runs": ("elrcheck runs", "elrcheck runs clean --older-than 7d"),
    "runs coverage": ("elrcheck runs coverage", "elrcheck runs coverage --strict -f json"),
    "runs clean": ("elrcheck runs clean --dry-run", "elrcheck runs clean --older-than 7d"),
    "config": ("elrcheck config", "elrcheck config check --variant legacy --set min_isr=1"),
    "prove": (
        "elrcheck prove --set log_slots=3",
        "elrcheck prove --certificate proof/ --solver cvc5",
        "elrcheck prove --controller --variant code_4_0 -p CT-13",
    ),
    "mutate": (
        "elrcheck mutate --hazard F-1 --hazard F-3",
        "elrcheck mutate --action Register --scope three-brokers-tiny --variant code_4_1",
    ),
    "export spec": ("elrcheck export spec --variant legacy --scope two-brokers --out tla",),
    "export trace": (
        "elrcheck export trace run/P-1.trace.json --out tla",
        "elrcheck export trace --repro 1/5 --variant legacy --scope two-brokers -f mermaid --out .",
    ),
    "export junit": ("elrcheck export junit F-20 -o F20Test.java", "elrcheck export junit run/P-1.trace.json"),
    "export upstream": (
        "elrcheck export upstream F-20 --out issues",
        "elrcheck export upstream F-64 --out issues --run",
    ),
    "tlc": ("elrcheck tlc run/P-1.trace.json", "elrcheck tlc --count --scope two-brokers"),
    "what-if": ("elrcheck what-if < question.json",),
    "list": ("elrcheck list variants", "elrcheck list errors --format json"),
    "scenario": ("elrcheck scenario", "elrcheck scenario E-6", "elrcheck scenario E-6 --run-dir run -f json"),
    "show": ("elrcheck show P-1", "elrcheck show legacy --format json", "elrcheck show config check"),
    "site": ("elrcheck site --out site",),
    "doctor": ("elrcheck doctor",),
    "completion": ('eval "$(elrcheck completion bash)"', "elrcheck completion fish | source"),
}
"""Command -> example lines for a shell; text before `elrcheck` or after `|` and `<` is shell syntax."""


class CommandPage(click.Command):
    """A command whose help groups the options and shows examples.

    The environment variable of an option is named after the option (ELRCHECK_CHECK_FORMAT for `check --format`), not,
    as click does, after the function's parameter.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for param in self.params:
            if isinstance(param, click.Option) and param.envvar is None and ctx.auto_envvar_prefix:
                flag = max(param.opts, key=len).lstrip("-").replace("-", "_").upper()
                param.envvar = f"{ctx.auto_envvar_prefix}_{flag}"
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters, --help, and the options of all verbs."""
        own = super().get_params(ctx)
        return [*own, *late_options(frozenset(name for param in own for name in param.opts))]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {"": [], **{title: [] for title in GROUPS}}
        help_option = self.get_help_option(ctx)
        for param in self.get_params(ctx):
            group = "Output" if param is help_option else getattr(param, "group", "")
            if (row := param.get_help_record(ctx)) is not None:
                rows[group].append(row)
        if sum(map(len, rows.values())) < MANY:
            super().format_options(ctx, formatter)
            return
        for title, section in rows.items():
            if section:
                with formatter.section(title or "Options"):
                    formatter.write_dl(section)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples, and where the JSON output is described."""
    path = ctx.command_path.partition(" ")[2]
    examples = EXAMPLES.get(path, ())
    if examples:
        with formatter.section("Examples"):
            formatter.write_text("\b\n" + "\n".join(examples))
    if any(param.name == "form" and "json" in _choices(param) for param in ctx.command.params):
        schema = SCHEMAS.get(path)
        file = f"docs/schemas/elrcheck.{schema}-1.schema.json of the package"
        described = f", described in {file}" if schema else ""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Programs read --format json{described}.")


def _choices(param: click.Parameter) -> Sequence[str]:
    return [str(choice) for choice in param.type.choices] if isinstance(param.type, click.Choice) else []


class Commands(click.Group):
    """A group that lists its commands in declaration order, under headings, and suggests a command for a typo."""

    command_class = CommandPage

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.headings: dict[str, list[str]] = {}

    def add_to(self, heading: str, command: click.Command) -> None:
        """Add a command, which the help lists under this heading."""
        self.add_command(command)
        assert command.name is not None
        self.headings.setdefault(heading, []).append(command.name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole summaries."""
        widest = max(map(len, self.commands), default=0)
        for heading, names in (self.headings or {"Commands": list(self.commands)}).items():
            with formatter.section(heading):
                summaries = ((name, self.commands[name].get_short_help_str(200)) for name in names)
                formatter.write_dl([(name.ljust(widest), summary) for name, summary in summaries])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            raise UsageFault(
                "usage-unknown-command",
                f"no such command: {ctx.command_path} {name}",
                help=did_you_mean(name, self.commands),
            )
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)
