"""The texts of `explorer/kernel/ir`: each is used, a hole without a value is an error, a field has its number."""

from __future__ import annotations

import re
from enum import IntEnum

import pytest

from elrcheck.explorer.kernel.ir_text import BEGINNING, INCLUDE, ir
from support.places import ROOT

KERNEL = ROOT / "explorer" / "kernel"
FILES = {file.stem: file.read_text("utf-8") for file in (KERNEL / "ir").glob("*.ll")}
TEXTS = {f"{stem}.{name}" for stem, text in FILES.items() for name in BEGINNING.findall(text)}


class Shared(IntEnum):
    """A struct whose first field has another number than that of the kernel."""

    STATES = 7
    TABLE = 1
    SLOTS = 2
    MASK = 3
    CREDIT = 4
    NEW_BASE = 5


def test_every_text_is_used() -> None:
    sources = "\n".join(file.read_text("utf-8") for file in KERNEL.rglob("*.py"))
    named = {name for name in TEXTS if f'"{name}"' in sources}
    named |= {f"fingerprints.{name}" for name in re.findall(r'_second\("(\w+)"', sources)}
    named |= {name for text in FILES.values() for name in INCLUDE.findall(text)}
    assert len(TEXTS) > 30 and named == TEXTS


def test_a_hole_needs_a_value() -> None:
    assert "mul i64 %k, 3\n" in ir("hash.hashes", words=3)
    with pytest.raises(KeyError, match="words"):
        ir("hash.hashes")


def test_a_field_is_loaded_by_its_number() -> None:
    text = ir("table.setup", Shared)
    assert "%states.f = getelementptr i64, ptr %s, i64 7\n" in text and "!" not in text and "$" not in text
    assert "%states = inttoptr i64 %states.i to ptr" in text and "%slots = load i64, ptr %slots.f, align 8" in text
    with pytest.raises(KeyError, match="Shared"):
        ir("table.setup")
