"""The notebook runs from its first cell to its last, and plots what it says."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pandas as pd
import pytest

from support import recorded_plots
from support.places import ROOT

NOTEBOOK = json.loads((ROOT / "docs" / "walk.ipynb").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the cells define."""
    defined: dict[str, Any] = {"__name__": "__main__"}
    recorded_plots.PLOTTED.clear()
    with (
        contextlib.chdir(tmp_path_factory.mktemp("notebook")),
        pd.option_context("plotting.backend", "support.recorded_plots"),
    ):
        for cell in NOTEBOOK["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), defined)
    return defined


@pytest.mark.slow
def test_the_counterexample_breaks_the_property_in_its_last_step(names: dict[str, Any]) -> None:
    assert names["result"].verdict == "violated" and "P-1" in names["broken"].violated
    assert "P-1" not in names["broken"].back().violated
    assert names["walk"].state.partition.isr == {0}


@pytest.mark.slow
def test_each_plot_has_its_data(names: dict[str, Any]) -> None:
    kinds = [kind for kind, _ in recorded_plots.PLOTTED]
    assert kinds == ["bar", "hist", "bar"]
    levels, steps, exposure = (data for _, data in recorded_plots.PLOTTED)
    assert levels.sum() == names["whole"].search.distinct == 21_105
    assert len(steps) == 20 and steps.min() >= len(names["broken"].steps)
    assert exposure.loc[3, 2] > exposure.loc[1, 1]


def test_it_is_a_notebook_without_outputs() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    cells = NOTEBOOK["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells) > 10
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
