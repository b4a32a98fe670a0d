"""Unified diffs are applied strictly: what does not fit is refused with the hunk and the line."""

from __future__ import annotations

import difflib
import random

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.declared.patched import apply_diff

TEXTS = {"model/a.py": "".join(f"line {n}\n" for n in range(1, 21)), "__init__.py": "one\ntwo\nthree"}


def diff_of(before: dict[str, str], after: dict[str, str], lines: int = 3) -> str:
    """What difflib, which others wrote, makes of two sets of texts; git's mark for a last line without an end."""
    text = ""
    for name in sorted(before.keys() | after.keys()):
        old, new = (texts.get(name, "").splitlines(keepends=True) for texts in (before, after))
        names = (f"a/{name}" if name in before else "/dev/null", f"b/{name}" if name in after else "/dev/null")
        for line in difflib.unified_diff(old, new, *names, n=lines):
            text += line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
    return text


def test_a_diff_is_applied_wherever_it_changes_adds_or_deletes() -> None:
    changed = {**TEXTS, "model/a.py": TEXTS["model/a.py"].replace("line 4\n", "").replace("line 15", "other 15")}
    for after in (
        changed,
        {**TEXTS, "__init__.py": "one\ntwo\nthree\nfour\n"},
        {**TEXTS, "model/b.py": "new\n"},
        {"__init__.py": TEXTS["__init__.py"]},
        {**changed, "__init__.py": "zero\n" + TEXTS["__init__.py"], "c.py": "new\nfile"},
    ):
        for lines in (0, 1, 3):
            assert apply_diff(diff_of(TEXTS, after, lines), "x.diff", TEXTS) == after


def test_the_old_name_counts_unless_the_model_has_both() -> None:
    hunk = "@@ -2 +2 @@\n-line 2\n+other\n"
    text = apply_diff(f"--- a.py\n+++ copy.py\n{hunk}", "x.diff", {"a.py": TEXTS["model/a.py"]})["a.py"]
    assert text == TEXTS["model/a.py"].replace("line 2\n", "other\n")
    with pytest.raises(UsageFault, match=r"turns model/a\.py into __init__\.py, and the model has both"):
        apply_diff(f"--- model/a.py\n+++ __init__.py\n{hunk}", "x.diff", TEXTS)


def test_random_changes_come_back() -> None:
    dice = random.Random(7)
    for _ in range(200):
        old = [f"{dice.randrange(4)}\n" for _ in range(dice.randrange(1, 30))]
        new = [line for line in old if dice.random() > 0.2]
        for _ in range(dice.randrange(4)):
            new.insert(dice.randrange(len(new) + 1), f"{dice.randrange(4)}\n")
        before, after = {"m.py": "".join(old)}, {"m.py": "".join(new)}
        if not new or before == after:
            continue
        assert apply_diff(diff_of(before, after, dice.randrange(4)), "x.diff", before) == after


def test_folders_before_the_path_are_skipped() -> None:
    after = {**TEXTS, "model/a.py": TEXTS["model/a.py"].replace("line 9", "nine")}
    diff = diff_of(TEXTS, after)
    for old, new in (("orig/", "mine/"), ("", ""), ("x/y/orig/", "x/y/mine/")):
        moved = diff.replace("--- a/", f"--- {old}").replace("+++ b/", f"+++ {new}")
        assert apply_diff(f"diff -ruN orig mine\n{moved}", "x.diff", TEXTS) == after


def test_a_file_that_one_folder_does_not_have_has_the_first_day_of_all() -> None:
    head = "--- orig/model/b.py\t1970-01-01 00:00:00.000000000 +0000\n+++ mine/model/b.py\t2026-11-27 12:00:00 +0000\n"
    added = apply_diff(f"{head}@@ -0,0 +1 @@\n+x\n", "x.diff", TEXTS)
    assert added == {**TEXTS, "model/b.py": "x\n"}
    head = "--- orig/model/b.py\t2026-11-27 12:00:00 +0000\n+++ mine/model/b.py\t1969-12-31 16:00:00.000000000 -0800\n"
    assert apply_diff(f"{head}@@ -1 +0,0 @@\n-x\n", "x.diff", added) == TEXTS


GOOD = diff_of(TEXTS, {**TEXTS, "model/a.py": TEXTS["model/a.py"].replace("line 9", "nine")})


@pytest.mark.parametrize(
    ("diff", "code", "words"),
    [
        (GOOD.replace(" line 8", " line eight"), "patch-mismatch", "hunk 1 of model/a.py does not fit: line 8 should"),
        (
            GOOD.replace("\n", "\r\n"),
            "patch-mismatch",
            "hunk 1 of model/a.py does not fit: line 6 has another line end",
        ),
        (GOOD.replace("@@ -6,7 +6,7 @@", "@@ -5,7 +5,7 @@"), "patch-mismatch", "line 5 should be `line 6`"),
        (GOOD.replace("@@ -6,7 +6,7 @@", "@@ -90,7 +90,7 @@"), "patch-mismatch", "the file ends before it"),
        (GOOD.replace("@@ -6,7 +6,7 @@", "@@ -6,9 +6,9 @@"), "patch-not-diff", "ends early"),
        (GOOD.replace("@@ -6,7 +6,7 @@", "@@ hello @@"), "patch-not-diff", "no head of a hunk"),
        (GOOD.replace("model/a.py", "model/zz.py"), "patch-no-file", "no file `a/model/zz.py`"),
        (GOOD.replace("a/model/a.py", "../model/a.py"), "patch-outside", "not a path inside"),
        (GOOD.replace("a/model/a.py", "/etc/model/a.py"), "patch-outside", "not a path inside"),
        ("--- /dev/null\n+++ b/../../x.py\n@@ -0,0 +1 @@\n+x\n", "patch-outside", "not a path inside"),
        ("--- /dev/null\n+++ b/model/a.py\n@@ -0,0 +1 @@\n+x\n", "patch-mismatch", "exists already"),
        ("--- a/model/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n", "patch-mismatch", "not all of its lines"),
        ("rename from model/a.py\nrename to model/b.py\n", "patch-not-diff", "not supported"),
        ("hello\n", "patch-not-diff", "it has no hunk"),
        ("", "patch-not-diff", "it has no hunk"),
        ("--- a/model/a.py\n+++ b/model/a.py\n", "patch-not-diff", "no hunk below"),
    ],
)
def test_what_does_not_fit_is_refused(diff: str, code: str, words: str) -> None:
    assert diff != GOOD
    with pytest.raises(UsageFault) as refused:
        apply_diff(diff, "x.diff", TEXTS)
    assert refused.value.code == code and words in refused.value.message
    assert (refused.value.where or "").startswith("x.diff")
