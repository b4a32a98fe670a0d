"""Values of the modelling language's types, read from JSON: what every notation checks alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.lang.types import Ty, optional_fields


def broker_or_number(ty: Ty, node: Node) -> int:
    number = node.integer()
    if ty.kind == "replica" and number < 0:
        node.fail(f"{number} is not a broker id")
    return number


def member_of(ty: Ty, node: Node) -> Any:
    """A member of an enum of the model."""
    name = node.text()
    if name not in ty.members:
        node.fail(f"{ty.name} has no member `{name}`", did_you_mean(name, ty.members))
    return ty.cls[name]


def record_of(ty: Ty, node: Node, decode: Callable[[Ty, Node], Any]) -> Any:
    """A record or a state; a field that the model got after the value was stored has its default."""
    optional = optional_fields(ty.cls)
    node.object([name for name in ty.fields if name not in optional], optional)
    named = {name: part for name, part in ty.fields.items() if name in node}
    return ty.cls(**{name: decode(part, node[name]) for name, part in named.items()})


def distinct(node: Node, members: list[Any]) -> frozenset[Any]:
    """The members of a set, each of which is listed once."""
    if len(set(members)) < len(members):
        node.fail("a member of the set is listed twice")
    return frozenset(members)
