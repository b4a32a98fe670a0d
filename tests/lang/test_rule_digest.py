"""Digests of functions: what changes them, and which functions a rule is made of."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from elrcheck.lang.changed.rule_digest import attributes, below, digest_of
from elrcheck.lang.source import ModelError
from elrcheck.model.config import Config

RULE = '''
from __future__ import annotations
import enum
from dataclasses import dataclass
from elrcheck.lang.runtime import op
LIMIT = 3

class Answer(enum.Enum):
    """Answers."""
    YES = "it does"
    NO = "it does not"

@dataclass(frozen=True)
class Pair:
    one: int
    two: int = 2

def helper(n: int) -> int:
    return n + LIMIT

def rule(c: Config, n: int) -> Answer:
    """What the rule says."""
    pairs = [Pair(part) for part in c.parts if part < c.limit]
    return Answer.YES if helper(n) > len(pairs) else Answer.NO
'''


@pytest.fixture
def module_of(tmp_path: Path) -> Callable[[str], ModuleType]:
    """A module of this text; each has its own file, and the same name as all others."""
    count = iter(range(100))

    def read(text: str) -> ModuleType:
        file = tmp_path / f"rules{next(count)}.py"
        file.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("rules", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        import sys

        sys.modules["rules"] = module
        spec.loader.exec_module(module)
        return module

    return read


def edited(old: str, new: str) -> str:
    assert RULE.count(old) == 1, old
    return RULE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    pairs = [", "    # a comment\n\n    pairs = ["),
        ('    """What the rule says."""\n', '    """It says something\n    else."""\n'),
        ("c.parts if part < c.limit]", "c.parts\n        if (part < c.limit)\n    ]"),
        ("n: int) -> Answer:", "n: object) -> object:"),
        ("def rule(", "@op\ndef rule("),
        ('"it does not"', '"it surely does not"'),
        ("LIMIT = 3", "LIMIT = 3\nOTHER = 4"),
    ],
)
def test_what_no_reader_computes_with_changes_no_digest(
    old: str, new: str, module_of: Callable[[str], ModuleType]
) -> None:
    assert digest_of(module_of(edited(old, new)).rule) == digest_of(module_of(RULE).rule)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("part < c.limit", "part <= c.limit"),
        ("c.parts", "c.others"),
        ("> len(pairs)", "> len(pairs) + 1"),
        ('    YES = "it does"\n', '    YES = "it does"\n    MAYBE = "perhaps"\n'),
        ("two: int = 2", "two: int = 1"),
        ("def helper(", "def unused(n: int) -> int:\n    return n\n\ndef helper2("),
    ],
)
def test_what_a_function_computes_with_changes_its_digest(
    old: str, new: str, module_of: Callable[[str], ModuleType]
) -> None:
    text = edited(old, new)
    text = text.replace("if helper(n)", "if helper2(n)") if "helper2" in new else text
    assert digest_of(module_of(text).rule) != digest_of(module_of(RULE).rule)


def test_a_change_of_what_is_called_changes_the_called_function_only(module_of: Callable[[str], ModuleType]) -> None:
    before, after = module_of(RULE), module_of(edited("LIMIT = 3", "LIMIT = 4"))
    assert digest_of(before.rule) == digest_of(after.rule)
    assert digest_of(before.helper) != digest_of(after.helper)


def test_a_file_that_was_edited_after_it_was_loaded_has_no_digest(module_of: Callable[[str], ModuleType]) -> None:
    """Two lines more at the top, and another function stands where the rule was."""
    module = module_of(RULE)
    assert module.__file__ is not None
    file = Path(module.__file__)
    edited_meanwhile = (
        "\n" * RULE[: RULE.index("def rule")].count("\n") + "def another(n: int) -> int:\n    return n\n" * 9
    )
    file.write_text(edited_meanwhile, encoding="utf-8")
    with pytest.raises(ModelError, match="edited since"):
        digest_of(module.rule)


def test_the_functions_below_a_rule_are_those_that_it_calls() -> None:
    from elrcheck.model.control_plane.controller import fenced_partition
    from elrcheck.model.control_plane.elections import elect_preferred

    names = below([fenced_partition], "elrcheck", Config)
    assert all(isinstance(function, FunctionType) for function in names.values())
    assert {
        "elrcheck.model.control_plane.controller.fenced_partition",
        "elrcheck.model.control_plane.partition.change",
        "elrcheck.model.control_plane.partition.update_elr",
        "elrcheck.model.elr.needed",
        "elrcheck.model.config.Config.brokers",
    } <= set(names)
    elections = below([elect_preferred], "elrcheck", Config)
    assert not any("alter_partition" in name or "ShrinkIsr" in name for name in (*names, *elections))


def test_the_attributes_of_a_rule_are_those_that_it_reads() -> None:
    from elrcheck.model.elr import needed

    assert {"partition_zero_replicas", "min_isr"} == attributes(needed)  # type: ignore[arg-type]
