"""What every property says along a trace, in plain Python: a report shows it beside the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.trace_view import Truth
from elrcheck.traces.replay import Finding


def with_truths(model: Model, config: ModelConfig, finding: Finding) -> Finding:
    """The finding whose view also says where on the trace each property is hit."""
    view = replace(finding.view, truths=truths(model, config, finding.visited))
    return replace(finding, view=view)


def truths(model: Model, config: ModelConfig, states: Sequence[Any]) -> tuple[Truth, ...]:
    """Every `always` and `sometimes` property on the states of a trace, or on the steps into them."""
    plain = PlainModel(model, config)
    found = []
    for fn in (*model.always, *model.sometimes):
        kind: Literal["always", "sometimes"] = "always" if fn.kind == "always" else "sometimes"
        hits = tuple(
            number
            for number in range(1 if fn.is_step else 0, len(states))
            if plain.holds(fn, *(states[number - 1 : number + 1] if fn.is_step else (states[number],)))
            == (kind == "sometimes")
        )
        found.append(Truth(fn.ident, fn.name, kind, fn.is_step, hits))
    return tuple(found)
