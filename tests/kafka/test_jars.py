"""Kafka's jars: from a distribution, from Maven, from an earlier run; and what is said if there are none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.kafka.doctor import diagnose
from elrcheck.kafka.jars import ClassPath, Jars, from_home, from_maven, kept_versions, newest_release, newest_seen
from support.fake_maven import maven

JARS = ("kafka-clients-4.1.2.jar", "kafka-metadata-4.1.2.jar", "slf4j-api-1.7.36.jar")
LOGS = ("log4j-slf4j-impl-2.25.3.jar", "slf4j-reload4j-1.7.36.jar")


def distribution(folder: Path) -> Path:
    (folder / "libs").mkdir(parents=True)
    for name in (*JARS, *LOGS):
        (folder / "libs" / name).write_bytes(b"")
    return folder


def resolving(folder: Path, jar: Path) -> dict[str, str]:
    """A `mvn` that resolves one jar, and leaves a mark whenever it runs."""
    script = 'for word in "$@"; do case $word in -Dmdep.outputFile=*) printf %s '
    return maven(folder, f'echo >> {folder}/runs; {script} {jar} > "${{word#*=}}";; esac; done')


def test_a_distribution_gives_its_jars_without_a_logging_backend(tmp_path: Path) -> None:
    jars = from_home(distribution(tmp_path / "kafka"))
    assert jars.version == "4.1.2"
    assert tuple(jar.name for jar in jars.jars) == JARS


def test_a_folder_without_jars_is_no_distribution(tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        from_home(tmp_path)
    assert caught.value.code == "kafka-home" and str(tmp_path) in caught.value.message


@pytest.mark.parametrize("version", ["4.1", "newest", "", "4.1.2; rm", "../4.1.2"])
def test_a_version_is_checked_before_maven_sees_it(version: str, tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        from_maven(version, environ=maven(tmp_path / "bin", f"touch {tmp_path}/ran"))
    assert caught.value.code == "kafka-version" and not (tmp_path / "ran").exists()


def test_maven_runs_once_for_a_version(tmp_path: Path) -> None:
    jar = tmp_path / "kafka-metadata-4.1.2.jar"
    jar.write_bytes(b"")
    environ = resolving(tmp_path / "bin", jar)
    first = from_maven("4.1.2", environ=environ)
    again = from_maven("4.1.2", environ=environ)
    assert first.jars == again.jars == (jar,)
    assert (tmp_path / "bin" / "runs").read_text().count("\n") == 1
    assert kept_versions(environ) == ("4.1.2",) and kept_versions(environ, Jars.BROKER) == ()
    from_maven("4.1.2", Jars.BROKER, environ)
    assert (tmp_path / "bin" / "runs").read_text().count("\n") == 2


def test_the_newest_release_is_what_maven_finds_from_a_known_one_on(tmp_path: Path) -> None:
    jar = tmp_path / "kafka-metadata-99.1.0.jar"
    jar.write_bytes(b"")
    environ = resolving(tmp_path / "bin", jar)
    assert newest_seen(environ) is None
    assert newest_release("4.4.0", environ) == "99.1.0"
    seen = newest_seen(environ)
    assert seen is not None and seen[0] == "99.1.0"
    (row,) = (item for item in diagnose(environ, sys.stdout).items if item.name == "Kafka's jars")
    assert f"newest release 99.1.0 on {seen[1][:10]}, without a recorded comparison" in row.detail
    with pytest.raises(EnvironmentFault, match="no Kafka release from"):
        newest_release("4.4.0", maven(tmp_path / "silent", "exit 0"))
    with pytest.raises(UsageFault, match="no Kafka newer than"):
        newest_release(
            "4.4.0", maven(tmp_path / "empty", "echo '[ERROR] Could not find artifact org.apache.kafka:a'; exit 1")
        )


def test_maven_runs_again_if_a_jar_is_gone_or_the_note_is_damaged(tmp_path: Path) -> None:
    jar = tmp_path / "kafka-metadata-4.1.2.jar"
    jar.write_bytes(b"")
    environ = resolving(tmp_path / "bin", jar)
    from_maven("4.1.2", environ=environ)
    (note,) = (tmp_path / "bin" / "cache").rglob("class-paths/*")
    for damage in (b"", b"{", note.read_bytes()[:-1]):
        note.write_bytes(damage)
        assert kept_versions(environ) == ()
        assert from_maven("4.1.2", environ=environ).jars == (jar,)
    assert kept_versions(environ) == ("4.1.2",)
    jar.rename(tmp_path / "elsewhere")
    assert kept_versions(environ) == ()


def test_without_maven_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        from_maven("4.1.2", environ={"PATH": str(tmp_path), "ELRCHECK_CACHE_DIR": str(tmp_path)})
    assert caught.value.code == "maven-missing" and "--kafka-home" in str(caught.value.help)


@pytest.mark.parametrize(
    ("output", "kind", "code"),
    [
        ("Could not find artifact org.apache.kafka:kafka-raft:jar:9.9.9", UsageFault, "kafka-version"),
        ("Could not transfer artifact org.apache.kafka:x: Unknown host repo", EnvironmentFault, "kafka-jars"),
        ("Something else entirely", EnvironmentFault, "kafka-jars"),
    ],
)
def test_what_maven_says_is_understood(
    output: str, kind: type[UsageFault | EnvironmentFault], code: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        from_maven("9.9.9", environ=maven(tmp_path / "bin", f"echo '[ERROR] {output}'; exit 1"))
    assert caught.value.code == code and output in str(caught.value.excerpt)


def test_a_class_path_has_another_digest_when_a_jar_changes(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    before = ClassPath("4.1.2", (jar,), "a test").digest()
    assert ClassPath("4.1.2", (jar,), "a test").digest() == before
    jar.write_bytes(b"22")
    assert ClassPath("4.1.2", (jar,), "a test").digest() != before
