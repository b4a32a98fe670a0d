"""Text of others in what the commands print: nothing of it controls a terminal, a page or a CI job.

The names are those of a metadata log with true checksums, of traces, files, settings and scenarios.
"""

from __future__ import annotations

import html
import io
import json
import re
import sys
from pathlib import Path

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.report.formats import EVERY, LISTS, MEASURED
from support.audit_stories import CLEAR, FENCED, START, TOPIC, change, min_isr, written
from support.invoked import Invoke
from support.log_writer import RecordFields

EVIL = "o\x1b]0;t\x07\x9b31m\n::error::pwned\r\n##[error]p\u202e|`x`<b>[l](http://e)\u2028::warning::w"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Everything but the line feed that ends a line."""
FAITHFUL = ("json", "jsonl")


def assert_tame(text: str, form: str = "text") -> None:
    """Nothing but line feeds controls anything, and no line is a command that elrcheck did not write."""
    assert not RAW.search(text), RAW.search(text)
    if form == "html":
        text = html.unescape(text)
        assert not RAW.search(text)
    for line in text.splitlines():
        start = line.lstrip()
        if start.startswith("::error title=elrcheck " if form != "github" else "::"):
            assert re.match(r"::(error|warning|notice) ([^:]*)::[^\n]*$", start), line
        else:
            assert not start.startswith(("::", "##[")), line
        assert "##[" not in line
    assert not re.search(r"^::(error|warning)::(pwned|w)", text, re.MULTILINE)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A flagged partition of a topic with such a name, and a damaged end, in a folder with one as well."""
    folder = tmp_path_factory.mktemp("log") / EVIL.replace("/", "_")[:60]
    folder.mkdir()
    topic: RecordFields = ("TOPIC_RECORD", 0, {**TOPIC[2], "name": EVIL})
    start = tuple(topic if step is TOPIC else step for step in START)
    shrink = (change(isr=[0], eligibleLeaderReplicas=[1]), *FENCED[1:])
    path = written(folder, start, shrink, (min_isr("2"), CLEAR), change(isr=[], leader=-1, lastKnownElr=[0]))
    path.write_bytes(path.read_bytes() + b"\1" * 90)
    return path


