"""Files of every kind, changed at random: whatever is in one, its reader fails with a message or not at all.

A change is a byte, a cut, a repeated part, another value behind an equals sign or in a JSON document; of a
log, also other bytes in a record with the checksums made true again. `NUMBER` inputs of each kind here;
ELRCHECK_FUZZED=2000 and ELRCHECK_FUZZED_SEED=7 in the environment try others.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import ElrError
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.catalogue.finding_file import read_finding
from elrcheck.catalogue.recipe_notation.recipe_file import read_recipe
from elrcheck.catalogue.scenario_file import read_scenario
from elrcheck.checking.baseline import read_baseline
from elrcheck.checking.suite.suite_file import read_family
from elrcheck.cli import cli
from elrcheck.commands.init import files
from elrcheck.commands.sweep.grid import make_grid
from elrcheck.console.settings import load_settings
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.live.client_properties import read_settings
from elrcheck.kafka.log.segments import StoredBatch, read_pieces
from elrcheck.kafka.topics.describe_text import read_description
from elrcheck.kafka.topics.described import settings_of
from elrcheck.kafka.topics.topic_files import read_topics
from elrcheck.report.formats import render
from support.audit_stories import CONTROL, LOST
from support.log_stories import BY_KAFKA, SEGMENT, SNAPSHOT
from support.log_writer import batch
from support.places import ROOT, TESTS

NUMBER = int(os.environ.get("ELRCHECK_FUZZED", "12"))
SEED = int(os.environ.get("ELRCHECK_FUZZED_SEED", "1"))
VALUES: Sequence[Any] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    2**31,
    2**63,
    -(2**63) - 1,
    10**40,
    0.5,
    1e300,
    "",
    "0",
    "a",
    "\x1b[31m",
    "\n",
    "P-1",
    "two-brokers",
    "legacy",
    "../x",
    "x" * 5000,
    [],
    [1],
    [[]],
    ["a", 1],
    {},
    {"a": 1},
    [None],
)
TOML_VALUES = (
    "1",
    "-1",
    "0",
    "9223372036854775808",
    "1.5",
    "nan",
    "inf",
    "true",
    '""',
    '"a"',
    "[]",
    "[1]",
    '["a", 1]',
    "{}",
    "{a = 1}",
    "[[]]",
    "1979-05-27",
    "07:32:00",
    '"\\u001b["',
    "'two-brokers'",
    "'''\n'''",
    "[{a = 1}]",
    "1000000000000",
    "'/proc/self/mem'",
)
SIGNS = (b'"', b"'", b"[", b"]", b"{", b"}", b"\0", b"=", b"\n", b"\xff", b"#", b"\\")
NUMBERS = (b"0", b"-1", b"4294967296", b"99999999999999999999", b"7", b"1e9", b"1_0")
Change = Callable[[bytes, random.Random], bytes]


def changed_text(text: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(6):
            case 0:
                text = text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]
            case 1:
                text = text[:at] + text[at + chance.randrange(1, 40) :]
            case 2:
                text = text[:at] + text[max(0, at - 60) : at] + text[at:]
            case 3 if matches := list(re.finditer(rb"= *([^\n]*)", text)):
                one = chance.choice(matches)
                text = text[: one.start(1)] + chance.choice(TOML_VALUES).encode() + text[one.end(1) :]
            case 4 if matches := list(re.finditer(rb"-?\d+", text)):
                one = chance.choice(matches)
                text = text[: one.start()] + chance.choice(NUMBERS) + text[one.end() :]
            case _:
                text = text[:at] + chance.choice(SIGNS) + text[at:]
    return text


def changed_json(text: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.2:
        return changed_text(text, chance)
    document = json.loads(text)
    for _ in range(chance.choice((1, 1, 2))):
        places = list(_places(document))
        inside, key = chance.choice(places)
        match chance.randrange(4):
            case 0 if isinstance(inside, dict):
                inside[chance.choice(("a", "", "\x1b", "schema", "op", "steps"))] = inside.pop(key)
            case 1:
                del inside[key]
            case 2 if isinstance(inside, list):
                inside.append(inside[key])
            case _:
                inside[key] = chance.choice(VALUES)
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield value, key
        yield from _places(part)


def changed_log(content: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return changed_text(content, chance)
    parts = [
        [piece.base_offset, [stored.value or b"" for stored in piece.records], piece.leader_epoch, piece.time]
        for piece in read_pieces("a", io.BytesIO(content), len(content), None)
        if isinstance(piece, StoredBatch) and not piece.control and piece.records
    ]
    for _ in range(chance.choice((1, 2, 5))):
        part = chance.choice(parts)
        values: list[Any] = part[1]
        which = chance.randrange(len(values))
        value = bytearray(values[which])
        for _ in range(chance.choice((1, 1, 3))):
            if value:
                number = chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256)))
                value[chance.randrange(len(value))] = number
        values[which] = bytes(value[: chance.choice((None, None, chance.randrange(len(value) + 1)))])
        part[3] = chance.choice((part[3], part[3], 0, -1, 2**62, -(2**62), 253402300800000))
    return b"".join(batch(*part) for part in parts)


# ------------------------------------------------------------------------------------- what is read


def audited(path: Path) -> None:
    report = run_audit(AuditRequest((path,)), Silent())
    for form in ("text", "json", "markdown", "github", "junit", "sarif", "html"):
        render(report, form)


def replayed(path: Path) -> None:
    named = ("--variant", "legacy", "--scope", "two-brokers") if path.suffix == ".txt" else ()
    for command in ("replay", "explain"):
        assert run(cli, ["--no-progress", command, str(path), *named]) != 70


def answered(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        assert run(cli, ["what-if"]) != 70


def described(path: Path) -> None:
    settings_of(read_description(path.read_text("utf-8", "replace")), unclean=False)


def defined(path: Path) -> None:
    settings_of(read_topics([path]), unclean=False)


def selected(path: Path) -> None:
    resolve(Selection("kip_full", str(path)))


def packaged(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "catalogue" / folder).glob("*.toml"))]


BEFORE = TESTS / "data" / "before"
SETTINGS = b"""variant = "kip_full"
workers = 2
[check]
scope = "three-brokers"
set = ["min_isr=1"]
time-budget = "5m"
max-depth = 7
output = ["a.json"]
reduce = true
fingerprint = 64
[export.spec]
out = "d"
"""
BASELINE = b"""schema = "elrcheck.baseline/1"
[entry.two-brokers]
variant = "kip_full"
scope = "two-brokers"
properties = ["P-*"]
max-depth = 20
proof = true
[entry.two-brokers.expected]
verdict = "holds"
generated = 9
diameter = 3
cut = 0
deadlocks = 0
distinct = 5
"""
QUESTION = b"""{"partition": {"replicas": [1, 2, 3], "isr": [1, 2], "leader": 1},
 "brokers": {"1": {}, "2": {}, "3": {}}, "op": {"type": "fence", "broker": 1}}"""
GRID = b"""[axes]
min_isr = "1..3"
variant = ["legacy", "kip_full"]
"""
CLIENT = b"""security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
request.timeout.ms=500
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="a" password="b";
"""
DESCRIBED = b"""Topic: a\tTopicId: mUB98od-Qdmvt7UgNZIyNg\tPartitionCount: 2\tReplicationFactor: 3\t\
Configs: min.insync.replicas=2,unclean.leader.election.enable=false
\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: \n"""
TERRAFORM = b"""resource "kafka_topic" "a" {
  name = "a"
  partitions = 1
  replication_factor = 3
  config = { "min.insync.replicas" = 2, x = [1, "${var.y}"] }
}
"""
STRIMZI = b"""apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: a}
spec:
  replicas: 3
  config:
    min.insync.replicas: 2
