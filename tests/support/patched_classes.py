"""Kafka's classes with the edits of a patch, compiled against the release's jars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from junit_runs import compile_java, kafka_source
from scala_classes import compile_scala

from elrcheck.catalogue.finding_file import Edit
from elrcheck.kafka.jars import ClassPath, Jars


def jars_needed(edits: Sequence[Edit]) -> Jars:
    """The jars that have what the edited sources use."""
    of_brokers = any(edit.path.startswith(("kafka/", "org/apache/kafka/storage/")) for edit in edits)
    return Jars.BROKER if of_brokers else Jars.CONTROLLER


def patched_classes(edits: Sequence[Edit], kafka: ClassPath, folder: Path) -> Path:
    """The folder of the compiled classes; Scala's may use Java's."""
    folder.mkdir()
    sources = {path: kafka_source(kafka, path, folder) for path in {edit.path for edit in edits}}
    for edit in edits:
        sources[edit.path] = edit.changed(sources[edit.path])
    files = [folder / path.rpartition("/")[2] for path in sources]
    for file, text in zip(files, sources.values(), strict=True):
        file.write_text(text)
    out = folder / "classes"
    java, scala = ([file for file in files if file.suffix == kind] for kind in (".java", ".scala"))
    if java:
        compile_java(java, kafka, out)
    if scala:
        compile_scala(scala, replace(kafka, jars=(out, *kafka.jars)), out)
    return out
