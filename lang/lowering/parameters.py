"""The open numbers of a configuration (see `open_numbers`)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, fields

from elrcheck.lang.runtime import ModelConfig


@dataclass(frozen=True)
class Parameter:
    """An open number: a field of the configuration, with its least and greatest value."""

    name: str
    lo: int
    hi: int


def parameters(config: ModelConfig, least: Mapping[str, int], sizes: Set[str]) -> tuple[Parameter, ...]:
    """Return the open numbers of a lowering, in the order of the configuration's fields; ValueError for other fields.

    least: field -> least value; the configuration has the greatest. A number with one value is not open. sizes: the
    fields that are sizes of sorts, which cannot stay open.
    """
    names = [part.name for part in fields(config)]
    for name, lo in least.items():
        value = getattr(config, name, None)
        if name not in names or type(value) is not int or name in sizes:
            raise ValueError(f"{name} cannot stay open: it is not a number that rules read")
        if lo > value:
            raise ValueError(f"{name} is to be at least {lo}, but {value} is the greatest value")
    chosen = (name for name in names if name in least)
    ranges = (Parameter(name, least[name], getattr(config, name)) for name in chosen)
    return tuple(parameter for parameter in ranges if parameter.lo < parameter.hi)
