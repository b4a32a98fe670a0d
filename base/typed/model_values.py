"""Values of the modelling language's types, read from JSON."""

from __future__ import annotations

from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.lang.domains import in_order
from elrcheck.lang.runtime import Map
from elrcheck.lang.types import Ty, optional_fields


class JsonValues:
    """Reads values from JSON in the usual notation; other notations override methods."""

    def decode(self, ty: Ty, node: Node) -> Any:
        """Return the value of this type; raise UsageFault if the JSON does not fit."""
        match ty.kind:
            case "bool":
                return node.boolean()
            case "nat" | "member":
                return self.number(ty, node)
            case "enum":
                return self.member(ty, node)
            case "set":
                return self.distinct(ty, node)
            case "opt":
                return self.optional(ty, node)
            case "vec":
                return self.map(ty, node) if ty.is_map else self.vector(ty, node)
            case "seq":
                return self.sequence(ty, node)
            case "record" if ty.is_pair:
                return self.pair(ty, node)
            case "record" | "state":
                return self.record(ty, node)
        node.fail(f"a {ty} cannot be in a trace")

    def number(self, ty: Ty, node: Node) -> int:
        number = node.integer()
        if ty.kind == "member" and number < 0:
            node.fail(f"{number} is not a {ty.word}")
        return number

    def member(self, ty: Ty, node: Node) -> Any:
        """Return a member of an enum of the model."""
        name = node.text()
        if name not in ty.members:
            node.fail(f"{ty.name} has no member `{name}`", did_you_mean(name, ty.members))
        return ty.cls[name]

    def distinct(self, ty: Ty, node: Node) -> frozenset[Any]:
        """Return a set; fail if a member is listed twice."""
        members = [self.decode(ty.elem, part) for part in self.listed(node)]
        if len(set(members)) < len(members):
            node.fail("a member of the set is listed twice")
        return frozenset(members)

    def pair(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        """Return a tuple of a fixed length."""
        parts = self.ordered(node)
        if len(parts) != len(ty.parts):
            node.fail(f"expected {len(ty.parts)} values, not {len(parts)}")
        return tuple(self.decode(part, one) for part, one in zip(ty.parts, parts, strict=True))

    def ordered(self, node: Node) -> list[Node]:
        """Return the parts of a tuple."""
        return node.items()

    def listed(self, node: Node) -> list[Node]:
        """Return the members of a set."""
        return node.items()

    def optional(self, ty: Ty, node: Node) -> Any:
        return None if node.value is None else self.decode(ty.elem, node)

    def sequence(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        return tuple(self.decode(ty.elem, part) for part in node.items())

    def vector(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        """Return one value for each broker."""
        return self.sequence(ty, node)

    def map(self, ty: Ty, node: Node) -> Map[Any, Any]:
        """Return a map from a list of pairs of a key and its value."""
        values: dict[Any, Any] = {}
        for pair in self.entries(node):
            if len(pair.items()) != 2:
                pair.fail("expected a pair [key, value]")
            key, value = pair.items()
            named = self.decode(ty.keys, key)
            if named in values:
                key.fail("the key is given twice")
            values[named] = self.decode(ty.elem, value)
        return Map({key: values[key] for key in in_order(values)})

    def entries(self, node: Node) -> list[Node]:
        """Return the pairs of a map."""
        return node.items()

    def record(self, ty: Ty, node: Node) -> Any:
        """Return a record or a state; a field that the model gained after the value was stored has its default."""
        optional = optional_fields(ty.cls)
        node.object([name for name in ty.fields if name not in optional], optional)
        named = {name: part for name, part in ty.fields.items() if name in node}
        return ty.cls(**{name: self.decode(part, node[name]) for name, part in named.items()})
