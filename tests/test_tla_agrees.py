"""TLC and plain Python, state by state: the same successors, and the same value of every property.

Counts of a whole search (test_counts, test_tla_spec) could agree by luck where two mistakes cancel;
here TLC is given our states and compares values. Half of them are reachable and half are near misses,
so that properties that hold in every behaviour are also seen to be false.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sampling import perturbed, reachable

from elrcheck.explorer.lower import lower
from elrcheck.explorer.reference import PlainModel
from elrcheck.explorer.select import find_variant
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.tla_export.spec import spec_text
from elrcheck.tla_export.tlc import TlcOptions, find_tools, run_tlc
from elrcheck.tla_export.values import show_state

pytestmark = pytest.mark.tlc
SIZES: dict[str, Any] = {"broker_count": 3, "log_slots": 2, "records": 2, "clean_stops": 1}
VARIANTS = ("kip_full", "code_2024_10", "legacy")


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


def configuration(variant: str) -> Config:
    return Config(**{**find_variant(variant).knobs, **SIZES})


def sample(model: Model, config: Config, count: int, seed: int) -> list[Any]:
    states = reachable(PlainModel(model, config), count // 2, seed)
    return states + perturbed(lower(model, config, ()), states, seed + 1)


def shown(model: Model, state: Any) -> str:
    texts = show_state(model.state_ty, state)
    return "[" + ", ".join(f"{name} |-> {text}" for name, text in texts.items()) + "]"


def run(model: Model, config: Config, folder: Path, lines: Sequence[str]) -> str:
    """Run TLC on a module that extends the exported one; what it printed."""
    spec = spec_text(model, config, "Exported")
    (folder / "Exported.tla").write_text(spec.tla)
    text = ["---- MODULE Judge ----", "EXTENDS Exported, TLC", "VARIABLE at", *lines, "===="]
    (folder / "Judge.tla").write_text("\n".join(text) + "\n")
    (folder / "Judge.cfg").write_text(spec.constants + "INIT JudgeInit\nNEXT JudgeNext\n")
    done = run_tlc(find_tools(), folder / "Judge.tla", None, TlcOptions(heap="3g", deadlock=False))
    assert done.exit_code == 0, done.output_tail
    assert done.generated is not None
    return f"{done.generated}\n" + "\n".join(done.output.said) + "\n" + done.output_tail


@pytest.mark.parametrize("variant", VARIANTS)
def test_successors_are_the_same(model: Model, variant: str, tmp_path: Path) -> None:
    """TLC fails at a successor that is not ours; as many on both sides, they are the same."""
    config = configuration(variant)
    plain = PlainModel(model, config)
    states = sample(model, config, 20, seed=11)
    after = [[t for _, t in plain.successors(s)] for s in states]
    names = list(model.state_fields)
    expected = ["{" + ", ".join(shown(model, t) for t in set(ts)) + "}" for ts in after]
    lines = [
        "From == <<", ",\n".join(shown(model, s) for s in states), ">>",
        "To == <<", ",\n".join(expected), ">>",
        f"JudgeInit == at \\in 1..{len(states)}",
        *(f"    /\\ {n} = From[at].{n}" for n in names),
        "JudgeNext == at > 0 /\\ at' = -at /\\ Next",
        "    /\\ Assert([" + ", ".join(f"{n} |-> {n}'" for n in names) + "] \\in To[at], at)",
    ]  # fmt: skip
    generated = int(run(model, config, tmp_path, lines).split("\n")[0])
    assert generated == len(states) + sum(map(len, after))
    assert sum(map(len, after)) > 5 * len(states)


def judged(plain: PlainModel, fn: Fn, before: Any, after: Any) -> bool | None:
    """The value of a property, None where it has none: a near miss may have no third record."""
    try:
        return plain.holds(fn, before, after) if fn.is_step else plain.holds(fn, before)
    except (IndexError, TypeError):
        return None


@pytest.mark.parametrize("variant", VARIANTS)
def test_properties_are_the_same(model: Model, variant: str, tmp_path: Path) -> None:
    config = configuration(variant)
    plain = PlainModel(model, config)
    states = sample(model, config, 120, seed=23)
    pairs = list(itertools.pairwise(states))
    every = (*model.always, *model.sometimes)
    ours = [[judged(plain, fn, s, t) for fn in every] for s, t in pairs]
    names = list(model.state_fields)
    wrong = [
        f'    /\\ Assert(Skip[at][{i}] \\/ {fn.name} = Ours[at][{i}], <<"differs", "{fn.name}", at>>)'
        for i, fn in enumerate(every, start=1)
    ]
    rows = ["<<" + ", ".join(str(bool(v)).upper() for v in row) + ">>" for row in ours]
    skip = ["<<" + ", ".join(str(v is None).upper() for v in row) + ">>" for row in ours]
    lines = [
        "States == <<", ",\n".join(shown(model, s) for s in states), ">>",
        "Ours == <<", ",\n".join(rows), ">>",
        "Skip == <<", ",\n".join(skip), ">>",
        f"JudgeInit == at \\in 1..{len(pairs)}",
        *(f"    /\\ {n} = States[at].{n}" for n in names),
        "JudgeNext == at > 0 /\\ at' = -at",
        *(f"    /\\ {n}' = States[at + 1].{n}" for n in names),
        *wrong,
    ]  # fmt: skip
    said = run(model, config, tmp_path, lines)
    assert int(said.split("\n")[0]) == 2 * len(pairs)
    assert not re.search("differs", said)
    seen = {fn.name: {row[i] for row in ours} for i, fn in enumerate(every)}
    both = [name for name, values in seen.items() if {True, False} <= values]
    assert len(both) > 0.7 * len(every), f"seen only one way: {sorted(set(seen) - set(both))}"
