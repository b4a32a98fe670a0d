"""Files of the cache folder: whole, and written by nobody else, or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from elrcheck.base.caches import KeptFiles, _is_ours


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    files = KeptFiles(tmp_path / "new", b"magic\n", ".x")
    assert files.load("a") is None
    files.store("a", b"body")
    assert files.load("a") == b"body"
    (file,) = (tmp_path / "new").iterdir()
    assert file.name == "a.x"
    assert file.stat().st_mode & 0o777 == 0o600
    for damaged in (
        b"",
        b"magic\n",
        file.read_bytes()[:-1],
        file.read_bytes() + b"?",
        b"other\n" + bytes(40),
    ):
        file.write_bytes(damaged)
        assert files.load("a") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_read(tmp_path: Path, mode: int) -> None:
    files = KeptFiles(tmp_path, b"magic\n", ".x")
    files.store("a", b"body")
    os.chmod(tmp_path / "a.x", mode)
    assert files.load("a") is None
    files.store("a", b"body")
    assert files.load("a") == b"body", "it is written again, for its owner alone"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
def test_a_file_of_somebody_else_is_not_read() -> None:
    def owned(user: int) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | 0o600, 0, 0, 1, user, 0, 0, 0, 0, 0))

    assert _is_ours(owned(os.geteuid())) and _is_ours(owned(0))
    assert not _is_ours(owned(os.geteuid() + 1))


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    files = KeptFiles(tmp_path / "file", b"magic\n", ".x")
    files.store("a", b"body")
    assert files.load("a") is None
