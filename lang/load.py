"""Collects the parts of a model from its modules and compiles them.

A `ProtocolModel` names the parts. Commands take a file that declares one::

    MODEL = ProtocolModel(State, Config, scopes={"five": {"rms": 5}})
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from elrcheck.lang.compiler.frontend import Frontend
from elrcheck.lang.domains import MOST, domain
from elrcheck.lang.expr import Arithmetic, ConfigField, Expression
from elrcheck.lang.induction import Induction
from elrcheck.lang.ir import Fn, Ret, fn_nodes
from elrcheck.lang.runtime import ModelConfig, NotEnabled, Role
from elrcheck.lang.source import ModelError, dispatch_of, error_at, error_in_field, near
from elrcheck.lang.symmetry.alike_members import demand_symmetric
from elrcheck.lang.tree import sorts_in
from elrcheck.lang.types import BOOL, Ty, record_fields, type_of

IDENT = re.compile(r"[A-Z]+-\d+\w*")
LISTS = ("actions", "always", "sometimes", "lemmas", "leads_to")
"""The lists of functions of a model."""


@dataclass(frozen=True)
class Model:
    """A loaded model. Functions are in source order; `fns` also holds every called operator."""

    state: type
    config: type
    init: Fn
    bound: Fn
    actions: tuple[Fn, ...]
    always: tuple[Fn, ...]
    sometimes: tuple[Fn, ...]
    lemmas: tuple[Fn, ...]
    leads_to: tuple[Fn, ...]
    fns: Mapping[str, Fn]
    induction: Induction = field(default_factory=Induction, compare=False)
    origin: str = field(default="", init=False)
    """A digest of the sources or the contents of the model; empty for a changed copy."""

    def read_from(self, origin: str) -> Model:
        """Set the origin; return this model."""
        object.__setattr__(self, "origin", origin)
        return self

    @property
    def checks(self) -> tuple[Fn, ...]:
        """The properties that a search decides on states and steps: safety properties and witnesses."""
        return (*self.always, *self.sometimes)

    @property
    def properties(self) -> tuple[Fn, ...]:
        """All properties: safety, witnesses and liveness."""
        return (*self.checks, *self.leads_to)

    @property
    def properties_by_id(self) -> dict[str, Fn]:
        return {fn.ident: fn for fn in self.properties}

    @property
    def actions_by_name(self) -> dict[str, Fn]:
        return {fn.name: fn for fn in self.actions}

    @property
    def signatures(self) -> dict[str, list[Ty]]:
        """The types of the arguments of each action."""
        return {fn.name: [ty for _, ty in fn.params] for fn in self.actions}

    @property
    def state_ty(self) -> Ty:
        return type_of(self.state)

    @property
    def sorts(self) -> dict[str, Ty]:
        """The sorts whose members occur in a state, or in an argument of an action or of @init, by name."""
        return sorts_in(self.state_ty, *(ty for fn in (self.init, *self.actions) for _, ty in fn.params))

    @property
    def symmetric_sorts(self) -> dict[str, Ty]:
        """The sorts that are declared symmetric, by name."""
        return {name: ty for name, ty in self.sorts.items() if ty.symmetric}

    @property
    def sizes(self) -> frozenset[str]:
        """The fields of the configuration that are sizes of sorts."""
        return frozenset(ty.size for ty in self.sorts.values() if isinstance(ty.size, str))

    @property
    def divisors(self) -> frozenset[str]:
        """The fields of the configuration that are divisors, and so must be positive."""
        divided = (node.right for node in self.nodes if isinstance(node, Arithmetic) and node.op in ("div", "mod"))
        return frozenset(divisor.name for divisor in divided if isinstance(divisor, ConfigField))

    def with_functions(self, change: Callable[[Fn], Fn], fns: Mapping[str, Fn]) -> Model:
        """Return the model with each function of its lists changed. fns: all functions, by name."""
        lists: dict[str, Any] = {kind: tuple(map(change, getattr(self, kind))) for kind in LISTS}
        return replace(self, init=change(self.init), bound=change(self.bound), fns=fns, **lists)

    @property
    def nodes(self) -> Iterator[Expression]:
        """Every node in the bodies of all functions."""
        return (node for fn in self.fns.values() for node in fn_nodes(fn))

    @property
    def state_fields(self) -> dict[str, Ty]:
        return record_fields(self.state)


class LazyFunctions(Mapping[str, Fn]):
    """The functions of a model that is compiled on demand; iteration compiles all of them."""

    def __init__(self, frontend: Frontend) -> None:
        self._frontend = frontend

    @cached_property
    def _all(self) -> dict[str, Fn]:
        return self._frontend.complete()

    def __getitem__(self, name: str) -> Fn:
        fn = self._frontend.fns.get(name)
        return self._all[name] if fn is None else fn

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def load(state: type, config: type, modules: Sequence[ModuleType], lazily: bool = False) -> Model:
    """Compile the decorated functions of the modules; raise ModelError with the place of a mistake.

    lazily: see `Frontend`.
    """
    frontend = Frontend(state, config, lazily)
    by_kind: dict[str, list[Fn]] = {}
    for module in modules:
        for function in _decorated(module):
            if function.__elr_role__.kind == "dispatch":  # type: ignore[attr-defined]
                _demand_fitting(frontend, function, lazily)
                continue
            fn = frontend.fn(function)
            by_kind.setdefault(fn.kind, []).append(fn)
    if not by_kind.get("bound"):
        everywhere = _true_everywhere()
        by_kind["bound"] = [everywhere]
        frontend.adopt(everywhere)
    for kind in ("init", "bound"):
        if len(by_kind.get(kind, [])) != 1:
            message = f"a model has exactly one @{kind} function, not {len(by_kind.get(kind, []))}"
            if by_kind.get(kind):
                first, second, *_ = by_kind[kind]
                raise _error(second, message, f"{first.name} at {first.place} is another")
            raise ModelError(message, help="@init def Init(c: Config) -> State")
    _check_ids([fn for kind in ("always", "sometimes", "leads_to") for fn in by_kind.get(kind, [])])
    model = Model(
        state=state,
        config=config,
        init=by_kind["init"][0],
        bound=by_kind["bound"][0],
        actions=tuple(by_kind.get("action", ())),
        always=tuple(by_kind.get("always", ())),
        sometimes=tuple(by_kind.get("sometimes", ())),
        lemmas=tuple(by_kind.get("lemma", ())),
        leads_to=tuple(by_kind.get("leads_to", ())),
        fns=LazyFunctions(frontend) if lazily else frontend.fns,
    )
    if not lazily and model.symmetric_sorts:
        demand_symmetric(model.fns, (model.init, model.bound, *model.actions, *model.checks))
    return model


def in_order(model: Model) -> Model:
    """Return the model with its properties sorted by number across modules."""
    return replace(model, always=tuple(sorted(model.always, key=lambda fn: by_number(fn.ident))))


def by_number(ident: str) -> tuple[int, str]:
    """Split an id for sorting: P-3b is (3, "b")."""
    digits, rest = re.fullmatch(r"[A-Z]+-(\d+)(\w*)", ident).groups()  # type: ignore[union-attr]
    return int(digits), rest


def _true_everywhere() -> Fn:
    """Return the bound of a model that has none."""
    from elrcheck.lang.expr import Constant

    def Bound(c: ModelConfig, s: object) -> bool:
        return True

    place = inspect.getsourcelines(Bound)[1]
    return Fn(
        name=Bound.__name__,
        kind="bound",
        ident="",
        note="",
        doc="Every state is searched.",
        source=Bound,
        file=__file__,
        line=place,
        states=["s"],
        has_config=True,
        ret=BOOL,
        body=Ret(Constant(BOOL, True)),
    )


def _demand_fitting(frontend: Frontend, function: Callable[..., Any], lazily: bool) -> None:
    """Require that each case of a dispatching operator takes its record; a lazy load has been checked before.

    Both kinds of load compile the cases here, so their functions have the same order.
    """
    choice = dispatch_of(function)
    for kind in choice.cases:
        operator = choice.operator(kind)
        assert operator is not None
        fn = frontend.fn(operator)
        if not lazily and kind not in [ty.cls for _, ty in fn.params if ty.kind == "record"]:
            message = f"{fn.name} is the case of {function.__name__} for {kind.__name__} and does not take one"
            raise _error(fn, message, f"give it a parameter of the type {kind.__name__}")


def _check_ids(properties: Iterable[Fn]) -> None:
    """Require that ids are letters, a dash and a number, and that no two properties share one."""
    by_ident: dict[str, Fn] = {}
    for fn in properties:
        if not IDENT.fullmatch(fn.ident):
            raise _error(fn, f"'{fn.ident}' is not an id of a property", "such as P-32, P-3b, W-15, V-11")
        if fn.ident in by_ident:
            other = by_ident[fn.ident]
            message = f"property ids must be unique: {fn.ident}"
            raise _error(fn, message, f"{other.name} at {other.place} has it too")
        by_ident[fn.ident] = fn


def demand_documents(model: Model) -> None:
    """Raise ModelError for the first action or property without a docstring."""
    for fn in (*model.actions, *model.properties):
        if not fn.doc:
            raise _error(
                fn,
                f"{fn.kind} {fn.name} has no docstring",
                "say what happens or holds, and where that is written: a section of its source, a class",
            )


def demand_listed(folder: Path, kinds: Sequence[str], modules: Iterable[ModuleType], registry: str) -> None:
    """Raise ModelError for the first function of these kinds below a folder whose file is not one of the modules.

    registry: the place where the modules are listed.
    """
    listed = {Path(str(module.__file__)).resolve() for module in modules}
    mark = re.compile(rf"^@({'|'.join(kinds)})\b")
    for file in sorted(folder.rglob("*.py")):
        if file.resolve() in listed or not file.is_file():  # such as a lock of Emacs
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if mark.match(line):
                message = f"no model has this function: {file.stem} is in no list of modules"
                raise error_at(str(file), number, message, f"import {file.stem} and list it in {registry}")


def _error(fn: Fn, message: str, help: str) -> ModelError:
    return error_at(fn.file, fn.line, message, help)


def _demand_different_names(module: ModuleType) -> None:
    """Require that no later function of the same name replaces a decorated one, which nothing would check then."""
    file, lines = str(module.__file__), dict[str, int]()
    for node in ast.parse(Path(file).read_bytes()).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.decorator_list and node.name in lines:
            message = f"two functions are called {node.name}: this replaces the one at line {lines[node.name]}"
            raise error_at(file, node.lineno, message, "give one of them another name")
        lines[node.name] = node.lineno


def _decorated(module: ModuleType) -> Iterable[Callable[..., Any]]:
    """Return the decorated functions that the module itself defines, in source order."""
    own = [
        value
        for value in vars(module).values()
        if isinstance(getattr(value, "__elr_role__", None), Role) and value.__module__ == module.__name__
    ]
    return sorted(own, key=lambda f: int(f.__code__.co_firstlineno))


Settings: TypeAlias = Mapping[str, bool | int | Any]
"""Values of fields of the configuration, by name; an enum by its member."""
DEFAULT = "default"
"""The scope in which every field of the configuration has its default."""


@dataclass(frozen=True)
class ProtocolModel:
    """A protocol as one declared object.

    state, config: the classes with `@state` and `@config`. modules: those with the actions and properties, by default
    the one that defines the state. variants, scopes: named settings; a scope overrides a variant. Scopes may also be a
    folder of TOML files. induction: see `Induction`. suites: a folder of suite files. aliases: other names of variants,
    each with the variant.
    """

    state: type
    config: type
    modules: Sequence[ModuleType] = ()
    variants: Mapping[str, Settings] = field(default_factory=dict)
    scopes: Mapping[str, Settings] | Path = field(default_factory=dict)
    induction: Induction = field(default_factory=Induction)
    suites: Path | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for role in ("state", "config"):
            kind = getattr(self, role)
            if getattr(kind, "__elr_role__", None) != role:
                message = f"`{getattr(kind, '__name__', kind)}` has no decorator @{role}"
                raise ModelError(message, help="ProtocolModel(State, Config): first the class with @state")
        defaults = {part.name: part.default for part in fields(self.config)}
        for name, default in defaults.items():
            if default is MISSING:
                raise error_in_field(self.config, name, "a field of the configuration has a default", "such as = 2")
        if not isinstance(self.modules, Sequence) or not all(isinstance(each, ModuleType) for each in self.modules):
            raise ModelError("`modules` are imported modules, in a list", help="from . import rules; modules=(rules,)")
        if not isinstance(self.suites, Path | None):
            raise ModelError("`suites` is a folder, a Path", help='suites=Path(__file__).parent / "suites"')
        scopes = {} if isinstance(self.scopes, Path) else self.scopes
        for what, named in (("variant", self.variants), ("scope", scopes)):
            if not isinstance(named, Mapping) or not all(isinstance(settings, Mapping) for settings in named.values()):
                raise ModelError(f"{what}s have names: {what}s={{'name': {{'field': value}}}}")
            for name, settings in named.items():
                for key, value in settings.items():
                    if key not in defaults:
                        message = f"{what} `{name}`: {self.config.__name__} has no field `{key}`"
                        raise ModelError(message, help=near(key, defaults))
                    if type(value) is not type(defaults[key]):
                        kind = type(defaults[key]).__name__
                        raise ModelError(f"{what} `{name}`: `{key}` is of the type {kind}, not {value!r}")

        for alias, variant in self.aliases.items():
            if alias in self.variants or variant not in self.variants:
                message = f"aliases: `{alias}` cannot be another name of the variant `{variant}`"
                raise ModelError(message, help="{'other name': 'variant'}, each name once")

    def load(self) -> Model:
        """Compile the model; raise ModelError with the place of a mistake."""
        modules = self.modules or (sys.modules[self.state.__module__],)
        for module in modules:
            _demand_different_names(module)
        model = load(self.state, self.config, modules)
        if not model.actions:
            raise ModelError("the model has no @action, so nothing happens", help="@action def Step(c, s) -> State")
        return replace(in_order(model), induction=self.induction)


def initial_states(model: Model, config: ModelConfig) -> tuple[Any, ...]:
    """Return the initial state for each choice of the parameters of @init that its guards admit, in order.

    Two choices may give the same state. Raise ModelError if the guards refuse every choice.
    """
    states = []
    for args in instances(model.init, config):
        with contextlib.suppress(NotEnabled):
            states.append(model.init.source(config, *args))
    if not states:
        raise _error(model.init, "there is no initial state: the guards refuse every choice", "make a guard weaker")
    return tuple(states)


def searched_from(model: Model, config: ModelConfig) -> tuple[Any, ...]:
    """Return the initial states of a search (`initial_states`); raise ModelError for one outside the bound.

    TLC does not explore such a state. A search that did would depend on which parts of the bound a step affects.
    """
    states = initial_states(model, config)
    if not all(model.bound.source(config, state) for state in states):
        help = "begin with another state, or make the bound weaker"
        raise _error(model.bound, "an initial state is outside the bound", help)
    return states


def instances(fn: Fn, config: ModelConfig) -> Iterator[tuple[object, ...]]:
    """Return every choice of the parameters of a function, in lexicographic order; ModelError if they are too many."""
    try:
        domains = [domain(ty, config) for _, ty in fn.params]
    except ModelError as fault:
        raise _error(fn, fault.message, fault.help) from fault
    count = math.prod(map(len, domains))
    if count > MOST:
        message = f"{fn.name} has {count} choices of its parameters under this configuration, more than {MOST}"
        raise _error(fn, message, "fewer parameters, types with fewer values, or a smaller configuration")
    return itertools.product(*domains)
