"""`elrcheck doctor` says what is here, what is absent, and whether `check` can run."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import ExitCode
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.doctor import diagnose
from elrcheck.report.terminal import Page, open_console


def test_it_finds_this_python(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(cli, ["doctor", "-f", "json"])
    data = json.loads(capsys.readouterr().out)
    assert (code, data["schema"], data["ok"]) == (0, "elrcheck.doctor/1", True)
    items = {item["name"]: item for item in data["items"]}
    assert {"Python", "click", "z3-solver", "Java", "Java for Spark", "TLC", "cache"} <= set(items)
    assert {"pyspark", "pandas", "JDK", "Kafka's jars"} <= set(items)
    assert items["Python"]["status"] == "ok"


def test_a_missing_package_that_check_needs_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("elrcheck.kafka.doctor.PACKAGES", {"numpy": "check", "no-such-package": "check"})
    monkeypatch.setattr("elrcheck.kafka.doctor.NEEDED_BY_CHECK", frozenset({"no-such-package"}))
    assert run(cli, ["doctor"]) == ExitCode.ENVIRONMENT
    out = capsys.readouterr().out
    assert "pip install no-such-package" in out and "cannot run" in out


def test_what_only_other_commands_need_may_be_absent(tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("")
    report = diagnose({"PATH": "", "ELRCHECK_CACHE_DIR": str(a_file / "cache")}, io.StringIO())
    status = {item.name: item.status for item in report.items}
    assert (report.ok, status["Java"], status["cache"]) == (True, "absent", "absent")
    (java,) = [item for item in report.items if item.name == "Java for Spark"]
    assert java.status == "absent" and "--engine local" in java.detail
    text = io.StringIO()
    Page(open_console(text)).show(report.blocks())
    assert "`elrcheck check` can run" in text.getvalue()
    assert "JAVA_HOME" in text.getvalue()


def test_a_named_jar_that_is_none_is_reported() -> None:
    report = diagnose({**os.environ, "TLA2TOOLS_JAR": "/no/such.jar"}, io.StringIO())
    (tlc,) = [item for item in report.items if item.name == "TLC"]
    assert tlc.status == "absent"
    assert "/no/such.jar" in tlc.detail


def test_the_cache_folder_can_be_chosen() -> None:
    assert cache_directory({"ELRCHECK_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_directory({"XDG_CACHE_HOME": "/b"}) == Path("/b/elrcheck")
    assert cache_directory({}) == Path.home() / ".cache" / "elrcheck"


def test_the_java_for_spark_says_where_it_is_from(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"25.0.2\"' >&2\n")
    program.chmod(0o755)
    report = diagnose({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]}, io.StringIO())
    (java,) = [item for item in report.items if item.name == "Java for Spark"]
    assert (java.status, java.detail) == ("ok", f"25.0.2 ({program}, by JAVA_HOME)")
