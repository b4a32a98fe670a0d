"""JUnit tests compiled against Kafka's jars and run, with what each of them says."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import find_jdk

LAUNCHER = "junit-platform-console-standalone"
VERSION = "1.11.4"
MOCKITO = "5.14.2"
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>elrcheck</groupId><artifactId>needed</artifactId><version>1</version><dependencies><dependency>
<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
</dependency></dependencies></project>
"""
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
CLASS = re.compile(r"public class (\w+)")
SOURCES = (
    ("kafka/", "kafka_2.13"),
    ("org/apache/kafka/storage/", "kafka-storage"),
    ("org/apache/kafka/", "kafka-metadata"),
)
"""Where the source of a path is, the first that fits."""


def junit_jar(folder: Path) -> str:
    """The launcher and Mockito with everything that they need; skip the test where Maven does not get it."""
    launcher = maven_class_path("org.junit.platform", LAUNCHER, VERSION, folder)
    return f"{launcher}:{maven_class_path('org.mockito', 'mockito-core', MOCKITO, folder)}"


def maven_class_path(group: str, artifact: str, version: str, folder: Path) -> str:
    """An artifact with what it needs; skip the test where Maven does not get it."""
    pom, answer = folder / f"{artifact}-pom.xml", folder / f"{artifact}.txt"
    pom.write_text(POM.format(group=group, artifact=artifact, version=version))
    command = ["mvn", "-B", "-q", "-f", str(pom), f"{PLUGIN}:build-classpath"]
    try:
        done = subprocess.run(
            [*command, f"-Dmdep.outputFile={answer}"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except OSError:
        pytest.skip(f"no mvn to fetch {artifact} with")
    if done.returncode != 0 or not answer.is_file():
        pytest.skip(f"Maven did not get {artifact}: {done.stdout[-300:]}")
    return answer.read_text().strip()


def run_tests(
    sources: Sequence[str],
    kafka: ClassPath,
    junit: str,
    folder: Path,
    patched: Path | None = None,
    more: Sequence[Path] = (),
) -> Mapping[str, str]:
    """Class -> the message with which its test fails, "" if it passes.

    patched: classes in front of the jars; more: files of classes that the tests use.
    """
    folder.mkdir(parents=True)
    jdk = find_jdk()
    files = []
    for source in sources:
        name = CLASS.search(source)
        assert name is not None
        files.append(folder / f"{name[1]}.java")
        files[-1].write_text(source)
    compile_java([*files, *more], kafka, folder / "classes", junit)
    parts = [*([patched] if patched else []), folder / "classes", *kafka.jars, junit]
    reports = folder / "reports"
    command = [
        str(jdk.java.path),
        "-cp",
        ":".join(map(str, parts)),
        "org.junit.platform.console.ConsoleLauncher",
    ]
    command += ["execute", "--disable-banner", "--details=none", f"--scan-classpath={folder / 'classes'}"]
    done = subprocess.run(
        [*command, f"--reports-dir={reports}"], capture_output=True, text=True, timeout=300, check=False
    )
    found = {}
    for case in ET.parse(reports / "TEST-junit-jupiter.xml").getroot().iter("testcase"):
        failed = next((part for part in case if part.tag in ("failure", "error")), None)
        said = "" if failed is None else failed.get("message") or failed.text or failed.tag
        found[case.get("classname", "").rpartition(".")[2]] = said
    assert len(found) == len(files), done.stdout + done.stderr
    return found


def kafka_source(kafka: ClassPath, name: str, folder: Path) -> str:
    """A file of Kafka's sources; skip the test where Maven does not get them."""
    part = next(part for path, part in SOURCES if name.startswith(path))
    artifact = f"org.apache.kafka:{part}:{kafka.version}:jar:sources"
    command = ["mvn", "-B", "-q", f"{PLUGIN}:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    jar = folder / f"{part}-{kafka.version}-sources.jar"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
    except OSError:
        pytest.skip("no mvn to fetch Kafka's sources with")
    if done.returncode != 0 or not jar.is_file():
        pytest.skip(f"Maven did not get Kafka's sources: {done.stdout[-300:]}")
    with zipfile.ZipFile(jar) as archive:
        return archive.read(name).decode()


def compile_java(files: Sequence[Path], kafka: ClassPath, out: Path, *more: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    path = ":".join(map(str, (*kafka.jars, *more)))
    command = [str(find_jdk().javac), "-nowarn", "-proc:none", "-cp", path, "-d", str(out), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
