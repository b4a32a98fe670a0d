"""The schemas in docs/schemas: made from the types, one for each document; real documents follow them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from elrcheck.cli import cli
from elrcheck.console.help import command_help
from elrcheck.console.shell import run
from elrcheck.laboratory.evidence.report_schemas import DIALECT, file_name, identifier
from elrcheck.report.document import every_kind
from support.places import ROOT
from support.places import SCHEMAS as FOLDER
from support.scripts import script

COMMITTED = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (name, Resource.from_contents(schema)) for name, schema in COMMITTED.items()
)
OPEN = {"elrcheck.show-1.schema.json"}
"""What an entry of a list holds depends on the list."""
Json = dict[str, Any]


def checked(name: str, document: Any) -> None:
    jsonschema.Draft202012Validator(COMMITTED[f"elrcheck.{name}-1.schema.json"], registry=REGISTRY).validate(document)


def objects(schema: Any) -> Iterator[Json]:
    """Every part of a schema that describes an object."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_what_is_committed_is_what_the_types_say() -> None:
    schemas = script("docs/schemas/generate.py").schemas()
    assert set(schemas) == set(COMMITTED)
    for name, schema in schemas.items():
        assert COMMITTED[name] == json.loads(json.dumps(schema)), f"{name}: run docs/schemas/generate.py"


@pytest.mark.parametrize("name", sorted(COMMITTED))
def test_an_unknown_property_is_refused_everywhere(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(COMMITTED[name])
    assert COMMITTED[name]["$schema"] == DIALECT and COMMITTED[name]["title"]
    definitions = list(objects(COMMITTED[name]))
    assert definitions
    for part in definitions:
        closed = part.get("additionalProperties")
        assert name in OPEN or closed is False or (isinstance(closed, dict) and "properties" not in part)


def test_every_report_has_a_schema_that_names_it() -> None:
    for kind in every_kind():
        schema = COMMITTED[file_name(identifier(kind))]
        assert schema["properties"]["schema"] == {"const": identifier(kind)}
        assert schema["description"] and next(iter(schema["properties"])) == "schema"


def test_a_text_below_a_field_describes_it() -> None:
    levels = COMMITTED["elrcheck.report-1.schema.json"]["$defs"]["SearchReport"]["properties"]["levels"]
    assert levels["description"] == "New states of each level, the initial states first."


# ---------------------------------------------------------------------------- real documents

Read = Callable[..., Any]


@pytest.fixture
def read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Read:
    monkeypatch.chdir(tmp_path)

    def call(*argv: str, piped: str = "") -> Any:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
        run(cli, ["--no-progress", *argv])
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.parametrize("kind", ["variants", "properties", "hazards", "errors"])
def test_lists_and_entries(read: Read, kind: str) -> None:
    listed = read("list", kind, "--format", "json")
    checked("list", listed)
    name = listed[0].get("id") or listed[0]["name"]
    checked("show", read("show", name, "--kind", kind, "--format", "json"))
    with pytest.raises(jsonschema.ValidationError):
        checked("list", [{**listed[0], "extra": 1}])


def test_doctor_and_config(read: Read) -> None:
    checked("doctor", read("doctor", "--format", "json"))
    checked("config", read("config", "--format", "json", "check", "--scope", "two-brokers"))


def test_a_run_its_report_and_its_trace(read: Read, tmp_path: Path) -> None:
    report = read(
        "check",
        "--scope",
        "two-brokers",
        "--variant",
        "legacy",
        "--max-depth",
        "6",
        "--run-dir",
        ".elrcheck/runs/a",
        "--format",
        "json",
    )
    checked("report", report)
    stored = sorted(tmp_path.rglob("*.trace.json"))
    assert stored
    for path in stored:
        document = json.loads(path.read_text())
        checked("trace", document)
        document["states"][0]["partition"]["isrs"] = []
        with pytest.raises(jsonschema.ValidationError):
            checked("trace", document)
    runs = read("runs", "--format", "json")
    checked("runs", runs)
    assert len(runs) == 1
    with pytest.raises(jsonschema.ValidationError):
        checked("runs", [{**runs[0], "kind": "lost"}])


QUESTION: Json = {
    "variant": "code_4_1",
    "clean_check": "epoch",
    "brokers": {str(b): {"fenced": False, "in_controlled_shutdown": False, "epoch": b} for b in (1, 2)},
    "partition": {
        "replicas": [1, 2],
        "isr": [1],
        "elr": [],
        "last_known_elr": [],
        "adding": [],
        "removing": [],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "leader_recovery_state": "RECOVERED",
    },
}


@pytest.mark.parametrize(
    "op",
    [
        {"type": "fence", "broker": 1},
        {"type": "register", "broker": 2, "clean": True},
        {
            "type": "alter_partition",
            "sender": 1,
            "sender_broker_epoch": 1,
            "leader_epoch": 0,
            "partition_epoch": 0,
            "new_isr": [[1, 1], [2, -1]],
            "leader_recovery_state": "RECOVERED",
        },
        {"type": "elect_leaders", "election_type": "UNCLEAN", "desired_leader": None},
        {"type": "set_min_isr", "level": "Topic", "value": 2},
        {"type": "change", "target_isr": [2], "election": "UNCLEAN"},
    ],
    ids=lambda op: op["type"],
)
def test_what_if_asks_and_answers(read: Read, op: Json) -> None:
    question = {**QUESTION, "op": op}
    checked("what-if", question)
    checked("what-if-answer", read("what-if", piped=json.dumps(question)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"op": {"type": "fence", "brokr": 1}},
        {"op": {"type": "fenc", "broker": 1}},
        {"op": {"type": "fence", "broker": 1}, "crashes": 1},
        {"op": {"type": "fence", "broker": 1}, "brokers": {"x": {}}},
        {"op": {"type": "fence", "broker": 1}, "partition": {}},
    ],
)
def test_the_schema_refuses_what_what_if_refuses(wrong: Json) -> None:
    from elrcheck.base.errors import UsageFault
    from elrcheck.kafka.what_if.ask import answer

    with pytest.raises(UsageFault):
        answer({**QUESTION, **wrong})
    with pytest.raises(jsonschema.ValidationError):
        checked("what-if", {**QUESTION, **wrong})


# ---------------------------------------------------------------------------------- the wheel


def test_every_schema_that_help_names_is_there() -> None:
    named = [about.schema for about in command_help().values() if about.schema is not None]
    assert {f"elrcheck.{name}-1.schema.json" for name in named} <= set(COMMITTED)


@pytest.mark.slow
def test_a_wheel_has_all_of_them(tmp_path: Path) -> None:
    """Needs the package index: the build has an environment of its own."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=600)
    (wheel,) = tmp_path.glob("*.whl")
    inside = {
        Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("elrcheck/docs/schemas/")
    }
    assert inside == set(COMMITTED)
