"""Kafka's own serializers of metadata records and batches, asked by lines (tests/support/java)."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import compiled, find_jdk
from support.edits import replaced
from support.places import TESTS

SOURCE = TESTS / "support" / "java" / "KafkaRecords.java"
HOMES = ("org.apache.kafka.common.record.internal", "org.apache.kafka.common.record")
"""The package of MemoryRecords: from 4.2 on, and before."""
PATIENCE = 120


def answers_to(jars: ClassPath, lines: Sequence[str]) -> list[str]:
    """What the classes of that release answer to each line."""
    jdk = find_jdk()
    home = next(home for home in HOMES if _has(jars.jars, f"{home.replace('.', '/')}/MemoryRecords.class"))
    text = replaced(SOURCE.read_text(encoding="utf-8"), "RECORDS.", f"{home}.")
    classes = compiled({SOURCE.name: text}, jars, jdk)
    done = subprocess.run(
        [str(jdk.java.path), "-Xmx128m", "-XX:+UseSerialGC", "-cp", f"{classes}:{jars}", "KafkaRecords"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), done.stderr
    assert not (wrong := [answer for answer in answers if answer.startswith("error")]), wrong[:3]
    return answers


def _has(jars: Sequence[Path], entry: str) -> bool:
    for jar in jars:
        if jar.name.startswith("kafka-clients-"):
            with zipfile.ZipFile(jar) as content:
                return entry in content.namelist()
    return False
