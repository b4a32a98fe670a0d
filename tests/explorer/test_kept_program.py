"""Lowered programs of earlier runs: the same programs, with the same kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from elrcheck.base.kept.store import Store
from elrcheck.base.requests import Selection
from elrcheck.declared.model_file import compiled_model
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel import kept_program
from elrcheck.explorer.kernel.kept_program import KeptProgram, kept_kernel, kept_lowering
from elrcheck.explorer.kernel.kernel import blueprint
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.guards import without_guard
from elrcheck.lang.ir import guard_names
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program_digest import numbered_digest

QUIET = Selection(variant="legacy", scope="two-brokers-quiet")
OPEN = {"crashes": 0, "min_isr": 1}


@pytest.fixture
def folder(own_store: Path) -> Path:
    return own_store / "programs"


@pytest.fixture
def lowerings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for every model that is really lowered."""
    lowered: list[object] = []

    def counted(*arguments: Any) -> Lowered:
        lowered.append(arguments)
        return lower(*arguments)

    monkeypatch.setattr(kept_program, "_lowered", counted)
    return lowered


def again(**open_numbers: int) -> Lowered:
    model = load_whole_model()
    return kept_lowering(model, resolve(QUIET).config, model.checks, open_numbers)


@pytest.mark.parametrize("open_numbers", [{}, OPEN], ids=["closed", "open"])
def test_a_kept_program_is_the_program(folder: Path, lowerings: list[object], open_numbers: dict[str, int]) -> None:
    lowered, read = again(**open_numbers), again(**open_numbers)
    assert len(lowerings) == 1
    assert lowered.name == read.name != ""
    assert kept_program.table_of(read) == kept_program.table_of(lowered)
    assert numbered_digest(read.program) == numbered_digest(lowered.program)
    assert (read.slots, read.parameters, read.config) == (lowered.slots, lowered.parameters, lowered.config)
    assert read.program.leaves == lowered.program.leaves and read.program.parameters == lowered.program.parameters
    assert [(one.action, one.args) for one in read.program.instances] == [
        (one.action, one.args) for one in lowered.program.instances
    ]
    assert blueprint(read.program).texts == blueprint(lowered.program).texts
    state = lowered.decode(lowered.program.init[0])
    assert read.decode(read.program.init[0]) == state
    assert read.encode(state) == lowered.program.init[0]


def test_what_a_function_says_is_asked_of_the_model(folder: Path, lowerings: list[object]) -> None:
    lowered, read = again(), again()
    fn = lowered.model.always[0]
    (mine,), (theirs,) = read.nodes(fn).values(), lowered.nodes(fn).values()
    assert (mine.op, mine.lo, mine.hi, len(mine.args)) == (theirs.op, theirs.lo, theirs.hi, len(theirs.args))
    assert len(lowerings) == 2, "it is lowered for that, and not before"


@pytest.mark.slow
def test_another_question_is_another_program(folder: Path) -> None:
    model, config = load_whole_model(), resolve(QUIET).config
    one = kept_lowering(model, config, model.always)
    assert kept_lowering(model, config, model.always[1:]).name != one.name
    assert kept_lowering(model, config, model.always, {"crashes": 0}).name != one.name
    assert kept_lowering(model, dataclasses.replace(config, min_isr=1), model.always).name != one.name


def test_a_changed_model_is_never_kept(folder: Path) -> None:
    """A model with a guard less is another one, whatever the sources say."""
    model, config = load_whole_model(), resolve(QUIET).config
    action = model.actions[0]
    fewer = without_guard(action, guard_names(action)[0])
    changed = dataclasses.replace(model, actions=(fewer, *model.actions[1:]))
    assert changed.origin == ""
    assert kept_lowering(changed, config, model.always).name == ""
    renamed = dataclasses.replace(model.lemmas[0] if model.lemmas else model.always[0], ident="X-1")
    assert kept_lowering(model, config, [renamed]).name == ""
    assert not folder.exists()


def test_names_of_guards_are_kept_and_forgotten_by_a_change(folder: Path) -> None:
    model = again().model
    fence = next(fn for fn in model.actions if fn.name == "Fence")
    names = guard_names(fence)
    again()
    assert fence.guards == names
    assert guard_names(without_guard(fence, names[0])) == names[1:]


