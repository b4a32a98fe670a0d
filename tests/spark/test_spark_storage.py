"""Files of a run appear whole or not at all, here and on an S3 server that the tests start."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs

from elrcheck.base.errors import ElrError, EnvironmentFault, UsageFault
from elrcheck.explorer.store.storage import Storage, parse_location
from elrcheck.explorer.store.stored_levels import StoredLevels

# ------------------------------------------------------------------------------- locations


@pytest.mark.parametrize(
    ("text", "scheme", "path"),
    [
        ("/data/run", "file", "/data/run"),
        ("file:///data/run/", "file", "/data/run"),
        ("file:/data/run", "file", "/data/run"),
        ("s3://bucket/a/b", "s3", "bucket/a/b"),
        ("s3a://bucket", "s3", "bucket"),
        ("hdfs://name:8020/a", "hdfs", "/a"),
        ("hdfs:///a/", "hdfs", "/a"),
        ("gs://bucket/a", "gs", "bucket/a"),
        ("abfss://box@account.dfs.core.windows.net/a", "abfs", "box/a"),
    ],
)
def test_locations(text: str, scheme: str, path: str) -> None:
    location = parse_location(text, {})
    assert (location.scheme, location.path, location.text) == (scheme, path, text)


def test_a_relative_path_is_seen_from_here() -> None:
    assert parse_location("runs/a", {}).path == str(Path.cwd() / "runs" / "a")


def test_the_endpoint_comes_from_the_uri_then_from_the_environment() -> None:
    env = {"AWS_ENDPOINT_URL": "http://here:1", "AWS_REGION": "eu-west-1"}
    assert dict(parse_location("s3://b/k", env).options) == {
        "endpoint_override": "http://here:1",
        "region": "eu-west-1",
    }
    location = parse_location("s3://b/k?endpoint_override=http%3A%2F%2Fthere:2", env)
    assert (dict(location.options)["endpoint_override"], location.path) == ("http://there:2", "b/k")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "specify a folder"),
        ("sss://bucket/x", "known: "),
        ("hfds://host/x", "did you mean `hdfs`?"),
        ("s3:///x", "s3://BUCKET/FOLDER"),
        ("s3://key:secret@bucket/x", "AWS_ACCESS_KEY_ID"),
        ("s3://bucket/x?endpoint=here", "did you mean `endpoint_override`?"),
        ("file://host/x", "file:///folder"),
        ("abfs://account/x", "CONTAINER@ACCOUNT"),
    ],
)
def test_locations_that_are_refused(text: str, hint: str) -> None:
    with pytest.raises(UsageFault) as caught:
        parse_location(text, {})
    assert caught.value.code == "bad-location" and hint in (caught.value.help or "")
    assert "secret" not in caught.value.render()


# ------------------------------------------------------------------------------ operations


def exercise(storage: Storage) -> None:
    """What any storage does; the bytes and names are the ones written."""
    assert storage.list() == ()
    data = b"levels" * 1000
    storage.write("00001/a.bin", data)
    assert storage.read("00001/a.bin").to_pybytes() == data
    storage.write("00001/a.bin", b"second")
    assert storage.read("00001/a.bin").to_pybytes() == b"second"
    storage.write("00002/b.parquet", pa.py_buffer(data))
    there = pickle.loads(pickle.dumps(storage))
    assert there.read("00002/b.parquet").to_pybytes() == data
    assert storage.list() == ("00001/a.bin", "00002/b.parquet")
    assert (storage.exists("00001/a.bin"), storage.exists("00001/b.bin")) == (True, False)
    storage.delete("00001/a.bin")
    storage.delete("00001/a.bin")
    assert storage.list() == ("00002/b.parquet",)
    with pytest.raises(EnvironmentFault, match="there is no such file") as caught:
        storage.read("00001/a.bin")
    assert "every executor" in (caught.value.help or "")


def test_local_files(tmp_path: Path) -> None:
    exercise(Storage.at(tmp_path / "run"))
    (tmp_path / "uri").mkdir()
    exercise(Storage.at((tmp_path / "uri").as_uri()))


def test_a_level_that_comes_a_few_rows_at_a_time(tmp_path: Path) -> None:
    files = StoredLevels(str(tmp_path), 2)
    rows = np.arange(20, dtype=np.uint64).reshape(-1, 2)
    with files.gathered(3, 2) as level:
        level.append(rows)
        level.append(rows + np.uint64(100))
    files.verify(level.saved)
    stored = np.concatenate(list(files.read(level.saved)))
    assert sorted(stored.ravel().tolist()) == [*range(20), *range(100, 120)]


def test_names_stay_inside(tmp_path: Path) -> None:
    for name in ("../x", "/x", "a//b", ""):
        with pytest.raises(ValueError, match="not a file name"):
            Storage.at(tmp_path).write(name, b"")


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A file system that can be written to but whose renames fail."""

        def __init__(self) -> None:
            self.real = fs.LocalFileSystem()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def move(self, source: str, target: str) -> None:
            raise OSError(28, "No space left on device")

    storage = Storage.at(tmp_path)
    storage.write("a", b"old")
    full = Full()
    monkeypatch.setattr("elrcheck.explorer.store.storage._connected", lambda location: full)
    with pytest.raises(EnvironmentFault, match="no space is left") as caught:
        storage.write("a", b"new")
    assert caught.value.code == "cannot-write"
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a", b"old")]


def test_a_place_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault, match="cannot write"):
        Storage.at(tmp_path / "file").write("a", b"")


def test_a_file_system_with_renames_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done on HDFS, but with local files below: draft, rename, nothing left of a failure."""
    monkeypatch.setattr("elrcheck.explorer.store.storage.filesystem", lambda location: fs.LocalFileSystem())
    storage = Storage.at(f"hdfs://unused{tmp_path}/run")
    exercise(storage)
    storage.delete("00002/b.parquet")
    (tmp_path / "run" / "taken").mkdir()
    with pytest.raises(EnvironmentFault, match="cannot write"):
        storage.write("taken", b"a file cannot replace a folder")
    assert [path for path in (tmp_path / "run").rglob("*") if path.is_file()] == []


def test_hdfs_without_its_client_names_the_remedies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what happens where there is no Hadoop; a real HDFS is not tried by the tests."""
    for name in ("CLASSPATH", "ARROW_LIBHDFS_DIR", "HADOOP_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EnvironmentFault) as caught:
        Storage.at("hdfs://127.0.0.1:1/x").write("a", b"")
    assert "CLASSPATH" in (caught.value.help or "") and "\n" not in caught.value.message


# -------------------------------------------------------------------------------------- S3


def test_s3(s3: str) -> None:
    exercise(Storage.at("s3://bucket/run/1"))
    exercise(Storage.at("s3a://bucket/other/place"))


def test_a_large_object_is_there_as_a_whole(s3: str) -> None:
    """Larger than what one request carries: pyarrow uploads it in parts."""
    storage = Storage.at(f"s3://bucket/large?endpoint_override={s3}")
    data = os.urandom(1 << 20) * 24
    storage.write("a", data)
    assert storage.read("a").to_pybytes() == data


def test_what_s3_refuses_has_a_remedy(s3: str) -> None:
    with pytest.raises(EnvironmentFault, match="no such bucket") as caught:
        Storage.at("s3://missing/run").write("a", b"")
    assert "create the bucket" in (caught.value.help or "")


def test_a_service_that_does_not_answer(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    start = time.monotonic()
    with pytest.raises(ElrError, match="does not answer"):
        Storage.at("s3://bucket/run").write("a", b"")
    assert time.monotonic() - start < 30
