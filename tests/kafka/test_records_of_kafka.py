"""The table of metadata records against Kafka's own types, fields and serializers."""

from __future__ import annotations

import json
import random
import re
import string
from typing import Any

import pytest

from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.metadata_records import MetadataRecord, read_record
from elrcheck.kafka.log.record_table import NO_UUID, TYPES, UNREAD, RecordType, SchemaField, ValueEncoding
from support.kafka_jars import ALL, jars_or_skip
from support.kafka_records import answers_to

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
TIMES = 6
WIDTHS = {ValueEncoding.INT8: 8, ValueEncoding.INT16: 16, ValueEncoding.INT32: 32, ValueEncoding.INT64: 64}


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def printed(field: SchemaField) -> str:
    """A field as the driver prints Kafka's."""
    tag = "" if field.tag is None else f"#{field.tag}"
    return snake(field.name) + ("?" if field.nullable else "") + tag


def value_of(field: SchemaField, version: int, chance: random.Random) -> Any:
    if field.nullable and chance.random() < 0.3:
        return None
    if field.tag is not None and chance.random() < 0.2:
        return field.otherwise
    if field.many:
        return tuple(single(field, version, chance) for _ in range(chance.choice((0, 1, 2, 3, 130))))
    return single(field, version, chance)


def single(field: SchemaField, version: int, chance: random.Random) -> Any:
    match field.kind:
        case ValueEncoding.STRUCT:
            inside = (each for each in field.fields if each.since <= version)
            fields = {each.name: value_of(each, version, chance) for each in inside}
            # Kafka keeps these in a set, by name
            return fields | {"name": f"{fields['name']}{chance.random()}"}
        case ValueEncoding.BOOL:
            return chance.random() < 0.5
        case ValueEncoding.STRING:
            letters = string.ascii_letters + 'äß→𝄞 "\\{}'
            return "".join(chance.choice(letters) for _ in range(chance.choice((0, 1, 9, 200))))
        case ValueEncoding.UUID:
            return chance.choice((NO_UUID, "Xv7YpeXSRI6lrH9LqT0rkA", "mUB98od-Qdmvt7UgNZIyNg"))
        case ValueEncoding.UINT16:
            return chance.choice((0, 9092, 65535))
    top = 1 << (WIDTHS[field.kind] - 1)
    return chance.choice((-top, -1, 0, 1, 7, top - 1))


def sample(kind: RecordType, version: int, chance: random.Random) -> dict[str, Any]:
    written = (field for field in kind.fields if field.since <= version)
    return {field.name: value_of(field, version, chance) for field in written}


@pytest.mark.parametrize("kafka", ALL)
def test_the_table_is_kafkas(kafka: str) -> None:
    """Every kind and version that this release has is in the table, with the same fields, tags and nulls."""
    jars = jars_or_skip(kafka)
    (answer,) = answers_to(jars, ["types"])
    by_key = {kind.key: kind for kind in TYPES}
    versions = []
    for row in answer.split(";")[:-1]:
        name, key, lowest, highest = row.split(" ")
        assert int(lowest) == 0
        if int(key) in UNREAD:
            assert UNREAD[int(key)] == name
            continue
        assert by_key[int(key)].name == name
        assert int(highest) <= by_key[int(key)].newest
        versions += [(by_key[int(key)], version) for version in range(int(highest) + 1)]
    assert len(versions) >= 20
    answers = answers_to(jars, [f"fields {kind.key} {version}" for kind, version in versions])
    for (kind, version), fields in zip(versions, answers, strict=True):
        expected = [field for field in kind.fields if field.since <= version]
        assert sorted(fields.split()) == sorted(map(printed, expected)), (kind.name, version)
        order = [name for name in fields.split() if "#" not in name]
        assert order == [printed(field) for field in expected if field.tag is None], (kind.name, version)
    if kafka == ALL[-1]:
        assert {kind for kind, _ in versions} == set(TYPES)
        assert dict(versions) == {kind: kind.newest for kind in TYPES}


@pytest.mark.parametrize("kafka", ALL)
def test_what_kafka_writes_is_read_back(kafka: str) -> None:
    """Random values of every field in every version, written by MetadataRecordSerde."""
    jars = jars_or_skip(kafka)
    (answer,) = answers_to(jars, ["types"])
    newest = {int(row.split(" ")[1]): int(row.split(" ")[3]) for row in answer.split(";")[:-1]}
    chance = random.Random(kafka)
    expected = [
        (kind, version, sample(kind, version, chance))
        for kind in TYPES
        for version in range(newest.get(kind.key, -1) + 1)
        for _ in range(TIMES)
    ]
    lines = [f"record {kind.key} {version} {json.dumps(value)}" for kind, version, value in expected]
    answers = answers_to(jars, lines)
    for (kind, version, fields), line in zip(expected, answers, strict=True):
        raw = bytes.fromhex(line.split(" ", 1)[0])
        read = read_record(raw)
        assert isinstance(read, MetadataRecord)
        assert (read.name, read.version) == (kind.name, version)
        absent = {field.name: field.otherwise for field in kind.fields if field.since > version}
        assert read.fields == fields | absent, (kind.name, version)
        with pytest.raises(Malformed):
            read_record(raw[: chance.randrange(len(raw))])
