"""Shell completion of values: names of the model, settings, and files stored under `.elrcheck`.

Completion runs on every Tab, so it loads no model: it reads the names of properties and actions from the decorated
functions, and those of a `--model` from its text. An error yields no completions and no message.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

import click
from click.shell_completion import BashComplete, CompletionItem, get_completion_class, split_arg_string

Words: TypeAlias = Iterable[tuple[str, str]]
"""(word to type, short description)"""
Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


def completer(source: Callable[[click.Context], Words], otherwise: Literal["", "file", "dir"] = "") -> Complete:
    """Return a `shell_complete` that offers the words of `source` with the typed prefix, ignoring case.

    otherwise: what the shell completes when no word matches.
    """

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem[str]]:
        try:
            words = list(source(ctx))
        except Exception:
            words = []
        start = typed.lower()
        matches = [CompletionItem(word, help=about or None) for word, about in words if word.lower().startswith(start)]
        return matches if matches or not otherwise else [CompletionItem(typed, type=otherwise)]

    return complete


# --------------------------------------------------------------------------- names of the model


def variants(ctx: click.Context | None = None) -> Words:
    if model := _model(ctx):
        return [(name, "") for name in sets_in(model, "variants")]
    from elrcheck.model.variants import VARIANTS

    return [(variant.name, variant.summary) for variant in VARIANTS]


def scopes(ctx: click.Context | None = None) -> Words:
    if model := _model(ctx):
        return [(name, "") for name in sets_in(model, "scopes")]
    from importlib.resources import files

    from elrcheck.base.typed.configuration import scope_names

    return [(name, "") for name in scope_names(files("elrcheck.catalogue") / "scopes")]


def properties(ctx: click.Context | None = None) -> Words:
    """Yield ids, then names; the controller rules (CT-*) for `prove --controller`."""
    from elrcheck.invariants import modules
    from elrcheck.lang.load import by_number

    kinds = ("always", "sometimes", "leads_to")
    if model := _model(ctx):
        properties = list(functions_in(model, kinds))
    elif ctx is not None and ctx.params.get("controller"):
        properties = list(_rules())
    else:
        properties = list(_decorated((*modules.CHECKED, *modules.LIVENESS), kinds))
    properties.sort(key=lambda one: (one[0].partition("-")[0], by_number(one[0])))
    yield from ((ident, f"{name}: {about}") for ident, name, about in properties)
    yield from ((name, f"{ident}: {about}") for ident, name, about in properties)


def actions(ctx: click.Context | None = None) -> Words:
    if model := _model(ctx):
        return [(name, about) for _id, name, about in functions_in(model, ("action",))]
    from elrcheck.model.protocol import MODULES

    return [(name, about) for _id, name, about in _decorated(MODULES, ("action",))]


def hazards(_: click.Context | None = None) -> Words:
    from elrcheck.catalogue.hazard import packaged_hazards

    return [(hazard.id, hazard.title) for hazard in packaged_hazards()]


def configurations(_: click.Context | None = None) -> Words:
    """Yield families of the suite, then their configurations."""
    from elrcheck.checking.suite.suite_file import packaged_suites

    families = packaged_suites()
    yield from ((family.name, family.description) for family in families)
    yield from ((case.name, "") for family in families for case in family.cases)


def recipes(_: click.Context | None = None) -> Words:
    """Yield findings that can be reproduced, and every recipe."""
    from elrcheck.catalogue.recipe_notation.recipe_file import packaged_recipes

    recipes = packaged_recipes()
    yield from ((recipe.finding, recipe.title) for recipe in recipes if recipe.default)
    yield from ((recipe.id, recipe.title) for recipe in recipes)


def scenarios(_: click.Context | None = None) -> Words:
    """Yield scenario ids, derived from the file names: E-01.toml is E-1."""
    from elrcheck.catalogue.scenario_file import scenario_files

    for file in scenario_files():
        head, number = file.name.removesuffix(".toml").split("-")
        yield f"{head}-{number.lstrip('0')}", ""


def settings(ctx: click.Context | None = None) -> Words:
    """Yield knobs and budgets with their defaults."""
    if model := _model(ctx):
        yield from settings_in(model)
        return
    import dataclasses

    from elrcheck.model.config import Config

    for field in dataclasses.fields(Config):
        default = getattr(field.default, "name", field.default)
        yield field.name, "" if default is dataclasses.MISSING else f"default {default!s}"


def _model(ctx: click.Context | None) -> Path | None:
    """Return the model that the words before the cursor name with `--model`."""
    return None if ctx is None or not ctx.params.get("model") else Path(ctx.params["model"])


def _decorated(modules: Iterable[ModuleType], kinds: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield (id, name, first line of the docstring) of every function with one of these roles, in source order."""
    from elrcheck.lang.runtime import Role

    for module in modules:
        for value in vars(module).values():
            role = getattr(value, "__elr_role__", None)
            if isinstance(role, Role) and role.kind in kinds and value.__module__ == module.__name__:
                yield role.ident, value.__name__, (value.__doc__ or "").strip().partition("\n")[0]


