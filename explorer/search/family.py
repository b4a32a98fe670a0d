"""One kernel for all configurations that differ only in how far a search goes.

A budget is used in two ways: the bound of the search compares it, and some guards test whether it is 0. Neither needs
a program of its own, so a `KernelFamily` lowers and compiles its largest configuration once, with the budgets left
open (`lang/lowering/open_numbers`), and every search passes their values. Counts, verdicts and depths are those of the
closed configuration, because every use of a budget by a rule is part of the program.

    family = KernelFamily(model, widest, properties)
    search = family.search({"crashes": 1, "fences": 0}, SearchSettings(Limits(max_states=10**6)))
    result = search.run(None, "complete")
    for check, rows in Retrace(search).traces(list(result.first)).items():
        print(family.program.checks[check].name, [family.decode(row) for row in rows])

A search of a family costs more than that of the closed configuration: states are as wide as those of the largest
one, and all its instances are tried. If the largest value of a budget is 0, everything that it allows is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from elrcheck.explorer.kernel.kept_program import kept_kernel, kept_lowering
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.level_questions import Order
from elrcheck.explorer.search.retrace import as_packed
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.open_numbers import budgets_of
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.runtime import ModelConfig


class KernelFamily:
    """All configurations that differ from `widest` only in smaller budgets, lowered and compiled once.

    properties: by default all `always` and `sometimes` properties. least: the numbers that stay open, each with its
    least value; by default every budget of the model, from 0. Any whole number that the rules read may stay open,
    except the size of a sort; raise ValueError for others. between: see `lower`.

    A family may be used by one thread at a time. It holds no states between searches.
    """

    def __init__(
        self,
        model: Model,
        widest: ModelConfig,
        properties: Sequence[Fn] | None = None,
        *,
        least: Mapping[str, int] | None = None,
        cache: KernelCache | None = None,
        between: Callable[[], object] = bool,
    ) -> None:
        names = dict.fromkeys(budgets_of(model), 0) if least is None else least
        self.model, self.widest = model, widest
        checks = model.checks if properties is None else properties
        self.lowered: Lowered = kept_lowering(model, widest, checks, names, between)
        self._cache = cache

    @cached_property
    def native(self) -> Kernel:
        """The kernel, compiled on first use; never, if every answer is stored."""
        return kept_kernel(self.lowered, self._cache)

    @property
    def program(self) -> Program:
        """The program of the largest configuration."""
        return self.lowered.program

    def closed(self, bounds: Mapping[str, int]) -> Lowered:
        """Return the program with these budgets; those not named keep their greatest value.

        Its `config` is the configuration that a search explores. Raise ValueError if that is not in this family.
        """
        return self.lowered.at(bounds)

    def member(self, config: ModelConfig) -> Lowered:
        """Return the program of a configuration; raise ValueError if it is not in this family."""
        lowered = self.closed({p.name: getattr(config, p.name) for p in self.lowered.parameters})
        if lowered.config != config:
            raise ValueError("the configuration differs in more than open numbers")
        return lowered

    def order(self, config: ModelConfig) -> Order:
        """Return the order with which `Retrace` chooses the same trace as a search of the closed configuration.

        This lowers that configuration without its checks, so use it only where the very same trace matters.
        """
        return as_packed(self.native.layout, self.lowered.slots, kept_lowering(self.model, config, ()).slots)

    def search(self, bounds: Mapping[str, int], settings: SearchSettings | None = None) -> Search:
        """Return a search, not yet run, of the configuration with these budgets (`closed`)."""
        return Search(self.closed(bounds).program, settings, native=self.native)

    def decode(self, row: Sequence[int]) -> Any:
        """Return the plain state of a row of a trace."""
        return self.lowered.decode(row)
