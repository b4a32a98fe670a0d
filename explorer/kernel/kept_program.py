"""Lowered programs of earlier runs, and their kernels, in the cache folder.

Lowering a model takes longer than searching a small configuration, and its result is always the same. So it
is stored under a name: a digest of the sources of the model and its language, the configuration, the
properties and the open numbers. An entry of the store has the leaves, instances and checks of a program, and
the nodes that they need, as a table of numbers; a table that does not fit the model is replaced. A model that was
changed in memory differs from its source files (`Model.origin`) and is never stored.
"""

from __future__ import annotations

import enum
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Literal

from elrcheck.base.kept.named_digests import sources
from elrcheck.base.kept.store import Store
from elrcheck.base.roundtrip import Record
from elrcheck.lang.domains import domain
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.lowered import EvaluatedModel, Lowered, slots_of
from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.open_numbers import parameters
from elrcheck.lang.lowering.program import Check, Instance, Leaf, Program
from elrcheck.lang.runtime import ModelConfig

if TYPE_CHECKING:
    from elrcheck.explorer.kernel.kernel import Kernel
    from elrcheck.explorer.kernel.native_code import KernelCache

POSITION = "#"
Row = tuple[str, tuple[int, ...], int, int, int]
"""A node: operation, places of its operands above it in the table, least and greatest value, leaf."""
Written = bool | int | None | tuple[int, ...] | str
"""A value of a parameter: as it is, the members of a set, `Colour.RED` for a member of an enum; else `#7`, its position
among all values of its type."""


class ProgramInstance(Record, frozen=True, array_like=True):
    """args: the values of the action's parameters (`_Choices`); the rest are places of nodes."""

    action: str
    args: tuple[Written, ...]
    guards: tuple[int, ...]
    updates: tuple[tuple[int, int], ...]
    within: tuple[int, ...]
    steps: tuple[tuple[int, int], ...]


class ProgramCheck(Record, frozen=True, array_like=True):
    """See `program.Check`; node is the place of its node."""

    name: str
    kind: Literal["always", "sometimes"]
    scope: Literal["state", "step"]
    node: int | None


class KeptProgram(Record, frozen=True, array_like=True):
    """A stored program. varying: the scalars of the state that are leaves; guards: names, action by action."""

    guards: tuple[tuple[str, ...], ...]
    nodes: tuple[Row, ...]
    varying: tuple[int, ...]
    leaves: tuple[tuple[str, int, int], ...]
    instances: tuple[ProgramInstance, ...]
    checks: tuple[ProgramCheck, ...]
    init: tuple[tuple[int, ...], ...]


def kept_lowering(
    model: Model,
    config: ModelConfig,
    properties: Sequence[Fn],
    open_numbers: Mapping[str, int] | None = None,
    between: Callable[[], object] = bool,
) -> Lowered:
    """Return what `lower` returns, from the store if an earlier run or the installation has stored it."""
    name = _name(model, config, properties, open_numbers or {})
    if not name:
        return _lowered(model, config, properties, open_numbers, between)
    store = Store("programs", KeptProgram, shipped=True)
    entry = store.get(name)
    if entry is not None:
        try:
            return _restored(entry.value, name, model, config, open_numbers or {})
        except (ValueError, LookupError, TypeError):
            store.refuse(name, "has a program that does not fit the model")
    lowered = _lowered(model, config, properties, open_numbers, between)
    lowered.name = name
    store.put(name, table_of(lowered))
    return lowered


def _lowered(
    model: Model,
    config: ModelConfig,
    properties: Sequence[Fn],
    open_numbers: Mapping[str, int] | None,
    between: Callable[[], object] = bool,
) -> Lowered:
    """Call `lower`, which is imported only here: a run that finds its program in the store does without it."""
    from elrcheck.lang.lowering.lower import lower

    return lower(model, config, properties, open_numbers, between)


def kept_kernel(lowered: Lowered, cache: KernelCache | None, fingerprint: int = 0, quick: bool = True) -> Kernel:
    """Return the kernel of a lowered program. fingerprint: see `build`. quick: begin with a quick one (`upgrade`)."""
    from elrcheck.explorer.kernel.kernel import build, build_quick  # not at the top: a wheel is built without LLVM
    from elrcheck.explorer.kernel.native_code import compiler_identity

    compiled = build_quick if quick else build
    if not lowered.name or cache is None:
        return compiled(lowered.program, cache, fingerprint)
    parts = ("kernel", lowered.name, str(fingerprint), sources("explorer/kernel"), *compiler_identity())
    return compiled(lowered.program, cache, fingerprint, hashlib.sha256("\0".join(parts).encode()).hexdigest())


def _name(model: Model, config: ModelConfig, properties: Sequence[Fn], open_numbers: Mapping[str, int]) -> str:
    """Return a digest of all that the result of lowering depends on; "" for a model that was changed in memory."""
    if not model.origin or any(model.fns.get(fn.name) is not fn for fn in properties):
        return ""
    names = [part.name for part in fields(config)]
    names += [name for cls in type(config).__mro__ for name, part in vars(cls).items() if isinstance(part, property)]
    settings = [(name, _setting(config, name)) for name in names]
    checks = [fn.name for fn in properties]
    identity = repr((model.origin, sources("explorer/kernel"), settings, checks, sorted(open_numbers.items())))
    return hashlib.sha256(identity.encode()).hexdigest()


def _setting(config: ModelConfig, name: str) -> str:
    """Return the value of a field or a property as text; the error if a property raises one."""
    try:
        return repr(getattr(config, name))
    except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
        return repr(fault)


