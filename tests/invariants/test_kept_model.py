"""Models that are compiled as they are used: the same models, and only after all of them was in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.declared import model_file
from elrcheck.invariants import modules
from elrcheck.lang.ir import LATER, Fn, fn_nodes
from elrcheck.lang.load import Model
from elrcheck.model.protocol import load_model


@pytest.fixture
def folder(own_store: Path) -> Path:
    return own_store / "models"


def compiled(fn: Fn) -> bool:
    return LATER not in vars(fn)


@pytest.mark.slow
def test_the_second_run_compiles_what_it_uses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazily: list[bool] = []

    def load() -> Model:
        mark = model_file.mark_of(modules.CHECKED)
        lazily.append(mark.sound)
        return mark.left_on(load_model(*modules.CHECKED, lazily=mark.sound))

    first = load()
    second = load()
    assert lazily == [False, True]
    assert first.origin == second.origin != ""
    assert all(compiled(fn) for fn in first.fns.values())
    assert not any(compiled(fn) for fn in (*second.actions, *second.always))

    action = next(fn for fn in second.actions if fn.name == "Fence")
    assert action.params and not compiled(action), "what it takes is known without its body"
    assert list(fn_nodes(action)) and compiled(action)
    assert not all(compiled(fn) for fn in second.actions)

    assert list(second.fns) == list(first.fns), "definitions come before uses in both"
    for name, fn in second.fns.items():
        other = first.fns[name]
        assert compiled(fn) and fn.source is other.source
        assert (fn.params, fn.states, fn.ret, fn.marks, fn.doc) == (
            other.params,
            other.states,
            other.ret,
            other.marks,
            other.doc,
        )
        assert (fn.line, fn.place) == (other.line, other.place)
        mine, theirs = list(fn_nodes(fn)), list(fn_nodes(other))
        assert [(type(e), e.ty, e.line) for e in mine] == [(type(e), e.ty, e.line) for e in theirs]

    (mark,) = folder.iterdir()
    mark.write_bytes(b"?")
    load()
    assert lazily == [False, True, False], "a mark that is none marks nothing"
    monkeypatch.setattr(model_file, "RULES", ("model",))  # as if other sources had been read
    assert load().origin != first.origin
    assert lazily == [False, True, False, False]


def test_a_line_is_that_of_the_definition(folder: Path) -> None:
    model = load_model(*modules.CHECKED)
    for fn in (*model.actions, *model.always):
        text = Path(fn.file).read_text(encoding="utf-8").splitlines()[fn.line - 1]
        assert text.startswith(f"def {fn.name}(")


def test_without_a_folder_the_model_is_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path / "file"))
    mark = model_file.mark_of(modules.CHECKED)
    model = mark.left_on(load_model(*modules.CHECKED, lazily=mark.sound))
    assert not mark.sound and compiled(model.init)
