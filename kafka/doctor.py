"""`elrcheck doctor`: what elrcheck can use on this machine; imports none of the heavy packages."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Literal, TextIO, TypeAlias

from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import EnvironmentFault, ExitCode
from elrcheck.base.roundtrip import Record, to_data
from elrcheck.base.runner.processors import processors
from elrcheck.report.document import Block, Line, Table

Status: TypeAlias = Literal["ok", "missing", "absent"]

PACKAGES: Mapping[str, str] = {
    "click": "every command",
    "rich": "text output",
    "numpy": "check",
    "msgspec": "check",
    "llvmlite": "check --engine local",
    "pyarrow": "check --resume, --fingerprint, --memory",
    "z3-solver": "prove",
    "networkx": "state graphs",
    "jinja2": "reports",
    "pyspark": "check --engine spark",
    "pandas": "check --engine spark",
    "kafka-python": "audit --bootstrap",
    "cvc5": "prove --solver cvc5",
}
NEEDED_BY_CHECK = frozenset({"click", "rich", "numpy", "llvmlite", "msgspec"})
OLDEST_PYTHON = (3, 11)


class DoctorItem(Record, frozen=True):
    """One requirement.  `missing` prevents `check`; `absent` prevents only what `needed_for` names."""

    name: str
    status: Status
    detail: str
    needed_for: str


@dataclass(frozen=True)
class Diagnosis:
    """The result for all requirements.  `ok` means that `elrcheck check` can run."""

    items: tuple[DoctorItem, ...]

    @property
    def ok(self) -> bool:
        return all(item.status != "missing" for item in self.items)

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.HOLDS if self.ok else ExitCode.ENVIRONMENT

    def to_json(self) -> str:
        data = {"schema": "elrcheck.doctor/1", "ok": self.ok, "items": to_data(self.items)}
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    def blocks(self) -> Iterator[Block]:
        yield Table(
            ("what", "status", "found", "needed for"),
            [(item.name, item.status, item.detail, item.needed_for) for item in self.items],
        )
        yield Line("`elrcheck check` can run" if self.ok else "`elrcheck check` cannot run")


def diagnose(environ: Mapping[str, str], stdout: TextIO) -> Diagnosis:
    """Examine this machine; this takes as long as `java -version`."""
    return Diagnosis(
        (
            _python(),
            *_packages(PACKAGES),
            _look_for("Java", "tlc", _java, environ),
            _look_for("Java for Spark", "check --engine spark", _spark_java, environ),
            _look_for("TLC", "tlc", _tlc, environ),
            _look_for("JDK", "conform", _jdk, environ),
            _look_for("ethos", "prove --proofs", _ethos, environ),
            _kafka_jars(environ),
            _cache(environ),
            _machine(),
            _terminal(environ, stdout),
        )
    )


def _python() -> DoctorItem:
    enough = sys.version_info[:2] >= OLDEST_PYTHON
    detail = f"{platform.python_version()} ({sys.executable})"
    return DoctorItem("Python", "ok" if enough else "missing", detail, "everything, 3.11 or later")


def _packages(uses: Mapping[str, str]) -> Iterable[DoctorItem]:
    for name, needed_for in uses.items():
        try:
            yield DoctorItem(name, "ok", metadata.version(name), needed_for)
        except metadata.PackageNotFoundError:
            status: Status = "missing" if name in NEEDED_BY_CHECK else "absent"
            yield DoctorItem(name, status, f"not installed; pip install {name}", needed_for)


def _java(environ: Mapping[str, str]) -> str:
    from elrcheck.base.programs import find_java

    java = find_java(environ)
    return f"{java.version} ({java.path})"


def _spark_java(environ: Mapping[str, str]) -> str:
    """Find Java for Spark, separate from TLC's: Spark needs a newer one and can use the one from a pip extra."""
    from elrcheck.spark.driver_java import find_java

    runtime = find_java(environ, cache_directory(environ))
    return f"{runtime.java.version} ({runtime.java.path}, by {runtime.found_by})"


def _tlc(environ: Mapping[str, str]) -> str:
    from elrcheck.tla_export.tlc_process import find_tlc

    jar, found_by = find_tlc(None, environ)
    return f"{jar} (by {found_by})"


def _jdk(environ: Mapping[str, str]) -> str:
    """Find Java with a compiler, for the program that calls Kafka's own classes."""
    from elrcheck.kafka.java_program import find_jdk

    jdk = find_jdk(environ)
    return f"{jdk.java.version} ({jdk.javac})"


def _ethos(environ: Mapping[str, str]) -> str:
    from elrcheck.proof.ethos_program import find_ethos

    checker = find_ethos(None, None, environ)
    return f"{checker.version} ({checker.program}, rules in {checker.signatures})"


def _look_for(
    name: str, needed_for: str, find: Callable[[Mapping[str, str]], str], environ: Mapping[str, str]
) -> DoctorItem:
    """Return what `find` describes, or its fault as the detail of an absent item."""
    try:
        return DoctorItem(name, "ok", find(environ), needed_for)
    except EnvironmentFault as fault:
        detail = f"{fault.message}; {fault.help}" if fault.help else fault.message
        return DoctorItem(name, "absent", detail, needed_for)


def _kafka_jars(environ: Mapping[str, str]) -> DoctorItem:
    from elrcheck.catalogue.evidence.conformance import newest_recorded
    from elrcheck.kafka.jars import INSTALL_MAVEN, find_maven, kept_versions, newest_seen

    name, needed_for = "Kafka's jars", "conform"
    versions = kept_versions(environ)
    maven = find_maven(environ)
    if not versions and maven is None:
        return DoctorItem(name, "absent", f"no mvn on PATH; {INSTALL_MAVEN}", needed_for)
    ways = [f"by {maven}"] if maven else []
    ways += [f"kept for {', '.join(versions)}"] if versions else []
    seen = newest_seen(environ)
    if seen is not None:
        gap = "" if seen[0] == newest_recorded() else f", without a recorded comparison after {newest_recorded()}"
        ways.append(f"newest release {seen[0]} on {seen[1][:10]}{gap}")
    return DoctorItem(name, "ok", "; ".join(ways), needed_for)


def _cache(environ: Mapping[str, str]) -> DoctorItem:
    folder = cache_directory(environ)
    needed_for = "kept kernels"
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".elrcheck-"):
            pass
    except OSError as fault:
        return DoctorItem("cache", "absent", f"{folder}: {fault.strerror or fault}", needed_for)
    return DoctorItem("cache", "ok", f"{folder} (writable)", needed_for)


def _machine() -> DoctorItem:
    try:
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB memory"
    except (AttributeError, ValueError, OSError):
        memory = ""
    return DoctorItem("machine", "ok", f"{platform.machine()}, {processors()} cores{memory}", "")


def _terminal(environ: Mapping[str, str], stdout: TextIO) -> DoctorItem:
    parts = ["a terminal" if stdout.isatty() else "not a terminal", stdout.encoding or "unknown encoding"]
    parts += [name for name in ("NO_COLOR", "FORCE_COLOR", "CI") if environ.get(name)]
    return DoctorItem("output", "ok", ", ".join(parts), "")
