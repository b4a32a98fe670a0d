"""Digests of what a search of a program depends on: the transition system, and each property by itself.

Two programs with the same digests have the same states in the same levels, the same counts and the same shortest
traces, whatever their source. So an answer that is stored under these digests outlives all changes of the model that
make no difference to the program.

A node is named by its operation, its interval and the names of its operands, which are sorted where their order does
not matter; the order of construction, which an unrelated change may alter, has no effect. Instances stay in order,
because new states are credited to the first instance that reaches them. Instances that open numbers switch off are left
out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.program import Check, Instance, Program

UNORDERED = frozenset(("add", "and", "band", "bor", "eq", "max", "min"))
"""Operations whose operands may change places."""


@dataclass(frozen=True)
class ProgramDigest:
    """Digests of a program. system: of leaves, instances and initial states; checks: of the properties, in order."""

    system: str
    checks: tuple[str, ...]


def program_digest(program: Program) -> ProgramDigest:
    """Return the digests of a program; the cost is one hash for each node."""
    live = [instance for instance in program.instances if not program.switched_off(instance)]
    names = _names(_roots(program, live))
    leaves = [f"leaf {leaf.path} {leaf.lo} {leaf.hi}" for leaf in program.leaves]
    starts = [f"init {state}" for state in program.init]
    steps = [_step(instance, names) for instance in live]
    merged = [] if program.symmetry is None else [f"up to {program.symmetry}"]
    checks = tuple(_check(number, check, live, names) for number, check in enumerate(program.checks))
    return ProgramDigest(_sha([*leaves, *starts, *steps, *merged]), checks)


def numbered_digest(program: Program) -> str:
    """Return a digest that also covers the numbers of instances and properties, to which checkpoints refer."""
    digest = program_digest(program)
    instances = [
        f"{instance.action} {instance.args} {program.switched_off(instance)}" for instance in program.instances
    ]
    names = [check.name for check in program.checks]
    return _sha([digest.system, "checks", *digest.checks, "names", *names, "instances", *instances])


def step_digests(program: Program) -> dict[tuple[str, tuple[object, ...]], str]:
    """Return a digest of each instance that is not switched off, by action and arguments.

    In programs with the same leaves, instances with the same digest take the same steps.
    """
    live = [instance for instance in program.instances if not program.switched_off(instance)]
    names = _names(_roots(program, live))
    return {(instance.action, instance.args): _step(instance, names) for instance in live}


def _roots(program: Program, live: Iterable[Instance]) -> Iterable[DagNode]:
    yield from (node for instance in live for node in instance.nodes)
    yield from (check.node for check in program.checks if check.node is not None)


def _names(roots: Iterable[DagNode]) -> dict[int, str]:
    """Return a digest for every node at and below the roots, by id."""
    names: dict[int, str] = {}
    for node in cone(roots):
        below = [names[arg.id] for arg in node.args]
        if node.op in UNORDERED:
            below.sort()
        names[node.id] = _sha((f"{node.op} {node.leaf} {node.lo} {node.hi}", *below))
    return names


def _step(instance: Instance, names: Mapping[int, str]) -> str:
    guards = sorted({names[node.id] for node in instance.guards})
    within = sorted({names[node.id] for node in instance.within})
    updates = [f"{leaf} {names[node.id]}" for leaf, node in sorted(instance.updates.items())]
    return _sha((f"step {instance.action} {instance.args}", "guards", *guards, "within", *within, "to", *updates))


def _check(number: int, check: Check, live: Iterable[Instance], names: Mapping[int, str]) -> str:
    parts = [f"{check.kind} {check.scope}"]
    if check.node is not None:
        parts.append(names[check.node.id])
    for position, instance in enumerate(live):
        node = instance.step_checks.get(number)
        if node is not None:
            parts.append(f"{position} {names[node.id]}")
    return _sha(parts)


def _sha(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
