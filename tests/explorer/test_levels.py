"""Files of levels: however many there are, few are open; and a level that fails waits for all who write it."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.store import levels as levels_module
from elrcheck.explorer.store.levels import PARTS, GatheredLevel, LevelFiles
from support.level_folder import Folder
from support.small_programs import counter

resource = pytest.importorskip("resource", reason="no limit of open files here")
DEEP = 60
ROOM = 20


@pytest.fixture
def few_files() -> Any:
    """Let this process open no more than ROOM files at a time besides those that are open."""
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + ROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def test_a_deep_search_is_resumed_and_traced_with_few_open_files(tmp_path: Path, few_files: None) -> None:
    """Its levels are one file each, or more."""
    program = counter(top=DEEP, room=63)
    keeper = Folder(tmp_path, always=True)
    search = Search(program, SearchSettings(fingerprint=64, keeper=keeper))
    result = search.run(None, "complete")
    assert (result.complete, result.diameter) == (True, DEEP + 1)
    again = Search(program, SearchSettings(fingerprint=64, keeper=keeper))
    again.resume(*keeper.saved[-1])
    assert again.run(None, "complete").levels == result.levels
    assert [len(list(rows)) for depth in range(DEEP + 1) for rows in again.batches(depth)] == [1] * (DEEP + 1)


def test_partitioned_levels_are_read_again_and_again_with_few_open_files(
    tmp_path: Path, few_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels_module, "MOST_OPEN", ROOM // 2)
    files = LevelFiles(tmp_path, 1)
    parts = [np.full((part % 3, 1), part, np.uint64) for part in range(PARTS)]
    written = [files.write_parts(depth, parts) for depth in range(2 * ROOM)]
    for level in written + written:
        assert files.part_rows(level) == [part % 3 for part in range(PARTS)]
        assert sum(int(rows.sum()) for rows in files.parts(level, (4, 5))) == 4 + 2 * 5


class _Draft:
    """A file that takes its time, or fails as soon as the other one is being written."""

    def __init__(self, other: _Draft | None = None) -> None:
        self.other, self.begun, self.ended = other, threading.Event(), False

    def append(self, _: object) -> None:
        self.begun.set()
        if self.other is not None:
            self.other.begun.wait(10)
            raise OSError("the disk is full")
        time.sleep(0.3)
        self.ended = True


def test_no_file_is_dropped_while_a_thread_writes_it() -> None:
    """Arrow would end the process."""
    slow = _Draft()
    drafts: list[Any] = [_Draft(slow), slow]
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(OSError, match="full"):
            GatheredLevel(drafts, pool).append(np.zeros((8, 1), np.uint64))
        assert slow.ended
