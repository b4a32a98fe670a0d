"""`elrcheck trace show --eval`: evaluate expressions of the modelling language along a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.lang.load import Model
from elrcheck.lang.query import Asker, NoValue, Query, QueryError, compile_query
from elrcheck.results.trace_reports import Evaluated, Evaluation
from elrcheck.traces.describe import text as in_words
from elrcheck.traces.replay import Replayed

FEW = 12
"""Maximum number of names that a message lists."""


def evaluate(subject: Replayed, expressions: Sequence[str], first: int, last: int) -> tuple[Evaluation, ...]:
    """Return the values around steps `first` to `last`, the state before them included."""
    queries = [read_query(subject.model, text) for text in expressions]
    asker = Asker(subject.model, subject.config)
    return tuple(
        Evaluation(query.text, query.is_step, tuple(_values(asker, query, subject, first, last))) for query in queries
    )


def read_query(model: Model, text: str) -> Query:
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
            "bad-expression", str(fault), where="--eval", excerpt=f"{one_line}\n{underline}", help=help
        ) from fault


def _values(asker: Asker, query: Query, subject: Replayed, first: int, last: int) -> Iterator[Evaluated]:
    """Return the value of the expression in each state; that of step n has the number of the state it leads to."""
    before: tuple[str | None, str | None] | None = None
    for number in range(first if query.is_step else first - 1, last + 1):
        states = subject.states[number - 1 : number + 1] if query.is_step else (subject.states[number],)
        try:
            value: tuple[str | None, str | None] = (in_words(asker.value(query, *states), query.ty), None)
        except NoValue as why:
            value = (None, str(why))
        yield Evaluated(number, *value, changed=value != before)
        before = value