@pytest.mark.parametrize("form", EVERY)
def test_a_topic_of_a_log_in_every_format(invoke: Invoke, log: Path, form: str) -> None:
    code, out, err = invoke("audit", log, "-f", form)
    assert code == 1 and err == ""
    if form in FAITHFUL:
        topics = {flag["topic"] for flag in _documents(out) if "severity" in flag}
        assert topics == {EVIL}
        return
    assert_tame(out, form)
    assert form in MEASURED or ("pwned" in out and "x1b" in out)  # counts name no topic
    if form == "sarif":
        place = json.loads(out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == log.as_uri()


def _documents(out: str) -> list[dict[str, object]]:
    if out.startswith("{\n"):
        return list(json.loads(out)["flags"])
    return [json.loads(line) for line in out.rstrip("\n").split("\n")]


def test_in_a_job_of_github_text_and_annotations(
    invoke: Invoke, log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    _, out, err = invoke("audit", log)
    assert_tame(out)
    assert_tame(err, "github")
    assert err.startswith("::notice ") and "::error " in err
    assert_tame((tmp_path / "summary.md").read_text(encoding="utf-8"), "markdown")


@pytest.mark.skipif(sys.platform == "win32", reason="no file has such a name there")
@pytest.mark.parametrize(
    "command",
    [
        "audit",
        "replay",
        "explain",
        "trace show",
        "check --scope",
        "gate --baseline",
        "sweep --grid",
        "--config",
        "risk --topics",
        "risk --describe",
        "web --trace",
    ],
)
def test_the_name_of_a_file_in_an_error(invoke: Invoke, tmp_path: Path, command: str) -> None:
    name = EVIL.replace("/", "_") + ".toml"
    for content in (None, b"\xff\xfe", b"{["):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        verb = ["check"] if command == "--config" else []
        code, out, err = invoke(*command.split(), tmp_path / name, *verb)
        assert code in (2, 4) and "Traceback" not in err, (code, err)
        assert_tame(out)
        assert_tame(err)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the name of a file is text")
@pytest.mark.parametrize("form", EVERY)
def test_a_report_file_about_a_file_whose_name_is_no_text(invoke: Invoke, log: Path, tmp_path: Path, form: str) -> None:
    folder, report = tmp_path / "odd\udcff", tmp_path / "report"
    folder.mkdir()
    (folder / log.name).write_bytes(log.read_bytes())
    code, _, err = invoke("audit", folder, "-o", f"{form}:{report}")
    assert code == 1, err
    assert report.read_text(encoding="utf-8")


def walk_of(folder: Path) -> dict[str, object]:
    """A stored trace of two steps."""
    place = folder / "walk.trace.json"
    arguments = ("trace", "sample", "--depth", "2", "--scope", "two-brokers", "--save", place)
    assert run(cli, ["--no-progress", *map(str, arguments)]) == 0
    document: dict[str, object] = json.loads(place.read_text(encoding="utf-8"))
    return document


CHANGES: dict[str, object] = {
    "property": EVIL,
    "variant": EVIL,
    "scope": EVIL,
    "overrides": {EVIL: EVIL},
    EVIL: 1,
    "schema": EVIL,
    "steps": [{"action": EVIL, "args": [0]}, {"action": "Fence", "args": [EVIL]}],
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_text_of_a_stored_trace(invoke: Invoke, tmp_path: Path, field: str) -> None:
    document = walk_of(tmp_path)
    document[field] = CHANGES[field]
    path = tmp_path / f"{EVIL.replace('/', '_')}.trace.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    invoke("list", "scopes")  # takes what `trace sample` printed
    for form in (*LISTS, "text"):
        code, out, err = invoke("replay", path, "-f", form)
        assert code in (1, 2) or (field == "property" and code == 0), err
        assert_tame(out, form)
        assert_tame(err)
    show = ("trace", "show", path)
    others = (("explain", path, "-f", "html"), ("explain", path), show, (*show, "--as", "mermaid"))
    for command in (*others, (*show, "--as", "dot")):
        code, out, err = invoke(*command)
        assert code in (0, 1, 2, 5), err
        assert_tame(out, "html" if "html" in command else "text")
        assert_tame(err)


def test_labels_of_an_itf_trace_and_of_tlc(invoke: Invoke, tmp_path: Path) -> None:
    document = walk_of(tmp_path)
    states = document["states"]
    assert isinstance(states, list)
    itf = {"#meta": {"format": "ITF", "description": EVIL}, "vars": list(states[0]), "states": states}
    (tmp_path / "a.itf.json").write_text(json.dumps(itf), encoding="utf-8")
    tlc = f'State 1: <Initial predicate>\n/\\ a = 1\n\nState 2: <{EVIL} line 1>\n/\\ a = "{EVIL}"\n'
    (tmp_path / "b.txt").write_text(tlc, encoding="utf-8", newline="")
    invoke("list", "scopes")
    for name in ("a.itf.json", "b.txt"):
        for form in (*LISTS, "text"):
            code, out, err = invoke("replay", name, "-f", form)
            assert code in (0, 1, 2, 5), err
            assert_tame(out, form)
            assert_tame(err)


def test_settings_scopes_baselines_and_arguments(invoke: Invoke, tmp_path: Path) -> None:
    text = json.dumps(EVIL)
    for content, command in (
        (f"{text} = 1\n", "--config a.toml check"),
        (f"[check]\nvariant = {text}\nscope = 'two-brokers'\n", "--config a.toml check"),
        (f"[check]\noutput = [{text}]\n", "--config a.toml check"),
        (f"[check]\nfingerprint = {text}\n", "--config a.toml check"),
        (f"[sizes]\n{text} = 1\n", "check --scope a.toml"),
        (f"[sizes]\nbroker_count = {text}\n", "check --scope a.toml"),
        (f"schema = {text}\n", "gate --baseline a.toml"),
        (f"schema = 'elrcheck.baseline/1'\n[entry.{text}]\nscope = {text}\n", "gate --baseline a.toml"),
        (f"[axis]\nmin_isr = {text}\n", "sweep --grid a.toml"),
        (f"id = {text}\n", "reproduce a.toml"),
    ):
        (tmp_path / "a.toml").write_text(content, encoding="utf-8")
        code, out, err = invoke(*command.split())
        assert code == 2 and err.startswith("error["), (command, content, err)
        assert_tame(out)
        assert_tame(err)
    for command in (
        "check --set",
        "check --property",
        "check --scope",
        "show",
        "list",
        "prove --lemma",
        EVIL,
        "mutate --hazard",
        "trace show --repro",
        "sweep --sweep",
        "scenario",
        "config",
        "conform --release",
    ):
        code, out, err = invoke(*command.split(" "), EVIL)
        assert code in (2, 5), (command, code, err)
        assert_tame(out)
        assert_tame(err)


def test_a_question_of_what_if(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    for question in (
        {"partition": {"replicas": [1, 2]}, "op": {"type": EVIL, "broker": 1}},
        {"partition": {"replicas": [1, 2], EVIL: 1}, "op": {"type": "fence", "broker": 1}},
        {"partition": {"replicas": [1, EVIL]}, "op": {"type": "fence", "broker": 1}},
    ):
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(question).encode()))
        monkeypatch.setattr("sys.stdin", stdin)
        code, out, err = invoke("what-if", "--format", "text")
        assert code == 2, err
        assert_tame(out)
        assert_tame(err)
