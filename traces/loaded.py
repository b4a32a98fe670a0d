"""A recorded behaviour with its model and configuration, and the files of stored traces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.lang.domains import domain, in_order, size_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.types import Ty
from elrcheck.traces.behaviour import Behaviour, LabelT


@dataclass(frozen=True)
class NamedSelection:
    """The model selected on the command line; `named` lists the options given explicitly.

    Others are defaults, which a trace that names its configuration overrides.
    """

    selection: Selection = field(default_factory=Selection)
    named: frozenset[str] = frozenset()

    def over(self, recorded: Selection) -> Selection:
        """Return the file's selection with explicit options applied; --set adds to the file's overrides."""
        own = self.selection
        adds = "overrides" in self.named or not recorded.variant
        return replace(
            own,
            variant=own.variant if "variant" in self.named or not recorded.variant else recorded.variant,
            scope=own.scope if "scope" in self.named or not recorded.scope else recorded.scope,
            overrides=(*recorded.overrides, *(own.overrides if adds else ())),
        )


@dataclass(frozen=True)
class Loaded(Generic[LabelT]):
    """A behaviour as recorded, with its model; it has not been replayed."""

    model: Model
    config: Any
    behaviour: Behaviour[LabelT]

    @property
    def property(self) -> Fn | None:
        """The property that the behaviour is about, None if the model lacks it."""
        return self.model.properties_by_id.get(self.behaviour.origin.property)


def stored_traces(path: Path) -> list[Path]:
    """List a stored trace, or those of a run folder, violations first; raise UsageFault for an empty folder."""
    if not path.is_dir():
        return [path]
    traces = sorted(path.glob("*.trace.json"), key=_by_number)
    if not traces:
        raise UsageFault("no-trace", f"no stored trace in {path}", help="run `elrcheck check --run-dir`")
    return traces


def _by_number(path: Path) -> tuple[str, int, str]:
    kind, _, rest = path.name.partition("-")
    digits = "".join(ch for ch in rest.split(".")[0] if ch.isdigit())
    return kind, int(digits or 0), path.name


def check_size(ty: Ty, value: Any, at: Node, config: Any) -> None:
    """Raise UsageFault for a member that its sort lacks, or a vector whose length is not that of its sort."""
    match ty.kind:
        case "member" if value >= size_of(ty, config):
            at.fail(f"there is no {ty.word} {value}, only 0 to {size_of(ty, config) - 1}")
        case "vec" if ty.is_map:
            for key, element in value.items():
                check_size(ty.keys, key, at, config)
                check_size(ty.elem, element, at, config)
            if len(value) != len(domain(ty.keys, config)):
                at.fail(f"expected one value for each of {len(domain(ty.keys, config))} keys, not {len(value)}")
        case "vec" if len(value) != size_of(ty.keys, config):
            count, words = size_of(ty.keys, config), ty.keys.words
            at.fail(f"expected one value for each of {count} {words}, not {len(value)}")
        case "opt" if value is not None:
            check_size(ty.elem, value, at, config)
        case "set" | "vec" | "seq":
            for i, element in enumerate(in_order(value) if ty.kind == "set" else value):
                check_size(ty.elem, element, at.inside(i), config)
        case "record" | "state":
            for name, inner in ty.fields.items():
                check_size(inner, ty.field_of(value, name), at.inside(int(name) if ty.is_pair else name), config)