def everything(_: click.Context) -> Words:
    """Yield every name that `show` accepts; `show config` is the command `config`."""
    from elrcheck.base.errors import error_codes
    from elrcheck.report.formats import FORMATS

    yield "config", "the settings a command would use"
    for source in (properties, actions, variants, scopes, settings, hazards, scenarios):
        yield from source(None)
    yield from ((ident, f"{name}: {about}") for ident, name, about in _rules())
    yield from error_codes().items()
    yield from FORMATS.items()


def _rules() -> Iterator[tuple[str, str, str]]:
    from elrcheck.invariants import modules

    return _decorated(modules.CONTROLLER, ("rule",))


# ------------------------------------------------------------------------------- KEY=VALUE


def complete_setting(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Complete `--set`: the key, then one of its values."""
    key, equals, _ = typed.partition("=")
    if not equals:
        return [CompletionItem(f"{item.value}=", help=item.help) for item in completer(settings)(ctx, param, typed)]

    def values(ctx: click.Context) -> Words:
        if _model(ctx):
            return []
        from elrcheck.commands.sweep.axes import keys, names_of
        from elrcheck.declared.declared_model import declared

        model = declared(None)
        names = names_of(model, key) if key in keys(model) and key not in ("variant", "scope") else ()
        return [(f"{key}={name}", "") for name in names]

    return completer(values)(ctx, param, typed)


def complete_axis(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem[str]]:
    """Complete `--sweep`: the key, then a comma-separated list of its values."""
    if _model(ctx):
        return [CompletionItem(f"{name}=") for name, _ in settings(ctx) if name.startswith(typed)]
    from elrcheck.commands.sweep.axes import keys, names_of
    from elrcheck.declared.declared_model import declared

    model = declared(None)
    key, equals, values = typed.partition("=")
    if not equals:
        return [CompletionItem(f"{name}=") for name in keys(model) if name.startswith(key)]
    if key not in keys(model):
        return []
    before, comma, last = values.rpartition(",")
    prefix = f"{key}={before}{comma}"
    return [CompletionItem(prefix + name) for name in names_of(model, key) if name.startswith(last)]


# ------------------------------------------------------------------------------ what is stored


def resumable_runs(_: click.Context) -> Words:
    return ((str(place), "") for place in _stored_runs("run.json"))


def traced_runs(ctx: click.Context) -> Words:
    """Yield folders that contain traces, then the traces."""
    yield from ((str(place), "") for place in _stored_runs("*.trace.json"))
    yield from stored_traces(ctx)


def stored_traces(_: click.Context) -> Words:
    for place in _stored_runs("*.trace.json"):
        yield from ((str(file), "") for file in sorted(place.glob("*.trace.json")))


def entries(ctx: click.Context) -> Words:
    """Yield the names of the entries and suites of a baseline."""
    from elrcheck.base.documents import read_toml

    baseline = read_toml(Path(ctx.params.get("baseline") or "elrcheck-baseline.toml")).value
    yield from ((n, f"{e.get('variant')}, {e.get('scope')}") for n, e in baseline.get("entry", {}).items())
    yield from ((name, "suite") for name in baseline.get("suite", {}))


def commands(ctx: click.Context) -> Words:
    """Yield the commands that take options."""
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    for name, command in group.commands.items():
        if not isinstance(command, click.Group) and any(isinstance(p, click.Option) for p in command.params):
            yield name, command.get_short_help_str()


def _stored_runs(pattern: str) -> list[Path]:
    """Return the folders in `.elrcheck/runs` that contain a file matching the pattern, newest first."""
    folder = Path(".elrcheck") / "runs"
    places = [place for place in folder.iterdir() if any(place.glob(pattern))] if folder.is_dir() else []
    return sorted(places, key=lambda place: -place.stat().st_mtime)


# ---------------------------------------------------------------------------------- the shell


class EqualsBash(BashComplete):
    """Completion for bash, which breaks words at `=`, so that `key`, `=` and `val` must be joined again.

    Bash replaces only the part after the last `=`, so completions omit everything before it.
    """

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *= ]] && compopt -o nospace"
    )
    prefix = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        words = split_arg_string(os.environ["COMP_WORDS"])
        last = int(os.environ["COMP_CWORD"])
        words = words[1 : last + 1] + ([""] if last >= len(words) else [])
        joined: list[str] = []
        for word in words:
            if joined and joined[-1] and (word == "=" or joined[-1].endswith("=")):
                joined[-1] += word
            else:
                joined.append(word)
        typed = joined.pop() if joined else ""
        value = typed.partition("=")[2] if typed.startswith("-") else typed
        self.prefix = value[: value.rfind("=") + 1]
        return joined, typed

    def format_completion(self, item: CompletionItem[str]) -> str:
        rest = item.value.removeprefix(self.prefix)
        return super().format_completion(CompletionItem(rest, type=item.type, help=item.help))


def script(command: click.Command, shell: str, name: str = "elrcheck") -> str:
    """Return the completion script that the shell evaluates at startup."""
    text: str = _completion_of(command, shell, name).source()
    return text


def answer(command: click.Command, instruction: str, name: str) -> str:
    """Return the answer to an instruction (`bash_complete`, `zsh_source`); the typed words are in the environment."""
    shell, _, what = instruction.partition("_")
    completion = _completion_of(command, shell, name)
    text: str = completion.source() if what == "source" else completion.complete()
    return text


def _completion_of(command: click.Command, shell: str, name: str) -> Any:
    kind = EqualsBash if shell == "bash" else get_completion_class(shell)
    if kind is None:
        raise click.BadParameter(f"completion does not support the shell {shell!r}")
    return kind(command, {}, name, variable(name))


def variable(name: str) -> str:
    """Return the environment variable through which a completion script passes its instruction."""
    return f"_{name.replace('-', '_').upper()}_COMPLETE"


# ------------------------------------------------- the text of a user's model, whose Python a Tab must not run


Named: TypeAlias = tuple[str, str, str]
"""(id, name, first line of the docstring); the id is empty for an action"""


def functions_in(model: Path, roles: tuple[str, ...]) -> Iterator[Named]:
    """Yield the functions that are decorated with one of these roles, in the order of the text."""
    for node in _statements(model):
        if isinstance(node, ast.FunctionDef):
            for role, arguments in _decorators(node):
                if role in roles:
                    yield next(_texts(arguments), ""), node.name, (ast.get_docstring(node) or "").partition("\n")[0]


def settings_in(model: Path) -> Iterator[tuple[str, str]]:
    """Yield the fields of the configuration with their defaults."""
    for node in _statements(model):
        if isinstance(node, ast.ClassDef) and any(role == "config" for role, _ in _decorators(node)):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id, "" if field.value is None else f"default {ast.unparse(field.value)}"


def sets_in(model: Path, keyword: str) -> Iterator[str]:
    """Yield the variants or scopes (`keyword`) of a `ProtocolModel`, if they are written as a dictionary."""
    for node in _statements(model):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for argument in node.value.keywords:
                if argument.arg == keyword and isinstance(argument.value, ast.Dict):
                    yield from _texts([key for key in argument.value.keys if key is not None])


def _statements(model: Path) -> Iterator[ast.stmt]:
    for file in sorted(model.rglob("*.py")) if model.is_dir() else [model]:
        yield from ast.parse(file.read_text(encoding="utf-8")).body


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> Iterator[tuple[str, list[ast.expr]]]:
    for decorator in node.decorator_list:
        name, arguments = (decorator.func, decorator.args) if isinstance(decorator, ast.Call) else (decorator, [])
        if isinstance(name, ast.Name):
            yield name.id, arguments


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
