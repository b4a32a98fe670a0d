"""TLC judges states of ours: it fails at a successor, or at the value of a property, that is not ours.

Counts of a whole search could agree by luck where two mistakes cancel; here TLC compares values. Half of the states
are near misses, so that properties that hold in every behaviour are also seen to be false.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elrcheck.lang.load import Model
from elrcheck.lang.types import Ty
from elrcheck.tla_export.reading.values import show
from elrcheck.tla_export.spec import spec_text
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc
from support.feature_samples import FeatureSample, Steps

MOST = 40
"""States in a module, spread over the sample: SANY is slow on large ones."""


class Texts:
    """States as TLA+ texts whose parts have names: SANY is slow on large literals."""

    def __init__(self, model: Model) -> None:
        self.fields = model.state_fields
        self.names: dict[str, str] = {}

    def part(self, ty: Ty, value: Any) -> str:
        if ty.kind == "vec" and not ty.is_map:
            return "(" + " @@ ".join(f"{i} :> {self.part(ty.elem, v)}" for i, v in enumerate(value)) + ")"
        return self.names.setdefault(show(ty, value), f"Part{len(self.names)}")

    def of(self, state: Any) -> str:
        parts = (f"{name} |-> {self.part(ty, getattr(state, name))}" for name, ty in self.fields.items())
        return "[" + ", ".join(parts) + "]"

    def definitions(self) -> list[str]:
        return [f"{name} == {text}" for text, name in self.names.items()]


def generated(model: Model, config: Any, folder: Path, lines: Sequence[str]) -> int:
    """Run TLC on a module that extends the exported one; how many states it generated."""
    spec = spec_text(model, config, "Exported")
    (folder / "Exported.tla").write_text(spec.tla)
    text = ["---- MODULE Judge ----", "EXTENDS Exported, TLC", "VARIABLE judge_at", *lines, "===="]
    (folder / "Judge.tla").write_text("\n".join(text) + "\n")
    (folder / "Judge.cfg").write_text(spec.constants + "INIT JudgeInit\nNEXT JudgeNext\n")
    options = TlcOptions(heap="3g", deadlock=False, brief=True)
    done = run_tlc(find_tools(), folder / "Judge.tla", None, options)
    assert done.exit_code == 0, done.output_tail
    assert done.output.generated is not None
    return done.output.generated


def sequence(items: Iterator[str] | list[str]) -> str:
    return "<<" + ",\n".join(items) + ">>"


def tla(value: bool | None) -> str:
    return str(bool(value)).upper()


def assert_tlc_agrees(sample: FeatureSample, folder: Path) -> None:
    """Of each state: all its successors, and the properties of the pair with the state that comes next.

    As many successors on both sides are the same ones.
    """
    cases: Sequence[tuple[Any, Steps]] = sample.cases[:: -(-len(sample.cases) // MOST)]
    every = sample.model.checks
    pairs = [*itertools.pairwise(state for state, _ in cases), (cases[-1][0], cases[0][0])]
    pairs = [
        (s, next(iter(steps.values()), t)) if i % 2 else (s, t)
        for i, ((s, t), (_, steps)) in enumerate(zip(pairs, cases, strict=True))
    ]
    ours = [[sample.judged(fn, s, t) if fn.is_step else sample.judged(fn, s) for fn in every] for s, t in pairs]
    assert_tlc_judges(sample.model, sample.config, folder, cases, pairs, ours)


def assert_tlc_judges(
    model: Model,
    config: Any,
    folder: Path,
    cases: Sequence[tuple[Any, Steps]],
    pairs: Sequence[tuple[Any, Any]],
    ours: Sequence[Sequence[bool | None]],
) -> None:
    """Of each state: all its successors, and all properties of the pair with another state; None is not judged."""
    every = model.checks
    names = list(model.state_fields)
    texts = Texts(model)
    sources = [texts.of(s) for s, _ in pairs]
    later = [texts.of(t) for _, t in pairs]
    after = ["{" + ", ".join(texts.of(t) for t in set(steps.values())) + "}" for _, steps in cases]
    lines = [
        *texts.definitions(),
        f"From == {sequence(sources)}",
        f"Later == {sequence(later)}",
        f"After == {sequence(after)}",
        f"Ours == {sequence(sequence([tla(v) for v in row]) for row in ours)}",
        f"Skip == {sequence(sequence([tla(v is None) for v in row]) for row in ours)}",
        f"JudgeInit == judge_at \\in 1..{len(cases)}",
        *(f"    /\\ {n} = From[judge_at].{n}" for n in names),
        "Step == judge_at > 0 /\\ judge_at' = -judge_at /\\ Next",
        "    /\\ Assert([" + ", ".join(f"{n} |-> {n}'" for n in names) + "] \\in After[judge_at], judge_at)",
        "Pair == judge_at > 0 /\\ judge_at' = -judge_at",
        *(f"    /\\ {n}' = Later[judge_at].{n}" for n in names),
        *(
            f'    /\\ Assert(Skip[judge_at][{i}] \\/ {fn.name} = Ours[judge_at][{i}], <<"{fn.name}", judge_at>>)'
            for i, fn in enumerate(every, start=1)
        ),
        "JudgeNext == Step \\/ Pair",
    ]
    steps = sum(len(steps) for _, steps in cases)
    count = generated(model, config, folder, lines)
    assert count == 2 * len(cases) + steps, (count, len(cases), steps)