# ---------------------------------------------------------------------------- to the file, and back


def table_of(lowered: Lowered) -> KeptProgram:
    program, choices = lowered.program, _Choices(lowered.model, lowered.config)
    nodes = cone(
        [node for check in program.checks if (node := check.node) is not None]
        + [node for instance in program.instances for node in instance.nodes]
    )
    place = {node.id: number for number, node in enumerate(nodes)}

    def places(nodes: Mapping[int, DagNode]) -> tuple[tuple[int, int], ...]:
        return tuple((key, place[node.id]) for key, node in nodes.items())

    return KeptProgram(
        guards=tuple(guard_names(fn) for fn in lowered.model.actions),
        nodes=tuple(
            (node.op, tuple(place[arg.id] for arg in node.args), node.lo, node.hi, node.leaf) for node in nodes
        ),
        varying=tuple(k for k, slot in enumerate(lowered.slots) if slot.index is not None),
        leaves=tuple((leaf.path, leaf.lo, leaf.hi) for leaf in program.leaves),
        instances=tuple(
            ProgramInstance(
                one.action,
                choices.written(one.action, one.args),
                tuple(place[node.id] for node in one.guards),
                places(one.updates),
                tuple(place[node.id] for node in one.within),
                places(one.step_checks),
            )
            for one in program.instances
        ),
        checks=tuple(
            ProgramCheck(one.name, one.kind, one.scope, None if one.node is None else place[one.node.id])
            for one in program.checks
        ),
        init=program.init,
    )


def _restored(
    table: KeptProgram, name: str, model: Model, config: ModelConfig, open_numbers: Mapping[str, int]
) -> Lowered:
    """Return the program of a table; raise ValueError, LookupError or TypeError if it does not fit the model."""
    dag = Dag()
    nodes: list[DagNode] = []
    for op, args, lo, hi, leaf in table.nodes:
        nodes.append(dag.restore(op, tuple(nodes[arg] for arg in args), lo, hi, leaf))
    choices = _Choices(model, config)
    opened = parameters(config, open_numbers, model.sizes if open_numbers else frozenset())
    written = len(table.leaves) - len(opened)
    program = Program(
        dag=dag,
        leaves=tuple(Leaf(path, lo, hi) for path, lo, hi in table.leaves),
        instances=tuple(
            Instance(
                one.action,
                choices.read(one.action, one.args),
                tuple(nodes[place] for place in one.guards),
                {leaf: nodes[place] for leaf, place in one.updates},
                tuple(nodes[place] for place in one.within),
                {check: nodes[place] for check, place in one.steps},
            )
            for one in table.instances
        ),
        checks=tuple(
            Check(one.name, one.kind, one.scope, None if one.node is None else nodes[one.node]) for one in table.checks
        ),
        init=table.init,
        parameters=tuple(range(written, len(table.leaves))),
    )
    slots = slots_of(model, config, frozenset(table.varying))
    lowered = Lowered(model, config, program, slots, opened, _LoweredOnDemand(model, config, open_numbers))
    lowered.name = name
    for fn, names in zip(model.actions, table.guards, strict=True):
        fn.guards = names
    return lowered


class _Choices:
    """Encodes and decodes the values of the parameters of actions."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self._actions, self._config = model.actions_by_name, config

    def written(self, action: str, args: Sequence[object]) -> tuple[Written, ...]:
        return tuple(self._written(action, place, value) for place, value in enumerate(args))

    def read(self, action: str, args: Sequence[Written]) -> tuple[object, ...]:
        return tuple(self._read(action, place, value) for place, value in enumerate(args))

    def _written(self, action: str, place: int, value: object) -> Written:
        match value:
            case enum.Enum() if self._names(action).get(type(value).__name__) is type(value):
                return f"{type(value).__name__}.{value.name}"
            case enum.Enum():
                pass
            case None | int():
                return value
            case frozenset() if all(type(part) is int for part in value):
                return tuple(sorted(value))
        return f"{POSITION}{self._domain(action, place).index(value)}"

    def _read(self, action: str, place: int, value: Written) -> object:
        """Decode a value; an enum is looked up by name in the module of the action."""
        if isinstance(value, tuple):
            return frozenset(value)
        if not isinstance(value, str):
            return value
        if value.startswith(POSITION):
            return self._domain(action, place)[int(value.removeprefix(POSITION))]
        name, _, member = value.partition(".")
        kind = self._names(action)[name]
        if not isinstance(kind, type) or not issubclass(kind, enum.Enum):
            raise ValueError(f"{name} is not an enum")
        return kind[member]

    def _names(self, action: str) -> Mapping[str, object]:
        return self._actions[action].source.__globals__

    @functools.cache  # noqa: B019  (one for each use of the store)
    def _domain(self, action: str, place: int) -> Sequence[object]:
        return domain(self._actions[action].params[place][1], self._config)


class _LoweredOnDemand(EvaluatedModel):
    """Lowers the model when the nodes of a function are needed after all."""

    def __init__(self, model: Model, config: ModelConfig, open_numbers: Mapping[str, int]) -> None:
        self._arguments = (model, config, (), open_numbers)

    @functools.cached_property
    def _again(self) -> Lowered:
        return _lowered(*self._arguments)

    def nodes(self, fn: Fn, args: Sequence[object]) -> dict[str, DagNode]:
        """See `Lowered.nodes`."""
        return self._again.nodes(fn, args)
