"""Grids: axes in their notation, grid files read strictly, and what is refused or skipped."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.catalogue.kafka_partition import MODEL
from elrcheck.commands.sweep.axes import parse_axis
from elrcheck.commands.sweep.grid import SweepGrid, make_grid, pack

BASE = Selection("kip_full", "two-brokers-quiet", ("fences=1",))


def grid(tmp_path: Path, text: str, *sweeps: str) -> SweepGrid:
    file = tmp_path / "grid.toml"
    file.write_text(text)
    return make_grid(BASE, sweeps, file)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("min_isr=1..3", ("1", "2", "3")),
        ("min_isr=3,1", ("3", "1")),
        ("records=1,3..4", ("1", "3", "4")),
        ("strict_hwm=yes,off", ("true", "false")),
        ("strict_hwm=*", ("false", "true")),
        ("variant=code_4_1_*,legacy", ("code_4_1_0", "code_4_1_1", "legacy")),
        ("metadata=log,latest", ("LOG", "LATEST")),
        ("scope=two-brokers*", ("two-brokers", "two-brokers-quiet")),
    ],
)
def test_notation_of_values(text: str, values: tuple[str, ...]) -> None:
    axis = parse_axis(MODEL, text)
    assert (axis.key, axis.values) == (text.partition("=")[0], values)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("min_isr", "sweep-bad-form", "KEY=VALUES"),
        ("min_irs=1", "unknown-knob", "did you mean `min_isr`"),
        ("min_isr=", "sweep-bad-value", "a value is missing"),
        ("min_isr=1,,2", "sweep-bad-value", "a value is missing"),
        ("min_isr=3..1", "sweep-bad-value", "did you mean 1..3"),
        ("min_isr=1..3,2", "sweep-bad-value", "2 is given twice"),
        ("min_isr=-1", "sweep-bad-value", "whole number"),
        ("records=0..5000", "sweep-bad-value", "longer than"),
        ("strict_hwm=maybe", "sweep-bad-value", "true or false"),
        ("variant=kip_ful", "unknown-variant", "did you mean `kip_full`"),
        ("variant=kap*", "sweep-bad-value", "nothing matches"),
        ("scope=missing.toml", "config-unreadable", "missing.toml"),
    ],
)
def test_a_bad_axis_says_what_is_wrong(text: str, code: str, words: str) -> None:
    with pytest.raises(UsageFault) as caught:
        parse_axis(MODEL, text)
    assert caught.value.code == code
    assert words in caught.value.render()


def test_a_grid_is_the_product_with_the_last_axis_fastest() -> None:
    points = make_grid(BASE, ("variant=legacy,kip_full", "crashes=0..2"), None)
    assert [tuple(point.settings.values()) for point in points.points] == [
        ("legacy", 0),
        ("legacy", 1),
        ("legacy", 2),
        ("kip_full", 0),
        ("kip_full", 1),
        ("kip_full", 2),
    ]
    assert [point.number for point in points.points] == [1, 2, 3, 4, 5, 6]
    fourth = points.points[3]
    assert fourth.selection == Selection("kip_full", "two-brokers-quiet", ("fences=1", "crashes=0"))
    assert fourth.selected is not None
    assert (fourth.selected.config.crashes, fourth.selected.config.fences) == (0, 1)


def test_a_grid_file_excludes_and_includes(tmp_path: Path) -> None:
    points = grid(
        tmp_path,
        """
        description = "an example"
        [axes]
        min_isr = "1..3"
        strict_hwm = [true, false]
        [[exclude]]
        min_isr = [2, 3]
        strict_hwm = false
        [[include]]
        variant = "legacy"
        crashes = 1
        """,
    )
    assert points.keys == ("min_isr", "strict_hwm", "variant", "crashes")
    assert points.excluded == 2
    assert [tuple(point.settings.values()) for point in points.points] == [
        (1, True, "kip_full", 0),
        (1, False, "kip_full", 0),
        (2, True, "kip_full", 0),
        (3, True, "kip_full", 0),
        (2, False, "legacy", 1),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[axis]\nmin_isr = 1", "did you mean `axes`"),
        ("[axes]\nmin_irs = 1", "did you mean `min_isr`"),
        ("[axes]\nmin_isr = 1.5", "expected values"),
        ("[axes]\nmin_isr = []", "a value is missing"),
        ("axes = 3", "`axes`: expected a table, not 3"),
        ("[axes]\nmin_isr = [1, 2]\n[[exclude]]\ncrashes = 1", "not an axis of this file"),
        ("[axes]\nmin_isr = [1, 2]\n[[exclude]]\nmin_isr = 3", "matches no point"),
        ("[axes]\nmin_isr = 1\n[[include]]\nmin_isr = [1, 2]", "expected one value"),
        ("[axes]\nmin_isr = 1\n[exclude]\nmin_isr = 1", "[[exclude]]"),
        ("[axes]\nmin_isr = 1\nmin_isr = 2", "not valid TOML"),
        ("[axes]\nfences = [1, 2]", "both swept and set"),
        ("description = 'nothing'", "nothing to vary"),
    ],
)
def test_a_grid_file_is_read_strictly(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageFault) as caught:
        grid(tmp_path, text)
    assert words in caught.value.render()


def test_an_unknown_key_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        grid(tmp_path, "[axes]\nrecords = 1\nmin_irs = 1\n")
    assert caught.value.where == f"{tmp_path / 'grid.toml'}:3"


def test_an_axis_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="swept twice"):
        grid(tmp_path, "[axes]\nmin_isr = [1, 2]", "min_isr=3")


def test_refused_points_stay_with_the_reason() -> None:
    points = make_grid(BASE, ("broker_count=2,9", "spare_brokers=1..2"), None)
    assert [point.refused for point in points.points] == [
        None,
        "`spare_brokers`: at least one of 2 brokers must hold a replica, not 2 spare ones",
        "`broker_count`: expected 1 to 8, not 9",
        "`broker_count`: expected 1 to 8, not 9",
    ]
    assert [point.settings["broker_count"] for point in points.points] == [2, 2, 9, 9]


def test_the_same_configuration_is_checked_once(tmp_path: Path) -> None:
    points = grid(tmp_path, "[axes]\nmin_isr = [1, 2]\n[[include]]\nmin_isr = 2\ncrashes = 0\n")
    assert [point.refused for point in points.points] == [None, None, "the same configuration as number 2"]


def test_nothing_to_check_is_no_pass() -> None:
    with pytest.raises(NothingChecked, match="expected 1 to 8, not 9") as caught:
        make_grid(BASE, ("broker_count=9,10",), None)
    assert caught.value.exit_code == 5


def test_packs_are_balanced_and_the_dearest_is_first() -> None:
    assert pack({"a": 5.0, "b": 4.0, "c": 3.0, "d": 3.0, "e": 3.0}, 2) == [["b", "c", "e"], ["a", "d"]]
    assert pack({"a": 1.0}, 8) == [["a"]]


@pytest.mark.parametrize(
    ("scope", "overrides", "counted"),
    [("two-brokers", (), 21_105), ("three-brokers-tiny", (), 7_948), ("two-brokers-quiet", ("fences=1",), 216)],
)
def test_the_estimate_is_of_the_right_order(scope: str, overrides: tuple[str, ...], counted: int) -> None:
    (point,) = make_grid(Selection("kip_full", scope, overrides), ("elr_enabled=true",), None).points
    assert point.selected is not None
    assert abs(math.log10(point.selected.before.states / counted)) < 0.5
