"""Files and folders with definitions of topics, by the ending of their names.

`.tf` is Terraform, `.yaml` and `.yml` are resources of Strimzi, and any other file is output of Kafka's tools.
Terraform in JSON, `.tf.json`, is not read; in a folder, such a file about topics is named.
"""

from __future__ import annotations

import codecs
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.topics.describe_text import read_description
from elrcheck.kafka.topics.described import Described, all_of

MOST_BYTES = 32 << 20
ENDINGS = (".tf", ".yaml", ".yml")
JSON = ".tf.json"
MARKS = tuple(
    word.encode(encoding)
    for word in ("kafka_topic", "kafka.strimzi.io")
    for encoding in ("utf-8", "utf-16-le", "utf-16-be")
)
"""Words of a file about topics; files of a folder without any of them are skipped."""


def read_topics(paths: Sequence[Path], exclude: Sequence[str] = ()) -> Described:
    """Read the topics in files and folders; raise UsageFault for one that cannot be read, or defines no topic.

    A file in a folder that cannot be read is named in `unread`. exclude: globs of files in folders to leave out.
    """
    skipped: list[str] = []
    files = _files(paths, skipped, exclude)
    descriptions = [_placed(file, _described(file, data), len(paths) > 1) for file, data in files]
    described = all_of([*descriptions, Described((), {}, tuple(skipped))])
    if not described.topics:
        first = f": {described.unread[0]}" if described.unread else ""
        raise UsageFault(
            "topics-unreadable",
            f"{', '.join(map(str, paths))} has no topic that can be read{first}",
            help="give it the output of kafka-topics.sh --describe, KafkaTopic resources of Strimzi (.yaml), or"
            " kafka_topic resources of Terraform (.tf)",
        )
    return described


def topic_files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of a folder about topics and their brokers, empty if no topic can be read, and messages.

    Each message is about a file that may define topics, or a part of it, that cannot be read.
    """
    skipped: list[str] = []
    files = list(_files([folder], skipped)) if folder.is_dir() else []
    described = [_placed(file, _described(file, data), True) for file, data in files]
    messages = [*skipped, *(line for each in described for line in each.unread)]
    return [file for file, _ in files] if any(each.topics for each in described) else [], messages


def _files(paths: Sequence[Path], skipped: list[str], exclude: Sequence[str] = ()) -> Iterator[tuple[Path, bytes]]:
    """Yield the files and their bytes; add to `skipped` why a file in a folder cannot be read.

    exclude: globs of files in folders to leave out, by their path as given or from the folder; `*` matches `/`.
    """
    for path in paths:
        if not path.is_dir():
            yield path, _bytes(path)
            continue
        for file in sorted(path.rglob("*")):
            inside = file.relative_to(path)
            left_out = any(part.startswith(".") for part in inside.parts) or any(
                fnmatchcase(name.as_posix(), glob) for name in (file, inside) for glob in exclude
            )
            if file.name.endswith((*ENDINGS, JSON)) and file.is_file() and not left_out:
                try:
                    data = _bytes(file) if _is_marked(file) else None
                except UsageFault as fault:
                    skipped.append(fault.message)
                    continue
                if data is not None and file.name.endswith(JSON):
                    skipped.append(f"{file} is Terraform in JSON, which is not read")
                    continue
                if data is not None:
                    yield file, data


def _is_marked(file: Path) -> bool:
    """Return whether a file of any size has a word about topics; UsageFault if it cannot be read."""
    try:
        with open(file, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(mark) >= 0 for mark in MARKS)
    except ValueError:  # an empty file cannot be mapped
        return False
    except OSError as fault:
        raise _unreadable(file, fault) from fault


def _bytes(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as fault:
        raise _unreadable(file, fault) from fault
    if len(data) > MOST_BYTES:
        raise UsageFault("topics-unreadable", f"{file} is larger than {MOST_BYTES >> 20} MiB")
    return data


def _unreadable(file: Path, fault: OSError) -> UsageFault:
    return UsageFault("topics-unreadable", f"cannot read {file}: {fault.strerror or fault}")


def _described(file: Path, data: bytes) -> Described:
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # written by a redirection of PowerShell
    text = data.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace")
    match file.suffix:
        case ".tf":
            from elrcheck.kafka.topics.terraform_topics import read_terraform

            return read_terraform(text)
        case ".yaml" | ".yml":
            from elrcheck.kafka.topics.strimzi_topics import read_strimzi

            return read_strimzi(text)
    return read_description(text)


def _placed(file: Path, described: Described, named: bool) -> Described:
    """Return a description whose topics have places. named: a line that was not read needs the name of its file.

    Kafka's tools print what a topic inherits from its brokers; other files do not.
    """
    for topic in described.topics:
        topic.place = f"{file}:{topic.line}"
        topic.inherits = file.suffix in ENDINGS
    named = named or file.suffix in ENDINGS
    return replace(described, unread=tuple(f"{file}, {text}" if named else text for text in described.unread))