"""

Kind = tuple[Sequence[bytes], Change, Callable[[Path], object], str]
"""The originals, how they are changed, who reads them, and their name."""


def kinds() -> dict[str, Kind]:
    logs = [(folder / SEGMENT).read_bytes() for folder in (LOST, CONTROL, BY_KAFKA)]
    traces = [(BEFORE / f"{name}.trace.json").read_bytes() for name in ("V-2", "P-8")]
    base = Selection("kip_full", "two-brokers")
    settings = [SETTINGS, files()["elrcheck.toml"].encode()]
    return {
        "settings": (settings, changed_text, lambda path: load_settings(path, path.parent, cli), "a.toml"),
        "scope": (packaged("scopes"), changed_text, selected, "a.toml"),
        "baseline": ([BASELINE], changed_text, read_baseline, "a.toml"),
        "grid": ([GRID], changed_text, lambda path: make_grid(base, (), path), "a.toml"),
        "suite": (packaged("suites"), changed_text, read_family, "a.toml"),
        "scenario": (packaged("scenarios"), changed_text, read_scenario, "a.toml"),
        "recipe": (packaged("recipes"), changed_text, read_recipe, "a.toml"),
        "finding": (packaged("findings"), changed_text, read_finding, "F-1.toml"),
        "client properties": ([CLIENT], changed_text, read_settings, "a.properties"),
        "description": ([DESCRIBED], changed_text, described, "a.txt"),
        "terraform": ([TERRAFORM], changed_text, defined, "a.tf"),
        "strimzi": ([STRIMZI], changed_text, defined, "a.yaml"),
        "trace": (traces, changed_json, replayed, "a.trace.json"),
        "itf": ([(BEFORE / "P-8.itf.json").read_bytes()], changed_json, replayed, "a.itf.json"),
        "tlc": ([(BEFORE / "P-8.tlc.txt").read_bytes()], changed_text, replayed, "a.txt"),
        "what-if": ([QUESTION], changed_json, answered, "a.json"),
        "log": (logs, changed_log, audited, SEGMENT),
        "snapshot": ([(BY_KAFKA / SNAPSHOT).read_bytes()], changed_log, audited, SNAPSHOT),
        "dump": ([(BY_KAFKA / "dump.txt").read_bytes()], changed_text, audited, "a.txt"),
    }


KINDS: Mapping[str, Kind] = kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_no_input_is_an_internal_error(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    originals, change, read, name = KINDS[kind]
    chance = random.Random(f"{SEED} {kind}")
    refused = 0
    for number in range(NUMBER):
        (tmp_path / name).write_bytes(change(chance.choice(originals), chance))
        try:
            read(tmp_path / name)
        except ElrError as fault:
            assert fault.message and "\n" not in fault.render().split("\n")[0]
            refused += 1
        except Exception as fault:
            copy = tmp_path.parent / f"fuzzed-{kind.replace(' ', '-')}-{number}"
            copy.write_bytes((tmp_path / name).read_bytes())
            raise AssertionError(f"{kind} number {number} of seed {SEED}, kept as {copy}") from fault
    capsys.readouterr()
    assert not list(tmp_path.glob("**/bug-report*"))


def test_the_originals_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing but the first message would be tried."""
    monkeypatch.chdir(tmp_path)
    for kind, (originals, _, read, name) in KINDS.items():
        for original in originals:
            (tmp_path / name).write_bytes(original)
            try:
                read(tmp_path / name)
            except ElrError as fault:
                raise AssertionError(kind) from fault
