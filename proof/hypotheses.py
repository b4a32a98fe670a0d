"""The declarations of a model's `Induction` as compiled functions: lemmas, conditions, assumptions, possible steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig


def lemmas_of(model: Model, liveness: bool = False) -> tuple[Fn, ...]:
    """Return the lemmas about a state, then those about the history, and for liveness those that only waits need.

    For a model without a history: its lemmas and its properties of states, which are proved together.
    """
    history, of_waits = model.induction.history, model.induction.wait_lemmas if liveness else ()
    if history is None:
        rest = tuple(fn for fn in model.always if not fn.is_step)
    else:
        rest = tuple(model.fns[function.__name__] for function in history.lemmas)
    return (*model.lemmas, *rest, *(model.fns[function.__name__] for function in of_waits))


def condition_of(model: Model, fn: Fn, config: ModelConfig) -> Fn | None:
    """Return the condition under which a property is proved in a configuration; None if it has none."""
    condition = model.induction.conditions(config).get(fn.ident)
    return None if condition is None else model.fns[condition.__name__]


def assumptions_of(model: Model, names: Iterable[str]) -> Iterator[Fn]:
    """Yield the assumptions on steps with these names of `prove --assume`."""
    yield from (model.fns[model.induction.named[name].__name__] for name in names)


def must_be_possible(model: Model, assumptions: Iterable[Fn]) -> Iterator[tuple[Fn, Fn | None]]:
    """Yield the steps and states that no proof may exclude, each with the assumption that must allow it, or None."""
    allowed = {fn.__name__: steps for fn, steps in model.induction.allowed.items()}
    for assumption in assumptions:
        yield from ((model.fns[step.__name__], assumption) for step in allowed.get(assumption.name, ()))
    yield from ((model.fns[fn.__name__], None) for fn in model.induction.possible)


def steps_of(model: Model, fn: Fn) -> tuple[str, ...]:
    """Return the actions that may take a step that must be possible, by default all."""
    named = {step.__name__: actions for step, actions in model.induction.actions.items()}
    return named.get(fn.name, tuple(action.name for action in model.actions))
