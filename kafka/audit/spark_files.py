"""Files of a storage that Spark reads, listed by Spark: s3a://, hdfs://, abfss://, file:// and others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elrcheck.kafka.log.dump_text import LOOKED_AT, starts_as_dump
from elrcheck.kafka.log.log_files import FOLDER, WHAT_IT_IS, is_named_as_log
from elrcheck.kafka.log.segments import unreadable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ListedFile:
    """A file. uri: where Spark reads it; None for one that a task opens by its path."""

    path: str
    dump: bool
    uri: str | None = None


def files_on_spark(session: SparkSession, uri: str) -> list[ListedFile]:
    """Return the files that a URI names: itself, or the metadata log in a folder."""
    place = uri.rstrip("/")
    for folder in (place, f"{place}/{FOLDER}"):
        paths = _listed(session, folder)
        if paths is None and folder == place:
            raise unreadable(uri, "there is no such file or folder", WHAT_IT_IS)
        named = sorted(path for path in paths or () if is_named_as_log(path.rpartition("/")[2]))
        if named:
            return [ListedFile(path, False, path) for path in named]
        if paths is not None and len(paths) == 1 and _same(paths[0], place):
            return [ListedFile(paths[0], _is_dump(session, paths[0]), paths[0])]
    raise unreadable(uri, "the folder has no metadata log", WHAT_IT_IS)


def _same(path: str, uri: str) -> bool:
    """Return whether both name one file: Spark gives its URI with or without an empty host."""
    return path.split(":", 1)[-1].lstrip("/") == uri.split(":", 1)[-1].lstrip("/")


def _listed(session: SparkSession, uri: str) -> list[str] | None:
    from pyspark.errors import AnalysisException

    try:
        return [row.path for row in session.read.format("binaryFile").load(uri).select("path").collect()]
    except AnalysisException:  # there is nothing
        return None


def _is_dump(session: SparkSession, path: str) -> bool:
    from pyspark.sql import functions as F

    frame = session.read.format("binaryFile").load(path)
    (row,) = frame.select(F.substring("content", 1, LOOKED_AT).alias("start")).collect()
    return starts_as_dump(bytes(row.start))
