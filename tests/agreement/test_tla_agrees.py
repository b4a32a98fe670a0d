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

from elrcheck.catalogue.select import find_variant
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.types import Ty
from elrcheck.model.config import Config
from elrcheck.tla_export.reading.values import show
from elrcheck.tla_export.spec import spec_text
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc

pytestmark = pytest.mark.tlc
SIZES: dict[str, Any] = {"broker_count": 3, "log_slots": 2, "records": 2, "clean_stops": 1}
VARIANTS = ("kip_full", "code_2024_10", "legacy")


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


def configuration(variant: str) -> Config:
    return Config(**{**find_variant(variant).knobs, **SIZES})


def sample(model: Model, config: Config, count: int, seed: int) -> list[Any]:
    """Each reachable state is followed by a near miss of it."""
    states = reachable(PlainModel(model, config), count // 2, seed)
    near = perturbed(lower(model, config, ()), states, seed + 1)
    return [state for pair in zip(states, near, strict=True) for state in pair]


class Texts:
    """States as TLA+ texts whose parts have names: SANY is slow on large literals."""

    def __init__(self, model: Model) -> None:
        self.fields = model.state_fields
        self.names: dict[str, str] = {}

    def part(self, ty: Ty, value: Any) -> str:
        if ty.kind == "vec":
            return "(" + " @@ ".join(f"{i} :> {self.part(ty.elem, v)}" for i, v in enumerate(value)) + ")"
        return self.names.setdefault(show(ty, value), f"Part{len(self.names)}")

    def of(self, state: Any) -> str:
        parts = (f"{name} |-> {self.part(ty, getattr(state, name))}" for name, ty in self.fields.items())
        return "[" + ", ".join(parts) + "]"

    def definitions(self) -> list[str]:
        return [f"{name} == {text}" for text, name in self.names.items()]


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
    states = sample(model, config, 40, seed=11)
    after = [[t for _, t in plain.successors(s)] for s in states]
    names = list(model.state_fields)
    texts = Texts(model)
    expected = ["{" + ", ".join(texts.of(t) for t in set(ts)) + "}" for ts in after]
    given = [texts.of(s) for s in states]
    lines = [
        *texts.definitions(),
        "From == <<", ",\n".join(given), ">>",
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


def compare_properties(model: Model, variant: str, folder: Path) -> list[list[bool | None]]:
    """The values of every property on pairs of states, after TLC agreed to all of them."""
    config = configuration(variant)
    plain = PlainModel(model, config)
    states = sample(model, config, 240, seed=23)
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
    texts = Texts(model)
    given = [texts.of(s) for s in states]
    lines = [
        *texts.definitions(),
        "States == <<", ",\n".join(given), ">>",
        "Ours == <<", ",\n".join(rows), ">>",
        "Skip == <<", ",\n".join(skip), ">>",
        f"JudgeInit == at \\in 1..{len(pairs)}",
        *(f"    /\\ {n} = States[at].{n}" for n in names),
        "JudgeNext == at > 0 /\\ at' = -at",
        *(f"    /\\ {n}' = States[at + 1].{n}" for n in names),
        *wrong,
    ]  # fmt: skip
    said = run(model, config, folder, lines)
    assert int(said.split("\n")[0]) == 2 * len(pairs)
    assert not re.search("differs", said)
    return ours


def test_properties_are_the_same(model: Model, tmp_path: Path) -> None:
    rows: list[list[bool | None]] = []
    for variant in VARIANTS:
        folder = tmp_path / variant
        folder.mkdir()
        rows += compare_properties(model, variant, folder)
    every = (*model.always, *model.sometimes)
    one_way = [fn.name for i, fn in enumerate(every) if not {True, False} <= {row[i] for row in rows}]
    assert len(one_way) <= 11, f"seen only true, or only false: {one_way}"
