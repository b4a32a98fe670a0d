"""Models of a few lines, written into a file and loaded: what tests of the language share."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

from elrcheck.lang.load import Model, load

HEADER = """
from __future__ import annotations
import enum
from dataclasses import replace
from typing import Annotated
from elrcheck.lang.marks import Fair, Message
from elrcheck.lang.runtime import (EMPTY, action, bound, config, conj, implies)
from elrcheck.model.replicas import RSet, Universe
from elrcheck.lang.runtime import LeadsTo, init, leads_to, op, put, record, require, state, within
from elrcheck.lang.types import SeqMark, nat
from elrcheck.model.replicas import Replica, RSet, Vec

Count = Annotated[int, nat("Count", cap=7)]
List = Annotated[tuple[Replica, ...], SeqMark(3)]
class Mode(enum.Enum):
    ON = 1
    OFF = 2
@config
class C:
    broker_count: int = 3
    @property
    def brokers(self) -> RSet:
        return Universe(range(self.broker_count))
    @property
    def twice(self) -> int:
        return 2 * self.broker_count
@record
class Item:
    n: Count
    who: Replica | None
@record
class Spent:
    broker_count: Count = 0
@state
class S:
    group: RSet
    item: Item
    items: Vec[Item]
    order: List
    mode: Mode
@init
def Init(c: C) -> S:
    items = tuple(Item(n=0, who=b) for b in c.brokers)
    return S(group=c.brokers, item=Item(n=1, who=None), items=items,
             order=tuple(c.brokers), mode=Mode.ON)
@bound
def Bound(c: C, s: S) -> bool:
    return conj(small=s.item.n <= 3)
"""


def module(tmp_path: Path, body: str) -> ModuleType:
    return module_of(tmp_path, HEADER + textwrap.dedent(body))


def module_of(folder: Path, text: str) -> ModuleType:
    """Write a model that is whole by itself, and import it."""
    name = f"model_under_test_{len(sys.modules)}"
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    imported = importlib.util.module_from_spec(spec)
    sys.modules[name] = imported
    spec.loader.exec_module(imported)
    return imported


def loaded(tmp_path: Path, body: str) -> tuple[Model, ModuleType]:
    source = module(tmp_path, body)
    return load(source.S, source.C, [source]), source
