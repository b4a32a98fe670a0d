"""Writes the schemas of this folder: `python docs/schemas/generate.py`. A test compares the two.

Those of reports are made from the report types (`laboratory/evidence/report_schemas.py`), that of a stored trace from
the types of the model's state, and those of `what-if` from its table of operations.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from elrcheck.base.common_options import KINDS
from elrcheck.base.typed.configuration import config_fields
from elrcheck.commands.run_list import StoredRun
from elrcheck.console.effective_options import EffectiveOption
from elrcheck.declared.select import Effective
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.doctor import DoctorItem
from elrcheck.kafka.what_if.question import PARTITION_KEYS, SETS, knob_names
from elrcheck.kafka.what_if.what_if_operations import OPERATIONS
from elrcheck.laboratory.evidence.report_schemas import DIALECT, Schema, array_of, document, file_name, report_schemas
from elrcheck.lang.types import Ty, later_fields
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import ControlState, ElectionType, MinIsrLevel
from elrcheck.model.control_plane.partition import Election
from elrcheck.model.state import Directory, Recovery
from elrcheck.model.variants import variant_names
from elrcheck.results.risk.finding_table import FindingTable
from elrcheck.stored_traces.tracefile import SCHEMA as TRACE

FOLDER = Path(__file__).resolve().parent
BY_VERSION = "The result of `elrcheck list findings --by-version --format json`"
TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
NATURAL: Schema = {"type": "integer", "minimum": 0}


def schemas() -> dict[str, Schema]:
    """File name -> schema, of every document that elrcheck reads or prints."""
    others = {
        "trace": ("A stored trace: what `check` writes and `replay`, `trace` and `explain` read", trace()),
        "what-if": ("A question of `elrcheck what-if`, one object on stdin", question()),
        "what-if-answer": ("An answer of `elrcheck what-if`", answer()),
        "list": ("The result of `elrcheck list KIND --format json`", LISTED),
        "finding-table": (BY_VERSION, document(FindingTable, BY_VERSION)),
        "show": ("The result of `elrcheck show NAME --format json`, but for a scenario", DETAILS),
        "doctor": ("The result of `elrcheck doctor --format json`", DIAGNOSIS),
        "runs": ("The result of `elrcheck runs --format json`", array_of(StoredRun)),
        "config": ("The result of `elrcheck config --format json`", CONFIGURED),
    }
    assert TRACE == "elrcheck.trace/1"
    return report_schemas() | {
        file_name(f"elrcheck.{name}/1"): {"$schema": DIALECT, "title": title, **schema}
        for name, (title, schema) in others.items()
    }


def an_object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(names: Iterable[str]) -> Schema:
    return {"enum": list(names)}


def described(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


# --------------------------------------------------------------------------- stored traces


def trace() -> Schema:
    model = load_checked_model()
    plain: Schema = {"type": ["boolean", "integer", "string", "null"]}
    argument: Schema = {"anyOf": [plain, list_of(plain)]}
    step = an_object({"action": one_of(fn.name for fn in model.actions), "args": list_of(argument)})
    return an_object(
        {
            "schema": {"const": TRACE},
            "variant": TEXT,
            "scope": TEXT,
            "overrides": {"type": "object", "additionalProperties": argument},
            "property": described(TEXT, "The id of the property that the trace is about; empty for none."),
            "steps": described(list_of(step), "Step i leads from state i to state i + 1."),
            "states": {**list_of(value(model.state_ty)), "minItems": 1},
        },
        {
            "loop": described(NATURAL, "Of a lasso: the number of the state it returns to."),
            "model": described(TEXT, "The file of the model, if it is not Kafka's partition."),
            "patch": described(
                an_object({"file": TEXT, "digest": TEXT}), "The diff applied to the model, with its SHA-256."
            ),
        },
    )


def value(ty: Ty) -> Schema:
    """Return a value of the model in JSON; see `stored_traces/tracefile.py`."""
    match ty.kind:
        case "bool":
            return BOOLEAN
        case "nat":
            return INTEGER
        case "member":
            return NATURAL
        case "enum":
            return one_of(ty.members)
        case "set":
            return {**list_of(value(ty.elem)), "uniqueItems": True}
        case "opt":
            return {"anyOf": [value(ty.elem), {"type": "null"}]}
        case "vec" if ty.is_map:
            pair = {"type": "array", "prefixItems": [value(ty.keys), value(ty.elem)], "minItems": 2, "maxItems": 2}
            return list_of(pair)
        case "vec" | "seq":
            return list_of(value(ty.elem))
        case "record" | "state":
            properties = {name: value(part) for name, part in ty.fields.items()}
            later = {name: properties.pop(name) for name in later_fields(ty.cls)}
            return an_object(properties, later)
    raise TypeError(f"no JSON form for a {ty}")


# --------------------------------------------------------------------------------- what-if

BROKER = described(INTEGER, "A broker id, -1 for none.")
BROKERS = list_of(described(INTEGER, "A broker id."))
PARTITION_FIELDS: Mapping[str, Schema] = {
    "replicas": {**BROKERS, "minItems": 1},
    **{name: {**BROKERS, "uniqueItems": True} for name in SETS},
    "leader": BROKER,
    "last_known_leader": BROKER,
    "leader_epoch": INTEGER,
    "partition_epoch": INTEGER,
    "leader_recovery_state": one_of(Recovery.__members__),
}
PARTITION = an_object(
    {name: PARTITION_FIELDS[name] for name in PARTITION_KEYS},
    {"last_known_leader": described(BROKER, "Only where the variant keeps it as a field of its own.")},
)
REGISTRATIONS: Schema = {
    "type": "object",
    "description": "By broker id.",
    "propertyNames": {"pattern": "^(0|-?[1-9][0-9]{0,18})$"},
    "minProperties": 1,
    "additionalProperties": an_object(
        {"fenced": BOOLEAN, "in_controlled_shutdown": BOOLEAN, "epoch": NATURAL},
        {
            "directory": described(
                one_of(Directory.__members__), "Of the broker's replica, as recorded; ONLINE if left out."
            ),
            "registered": described(BOOLEAN, "True if left out; a broker that is not registered is fenced."),
        },
    ),
}
NO_BROKER: Schema = {"anyOf": [BROKER, {"type": "null"}]}
FIELDS: Mapping[str, Schema] = {
    "broker": INTEGER,
    "clean": BOOLEAN,
    "brings_directory": described(BOOLEAN, "The recorded log directory is among its own; true if left out."),
    "becomes": described(
        one_of(ControlState.__members__), "What the same heartbeat makes of the broker; UNCHANGED if left out."
    ),
    "sender": INTEGER,
    "sender_broker_epoch": {"type": "integer", "minimum": -1},
    "leader_epoch": INTEGER,
    "partition_epoch": INTEGER,
    "new_isr": list_of(
        {
            **list_of({"type": "integer"}),
            "minItems": 2,
            "maxItems": 2,
            "description": "A broker id and the broker epoch that the leader knows, -1 for none.",
        }
    ),
    "leader_recovery_state": one_of(Recovery.__members__),
    "replicas": BROKERS,
    "election_type": one_of(ElectionType.__members__),
    "desired_leader": NO_BROKER,
    "target": BROKERS,
    "level": described(TEXT, f"In any case: {', '.join(level.value for level in MinIsrLevel)}."),
    "value": INTEGER,
    "target_isr": BROKERS,
    "target_replicas": {**BROKERS, "minItems": 1},
    "target_adding": BROKERS,
    "target_removing": BROKERS,
    "election": one_of(Election.__members__),
    "unclean_shutdown_replicas": BROKERS,
    "acceptable_leaders": BROKERS,
}
"""Every field that an operation has, whichever it is."""


def question() -> Schema:
    operations = [
        an_object(
            {"type": {"const": op.name}, **{name: FIELDS[name] for name in op.required}},
            {name: FIELDS[name] for name in op.optional},
        )
        for op in OPERATIONS.values()
    ]
    kinds = config_fields(Config)
    return an_object(
        {"brokers": REGISTRATIONS, "op": {"oneOf": operations}},
        {
            "partition": described(
                {"anyOf": [PARTITION, {"type": "null"}]}, "Left out or null only for create_partition."
            ),
            "variant": one_of(variant_names()),
            **{name: knob(kinds[name]) for name in knob_names()},
        },
    )


def knob(kind: type) -> Schema:
    if kind is bool:
        return BOOLEAN
    if issubclass(kind, enum.Enum):
        return described(TEXT, f"In any case: {', '.join(kind.__members__)}.")
    return NATURAL


def answer() -> Schema:
    return an_object(
        {
            "error": described(TEXT, "Kafka's name of the error, or NONE."),
            "partition": {"anyOf": [PARTITION, {"type": "null"}]},
            "brokers": REGISTRATIONS,
        }
    )


# ---------------------------------------------------------------------------- small documents

LISTED = list_of(an_object({"name": TEXT, "summary": TEXT}, {"id": TEXT, "compared": TEXT}))
DETAILS: Schema = {
    "type": "object",
    "description": "Everything known about one name; what there is besides depends on the list it is in.",
    "required": ["list"],
    "properties": {"list": one_of(KINDS), "name": TEXT, "id": TEXT, "summary": TEXT},
}
DIAGNOSIS = an_object(
    {
        "schema": {"const": "elrcheck.doctor/1"},
        "ok": described(BOOLEAN, "`elrcheck check` can run."),
        "items": array_of(DoctorItem),
    }
)
CONFIGURED = an_object({"command": TEXT, "options": array_of(EffectiveOption), "model": array_of(Effective)})


def main() -> None:
    documents = schemas()
    for path in FOLDER.glob("*.schema.json"):
        if path.name not in documents:
            path.unlink()
    for name, schema in documents.items():
        (FOLDER / name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
