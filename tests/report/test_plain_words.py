"""Numbers with a noun, and guards without their letters."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from elrcheck.base.kept.age import KeptOrigin
from elrcheck.lang.ir import guard_names
from elrcheck.model.protocol import load_model
from elrcheck.report.plain_words import LETTERS, from_store, from_store_of, several, unbound


def test_one_and_many() -> None:
    assert [several(n, "guard") for n in (0, 1, 2)] == ["0 guards", "1 guard", "2 guards"]
    assert several(2, "entry", "entries") == "2 entries"
    assert several(1200, "state", written="1 200") == "1 200 states"


def test_guards_name_whom_they_mean() -> None:
    assert unbound("a response of b is in flight") == "a response of the broker is in flight"
    assert unbound("b's proposal, f and leader") == "the broker's proposal, the follower and leader"


def test_every_letter_in_a_guard_is_known() -> None:
    for fn in load_model().actions:
        letters = {name for name, _ in fn.params if len(name) == 1}
        assert letters <= set(LETTERS), fn.name
        assert not [g for g in guard_names(fn) for name in letters if f" {name} " in f" {unbound(g)} "]


def test_how_old_a_kept_answer_is() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)

    def aged(**more: float) -> str | None:
        return from_store(KeptOrigin((now - timedelta(**more)).isoformat(), "a"), now)

    assert from_store(None) is None
    assert aged(seconds=5) == "answer of less than a minute ago, from the store"
    assert aged(minutes=1) == "answer of 1 minute ago, from the store"
    assert aged(hours=3, minutes=59) == "answer of 3 hours ago, from the store"
    assert aged(days=40) == "answer of 40 days ago, from the store"
    assert aged(hours=-1) == "answer of 2026-01-02T01:00:00+00:00, from the store", "another clock"
    one, two = (KeptOrigin(f"2020-01-0{day}T00:00:00+00:00", str(day)) for day in (1, 2))
    assert from_store_of([]) is None and from_store_of([one]) == from_store(one)
    words = str(from_store_of([two, one]))
    assert re.fullmatch(r"2 answers from the store, the oldest an answer of \d+ days ago", words)
