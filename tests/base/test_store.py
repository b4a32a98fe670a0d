"""The store: an entry is whole, this user's own and the answer to the question asked, or it is not an entry."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from elrcheck.base.caches import MARK, notice, one_notice
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.kept.store import FileStore, Store, checked, distrust
from elrcheck.base.roundtrip import Record

OWNERS = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")


class Answer(Record, frozen=True):
    """A small answer."""

    number: int
    words: tuple[str, ...] = ()


@pytest.fixture
def store(own_store: Path) -> Store[Answer]:
    return Store("answers", Answer)


def forged(path: Path, value: object, **head: object) -> None:
    """A file as one would write it who knows the format: with a fitting checksum."""
    first = {"kind": "answers", "key": "a", "when": 0, **head}
    path.write_bytes(checked(json.dumps(first).encode() + b"\n" + msgspec.msgpack.encode(value)))


def test_an_answer_is_found_again_with_its_age(store: Store[Answer], own_store: Path) -> None:
    assert store.get("what?") is None
    store.put("what?", Answer(3, ("a",)), when=86_400)
    entry = store.get("what?")
    assert entry is not None and entry.value == Answer(3, ("a",))
    assert entry.origin == KeptOrigin("1970-01-02T00:00:00+00:00", hashlib.sha256(b"what?").hexdigest())
    assert entry.origin.moment == 86_400
    assert store.get("what else?") is None and Store("others", Answer).get("what?") is None
    (file,) = (own_store / "answers").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert [folder.stat().st_mode & 0o777 for folder in (own_store, file.parent)] == [0o700, 0o700]


def test_a_fresh_store_finds_nothing_and_keeps(store: Store[Answer]) -> None:
    fresh = Store("answers", Answer, fresh=True)
    fresh.put("a", Answer(1))
    assert fresh.get("a") is None and fresh.peek("a") is not None and store.get("a") is not None
    assert [(key, entry.value) for key, entry in store.entries()] == [("a", Answer(1))]


def test_every_flip_and_every_cut_is_noticed(store: Store[Answer]) -> None:
    store.put("a", Answer(1, ("word",)))
    file = store.path("a")
    whole = file.read_bytes()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]):
            file.write_bytes(damaged)
            assert store.get("a") is None, place
    file.write_bytes(whole + b"?")
    assert store.get("a") is None
    file.write_bytes(whole)
    assert store.get("a") is not None


def test_files_that_changed_places_answer_nothing(store: Store[Answer]) -> None:
    store.put("a", Answer(1))
    store.put("b", Answer(2))
    one, two = store.path("a").read_bytes(), store.path("b").read_bytes()
    store.path("a").write_bytes(two)
    store.path("b").write_bytes(one)
    assert store.get("a") is None and store.get("b") is None and list(store.entries()) == []
    other = Store("others", Answer)
    other.put("a", Answer(9))
    store.path("a").write_bytes(other.path("a").read_bytes())
    assert store.get("a") is None, "an entry of another kind"


@pytest.mark.parametrize(
    "value", [[1], {"number": "1"}, {"number": 1, "more": 2}, {"words": []}, None, {"number": True}]
)
def test_an_answer_of_another_type_is_none(store: Store[Answer], value: object) -> None:
    store.put("a", Answer(1))
    forged(store.path("a"), value)
    assert store.get("a") is None
    for when in (-1, 2**60, "now", None, 1.5):
        forged(store.path("a"), {"number": 1}, when=when)
        assert store.get("a") is None
    forged(store.path("a"), {"number": 1}, more=1)
    assert store.get("a") is None
    forged(store.path("a"), {"number": 1})
    assert store.get("a") is not None, "the forgery is what it should be"


@OWNERS
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_ignored(store: Store[Answer], mode: int) -> None:
    store.put("a", Answer(1))
    store.path("a").chmod(mode)
    assert store.get("a") is None
    store.put("a", Answer(1))
    assert store.get("a") is not None, "it is written again, for its owner alone"


@OWNERS
@pytest.mark.parametrize("which", ["answers", "."])
def test_a_folder_that_others_may_write_is_ignored(store: Store[Answer], own_store: Path, which: str) -> None:
    store.put("a", Answer(1))
    (own_store / which).chmod(0o770)
    assert store.get("a") is None and list(store.entries()) == []
    store.put("b", Answer(1))
    assert not store.path("b").exists(), "nothing is written that would not be read"
    (own_store / which).chmod(0o755)
    assert store.get("a") is not None


@OWNERS
def test_what_belongs_to_another_user_is_distrusted() -> None:
    def owned(user: int, mode: int = 0o600) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | mode, 0, 0, 1, user, 0, 0, 0, 0, 0))

    assert distrust(owned(os.geteuid())) is None and distrust(owned(0)) is None
    assert distrust(owned(os.geteuid() + 1)) == "belongs to another user"
    assert distrust(owned(os.geteuid(), 0o640)) is None
    assert distrust(owned(os.geteuid(), 0o660)) == "can be changed by other users"


@OWNERS
def test_a_file_of_another_user_is_ignored(store: Store[Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("a", Answer(1))
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    if me != 0:
        assert store.get("a") is None
    monkeypatch.undo()
    if me == 0:
        os.chown(store.path("a"), 4242, 4242)
        monkeypatch.setattr(os, "geteuid", lambda: 4243)
        assert store.get("a") is None


def test_what_lies_in_the_place_of_a_file(store: Store[Answer]) -> None:
    store.put("a", Answer(1))
    file = store.path("a")
    file.unlink()
    file.mkdir()
    assert store.get("a") is None
    store.put("a", Answer(1))  # cannot be written, which is not a reason to fail
    file.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(file)
        assert store.get("a") is None, "nobody waits for a writer"
        file.unlink()
    file.symlink_to("/nowhere")
    assert store.get("a") is None


def test_a_folder_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/dev/null/elrcheck")):
        monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(folder))
        store = Store("answers", Answer)
        store.put("a", Answer(1))
        assert store.get("a") is None and list(store.entries()) == []
        jar = FileStore("jars", ".jar").place("a", b"content")
        assert jar.read_bytes() == b"content", "it is used all the same"
    assert capsys.readouterr().err == ""


def test_what_was_ignored_is_told_once(store: Store[Answer], capsys: pytest.CaptureFixture[str]) -> None:
    for key in ("a", "b"):
        store.put(key, Answer(1))
        store.path(key).write_bytes(b"?")
    assert store.get("a") is None and store.get("b") is None
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and str(store.path("a")) in printed and "is damaged" in printed
    assert "remove it" in printed and "ELRCHECK_CACHE_DIR" in printed
    notice.cache_clear()
    store.put("a", Answer(1))
    store.refuse("a", "is not what it was")
    assert "is not what it was" in capsys.readouterr().err and not store.path("a").exists()


def test_one_process_of_a_run_tells(store: Store[Answer], tmp_path: Path) -> None:
    """Workers inherit the name of the mark."""
    store.put("a", Answer(1))
    store.path("a").write_bytes(b"?")
    source = (
        "from elrcheck.base.kept.store import Store\n"
        "assert Store('answers', str).get('a') is None and Store('answers', str).get('a') is None"
    )
    messages = []
    with one_notice():
        mark = Path(os.environ[MARK])
        for _ in range(3):
            command = [sys.executable, "-c", source]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
            messages.append(done.stderr.count("\n"))
        assert mark.exists()
    assert messages == [1, 0, 0] and not mark.exists() and MARK not in os.environ


def test_a_file_for_others_is_checked_before_its_path_is_given(own_store: Path) -> None:
    files = FileStore("jars", ".jar")
    assert files.get("a") is None
    path = files.put("a", b"content")
    assert path is not None and path.suffix == ".jar" and files.get("a") == path
    changes: list[Callable[[Path], object]] = [
        lambda file: file.write_bytes(b"contend"),
        lambda file: file.write_bytes(b""),
        lambda file: file.chmod(0o666),
        lambda file: file.unlink(),
        lambda file: file.with_suffix("").unlink(),
    ]
    for change in changes:
        change(path)
        assert files.get("a") is None
        assert files.put("a", b"content") == path and files.get("a") == path


def test_of_several_answers_the_oldest_counts() -> None:
    one, two = KeptOrigin("2026-01-01T00:00:00+00:00", "1"), KeptOrigin("2026-01-02T00:00:00+00:00", "2")
    assert KeptOrigin.oldest([]) is None and KeptOrigin.oldest([None]) is None
    assert KeptOrigin.oldest([two, None, two]) == two
    both = KeptOrigin.oldest([two, one])
    assert both is not None and both.when == one.when and both.digest not in ("1", "2")
    assert both == KeptOrigin.oldest([one, two, one])
