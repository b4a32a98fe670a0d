"""TLC counts what the reference search counts, under knobs that no named variant sets.

`test_counts` does this for the variants and the compiled engine; here the other branches of the
exported module are walked, so that every knob is seen at every value it has.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS
from elrcheck.tla_export.spec import write_spec
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc
from support.knob_cases import CASES, TWO

# The others take up to a minute, and have their turns.
QUICK = ("gates",)


@pytest.mark.tlc
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case in QUICK else pytest.mark.slow) for case in CASES]
)
def test_tlc_counts_what_the_reference_counts(checked_model: Model, case: str, tmp_path: Path) -> None:
    config = Config(**{**TWO, **CASES[case]})
    expected = search(checked_model, config)
    spec = write_spec(checked_model, config, tmp_path, "Counted")
    (tmp_path / "Counted.cfg").write_text(spec.count_cfg)
    options = TlcOptions(deadlock=False, timeout=300, brief=True)
    # One worker (the default): several do not search strictly by level, and the depth they print varies.
    run = run_tlc(find_tools(), tmp_path / "Counted.tla", None, options)
    assert run.exit_code == 0, run.output_tail
    assert run.output.counts == (expected.generated, expected.distinct, expected.diameter)
    assert expected.distinct > 50, "the case goes somewhere"


def test_every_knob_is_seen_at_every_value() -> None:
    """Named variants are counted in test_counts; together with the cases here no branch is left out."""
    configs = [Config(**variant.knobs) for variant in VARIANTS]
    configs += [Config(**{**TWO, **case}) for case in CASES.values()]
    for field in dataclasses.fields(Config):
        seen = {getattr(config, field.name) for config in configs}
        if isinstance(field.default, bool):
            assert seen == {True, False}, field.name
        elif isinstance(field.default, enum.Enum):
            assert seen == set(type(field.default)), field.name
