"""Expressions of the modelling language that a user watches along a trace: in `trace show --eval` and in `web`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.lang.load import Model
from elrcheck.lang.query import Asker, NoValue, Query, QueryError, compile_query
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.trace_reports import Evaluated, Evaluation
from elrcheck.traces.describe import text as in_words

FEW = 12
"""Maximum number of names that a message lists."""


def watched(
    model: Model, config: ModelConfig, states: Sequence[Any], expressions: Sequence[str], where: str, first: int = 1
) -> tuple[Evaluation, ...]:
    """Return the values of expressions in consecutive states.

    first: the number of the step from the first state to the second. where: the option or place that contains the
    expressions, for errors.
    """
    queries = [read_query(model, text, where) for text in expressions]
    asker = Asker(model, config)
    return tuple(
        Evaluation(query.text, query.is_step, tuple(_values(asker, query, states, first))) for query in queries
    )


def read_query(model: Model, text: str, where: str) -> Query:
    """Parse the expression; raise UsageFault with the position of the error."""
    try:
        return compile_query(model, text)
    except QueryError as fault:
        one_line = text.strip().replace("\n", " ").replace("\t", " ")
        underline = " " * fault.begin + "^" * (fault.end - fault.begin)
        names = [name for name in fault.meant if not name.startswith("_")]
        help = None
        if names and fault.word not in names:
            near = did_you_mean(fault.word, names)
            help = near if near.startswith("did") or len(names) <= FEW else None
        if help is None:
            help = "s is the state, t the one after the next step, c the configuration: len(s.partition.isr)"
        raise UsageFault(
            "bad-expression", str(fault), where=where, excerpt=f"{one_line}\n{underline}", help=help
        ) from fault


def _values(asker: Asker, query: Query, states: Sequence[Any], first: int) -> Iterator[Evaluated]:
    """Yield the value of an expression in each state, or each step, which has the number of the state after it."""
    before: tuple[str | None, str | None] | None = None
    moments = itertools.pairwise(states) if query.is_step else zip(states, strict=True)
    for number, moment in enumerate(moments, first if query.is_step else first - 1):
        try:
            value: tuple[str | None, str | None] = (in_words(asker.value(query, *moment), query.ty), None)
        except NoValue as why:
            value = (None, str(why))
        yield Evaluated(number, *value, changed=value != before)
        before = value