RAFT = Path(__file__).parents[2] / "protocols" / "agreement" / "raft.py"


def test_the_program_of_a_file_is_kept_with_its_messages(folder: Path, lowerings: list[object]) -> None:
    """Parameters of its actions are records, which have no number of their own."""
    model = compiled_model(RAFT)
    lowered, read = (kept_lowering(model, model.config(), model.checks) for _ in range(2))
    assert len(lowerings) == 1
    assert lowered.name == read.name != ""
    assert numbered_digest(read.program) == numbered_digest(lowered.program)
    assert [one.args for one in read.program.instances] == [one.args for one in lowered.program.instances]
    assert any(dataclasses.is_dataclass(arg) for one in read.program.instances for arg in one.args)


COUNTER = """
from typing import Annotated
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, config, init, require, state
from elrcheck.lang.types import nat

STEP = {step}

@config
class Config:
    last: int = 5

    @property
    def most(self) -> int:
        return {most}

@state
class State:
    value: Annotated[int, nat("Value", hi="most")]

@init
def Init(c: Config) -> State:
    return State(value=0)

@action
def Add(c: Config, s: State) -> State:
    require(s.value + STEP <= c.last, "there is room")
    return State(value=s.value + STEP)

MODEL = ProtocolModel(State, Config)
"""


def test_what_a_file_computes_is_in_the_name_of_its_program(tmp_path: Path, folder: Path) -> None:
    def named(step: str, most: str = "self.last", before: str = "") -> str:
        file = tmp_path / "counter.py"
        file.write_text(before + COUNTER.format(step=step, most=most))
        model = compiled_model(file)
        return kept_lowering(model, model.config(), model.checks).name

    first = named("1")
    assert first != ""
    assert named("len('x')", before="# the same, said otherwise\n") == first
    assert named("1 + len('x')") != first
    assert named("1", most="self.last + 1") != first


def _longer(program: KeptProgram) -> KeptProgram:
    return msgspec.structs.replace(program, nodes=(*program.nodes, ("add", (10**6, 0), 0, 1, -1)))


def _unknown(program: KeptProgram) -> KeptProgram:
    return msgspec.structs.replace(program, nodes=(*program.nodes, ("power", (0, 1), 0, 1, -1)))


def _many(program: KeptProgram) -> KeptProgram:
    return msgspec.structs.replace(program, varying=(*program.varying, 10**6))


def _other(program: KeptProgram) -> KeptProgram:
    (first, *rest) = program.instances
    return msgspec.structs.replace(program, instances=(msgspec.structs.replace(first, args=("os.environ",)), *rest))


@pytest.mark.slow
@pytest.mark.parametrize("change", [_longer, _unknown, _many, _other])
def test_a_table_that_does_not_fit_is_written_again(
    folder: Path, lowerings: list[object], change: Callable[[KeptProgram], KeptProgram]
) -> None:
    lowered = again()
    store = Store("programs", KeptProgram)
    entry = store.get(lowered.name)
    assert entry is not None
    store.put(lowered.name, change(entry.value))
    assert kept_program.table_of(again()) == entry.value
    assert len(lowerings) == 2
    mended = store.get(lowered.name)
    assert mended is not None and mended.value == entry.value


def test_a_named_kernel_is_found_without_its_text(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, lowered = KernelCache(), again()

    def searched() -> tuple[bool, bool, int]:
        native = kept_kernel(lowered, cache)
        search = Search(lowered.program, SearchSettings(cache=cache), native=native)
        return native.cached, native.plan is None, search.run(None, "complete").distinct

    first = searched()
    assert first[:2] == (False, False)
    assert searched() == (True, True, first[2])
    for file in (folder.parent / "kernels").iterdir():
        file.unlink()
    assert searched() == (False, False, first[2]), "a list whose modules are gone is none"
    monkeypatch.setattr(kept_program, "sources", lambda *_: "another version")
    assert searched() == (True, False, first[2]), "then the text is written, and its code is in the cache"
