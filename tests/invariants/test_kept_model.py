"""The compiled model that an earlier run has kept: the same model, and never one of other sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.invariants import kept_model, modules
from elrcheck.lang.ir import fn_nodes
from elrcheck.lang.load import Model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_model, "cache_directory", lambda _: tmp_path)
    return tmp_path / "models"


def never() -> Model:
    raise AssertionError("the kept model is not used")


def test_what_is_kept_is_what_was_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = modules.load_checked_model()  # perhaps of an earlier test, so it is kept here
    kept_model.kept_model(modules.CHECKED, lambda: made)
    (file,) = folder.iterdir()
    kept = kept_model.kept_model(modules.CHECKED, never)
    assert kept is not made
    assert [(n, fn.params, fn.marks, fn.doc) for n, fn in kept.fns.items()] == [
        (n, fn.params, fn.marks, fn.doc) for n, fn in made.fns.items()
    ]
    for name, fn in kept.fns.items():
        mine, others = list(fn_nodes(fn)), list(fn_nodes(made.fns[name]))
        assert [(type(e), e.ty, e.line) for e in mine] == [(type(e), e.ty, e.line) for e in others]
    assert all(fn.source is made.fns[name].source for name, fn in kept.fns.items())
    assert all(kept.fns[fn.name] is fn for fn in (kept.init, *kept.actions, *kept.always))

    damaged = file.read_bytes()[:-1] + b"?"
    file.write_bytes(damaged)
    assert kept_model.kept_model(modules.CHECKED, lambda: made) is made
    assert file.read_bytes() != damaged

    monkeypatch.setattr(kept_model, "ROOMS", ("model",))  # as if other sources had been read
    assert kept_model.kept_model(modules.CHECKED, lambda: made) is made


def test_without_a_folder_the_model_is_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(kept_model, "cache_directory", lambda _: tmp_path / "file")
    model = kept_model.kept_model(modules.CHECKED, modules.load_checked_model)
    assert model.init.name
