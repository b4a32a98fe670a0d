"""Files and folders with definitions of topics, by the ending of their names.

`.tf` is Terraform, `.yaml` and `.yml` are resources of Strimzi, and any other file is output of Kafka's tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.topics.describe_text import read_description
from elrcheck.kafka.topics.described import Described, all_of

MOST_BYTES = 32 << 20
ENDINGS = (".tf", ".yaml", ".yml")
MARKS = (b"kafka_topic", b"kafka.strimzi.io")
"""Words of a file about topics; files of a folder without any of them are skipped."""


def read_topics(paths: Sequence[Path]) -> Described:
    """Read the topics in files and folders; raise UsageFault for one that cannot be read, or defines no topic."""
    descriptions = [_placed(file, _described(file, data), len(paths) > 1) for file, data in _files(paths)]
    described = all_of(descriptions)
    if not described.topics:
        first = f": {described.unread[0]}" if described.unread else ""
        raise UsageFault(
            "risk-describe",
            f"{', '.join(map(str, paths))} has no topic that can be read{first}",
            help="give it the output of kafka-topics.sh --describe, KafkaTopic resources of Strimzi (.yaml), or"
            " kafka_topic resources of Terraform (.tf)",
        )
    return described


def topic_files(folder: Path) -> list[Path]:
    """Return the files of a folder about topics and their brokers; none if they define no topic."""
    files = list(_files([folder])) if folder.is_dir() else []
    return [file for file, _ in files] if any(_described(file, data).topics for file, data in files) else []


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, bytes]]:
    for path in paths:
        if not path.is_dir():
            yield path, _bytes(path)
            continue
        for file in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.suffix in ENDINGS and file.is_file() and not hidden:
                data = _bytes(file)
                if any(mark in data for mark in MARKS):
                    yield file, data


def _bytes(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as fault:
        raise UsageFault("risk-describe", f"cannot read {file}: {fault.strerror or fault}") from fault
    if len(data) > MOST_BYTES:
        raise UsageFault("risk-describe", f"{file} is larger than {MOST_BYTES >> 20} MiB")
    return data


def _described(file: Path, data: bytes) -> Described:
    text = data.decode("utf-8", errors="replace")
    match file.suffix:
        case ".tf":
            from elrcheck.kafka.topics.terraform_topics import read_terraform

            return read_terraform(text)
        case ".yaml" | ".yml":
            from elrcheck.kafka.topics.strimzi_topics import read_strimzi

            return read_strimzi(text)
    return read_description(text)


def _placed(file: Path, described: Described, named: bool) -> Described:
    """Return a description whose topics have places. named: a line that was not read needs the name of its file."""
    for topic in described.topics:
        topic.place = f"{file}:{topic.line}"
    named = named or file.suffix in ENDINGS
    return replace(described, unread=tuple(f"{file}, {text}" if named else text for text in described.unread))
