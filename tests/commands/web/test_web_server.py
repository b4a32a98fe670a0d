"""The server of `elrcheck web`: what it answers, and what it refuses."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from elrcheck.base.errors import error_codes
from elrcheck.commands.web.web_server import MOST_BYTES
from elrcheck.stored_traces.recorded import of_repro
from support.web_client import LEGACY, PATH, Client, serving

STATE = {"model": LEGACY, "path": PATH}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving() as served:
        yield served


@pytest.fixture(scope="module")
def state(client: Client) -> Any:
    return client.post("/api/state", STATE)


# --------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("path", "kind"), [("/", "text/html"), ("/web.css", "text/css"), ("/web.js", "text/javascript")]
)
def test_a_page_may_load_only_what_this_server_has(client: Client, path: str, kind: str) -> None:
    status, headers, body = client.send("GET", path)
    assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert b"http://" not in body.replace(b"http://www.w3.org", b"") and b"https://" not in body


def test_what_the_page_begins_with(client: Client) -> None:
    start = client.get("/api/start")
    assert start["schema"] == "elrcheck.web-start/1"
    assert start["model"] == {"variant": "legacy", "scope": "two-brokers", "overrides": [], "start": 0}
    assert {"kip_full", "legacy"} <= {one["name"] for one in start["variants"]}
    assert any(one["name"] == "P-1" for one in start["properties"])


def test_a_state_is_that_of_the_plain_model(state: Any) -> None:
    from elrcheck.base.requests import Selection
    from elrcheck.traces.describe import leaves

    subject = of_repro(state["repro"], Selection("legacy", "two-brokers"))
    assert (state["at"], state["path"]) == (3, PATH)
    assert state["leaves"] == dict(leaves(subject.states[-1], subject.model.state_ty))
    assert [step["action"] for step in state["steps"]] == [label.action for label in subject.labels]
    successors = list(subject.plain.successors(subject.states[-1]))
    assert [one["action"] for one in state["choices"]] == [label.action for label, _ in successors]
    assert [one["beyond"] for one in state["choices"]] == [not subject.plain.within(after) for _, after in successors]


def test_an_expression_is_watched_along_the_whole_path(client: Client) -> None:
    """In every state, whichever one the page looks at; of a step, the state that it leads to."""
    isr, grown = "len(s.partition.isr)", "len(t.broker[0].log) > len(s.broker[0].log)"
    answer = client.post("/api/state", {**STATE, "at": 1, "watch": [isr, grown]})
    values = {one["expression"]: [(each["at"], each["value"]) for each in one["values"]] for one in answer["watched"]}
    assert values == {isr: [(0, "2"), (1, "1"), (2, "1"), (3, "1")], grown: [(1, "false"), (2, "true"), (3, "false")]}
    refused = client.post("/api/state", {**STATE, "watch": ["s.partition.irs"]})["error"]
    assert refused["code"] == "bad-expression" and "isr" in refused["help"]
    many = client.post("/api/state", {**STATE, "watch": ["s.partition.isr"] * 13})["error"]
    assert "at most 12" in many["message"]


def test_an_index_names_the_same_step_as_its_action(client: Client, state: Any) -> None:
    by_index = client.post("/api/state", {"model": LEGACY, "path": state["repro"].split("/")})
    assert by_index == state


def test_every_action_that_is_offered_can_be_taken(client: Client, state: Any) -> None:
    for choice in state["choices"]:
        after = client.post("/api/state", {"model": LEGACY, "path": [*PATH, choice["step"]]})
        assert after["repro"] == f"{state['repro']}/{choice['index']}"
        assert after["steps"][-1]["changes"] == choice["changes"]
        assert after["violated"][-1] == choice["violates"]
        assert after["beyond"] == choice["beyond"]


def test_an_earlier_state_of_a_path_keeps_the_path(client: Client, state: Any) -> None:
    earlier = client.post("/api/state", {**STATE, "at": 1})
    assert (earlier["at"], earlier["path"], len(earlier["steps"])) == (1, PATH, 3)
    assert earlier["leaves"] != state["leaves"]


def test_the_picture_has_every_broker_and_record(state: Any) -> None:
    picture = state["picture"]
    assert "broker 0" in picture and "broker 1" in picture
    assert "<b>r1</b>" in picture and "fenced" in picture and "high watermark 1" in picture
    assert '<span class="record committed' in picture


def test_a_violated_property_is_named_with_the_part_that_is_false(client: Client) -> None:
    path = ["Fence(b=1)", "Produce(leader=0,acks=ALL)", "ApplyMetadata(b=0)", "Crash(b=0,keep=0)"]
    response = client.post("/api/state", {"model": LEGACY, "path": path})
    verdicts = {one["id"]: one for one in response["properties"]}
    broken = [ident for ident, one in verdicts.items() if one["verdict"] == "violated"]
    assert broken == response["violated"][-1]
    assert all(verdicts[ident]["conjunct"] for ident in broken)
    assert {one["verdict"] for one in response["properties"]} >= {"holds", "not reached"}


def test_a_trace_goes_out_and_comes_back(client: Client) -> None:
    trace = client.post("/api/write", {"model": LEGACY, "path": PATH})
    assert trace["schema"] == "elrcheck.trace/1" and len(trace["states"]) == 4
    sent = {"text": json.dumps(trace), "name": "a.trace.json", "model": {**LEGACY, "variant": "kip_full"}}
    back = client.post("/api/read", sent)
    assert (back["path"], back["refused"], back["model"]["variant"]) == (PATH, None, "legacy")


def test_of_a_trace_that_the_model_refuses_the_beginning_is_shown(client: Client) -> None:
    trace = client.post("/api/write", {"model": LEGACY, "path": PATH})
    trace["states"][3] = trace["states"][1]
    back = client.post("/api/read", {"text": json.dumps(trace), "name": "a.json", "model": LEGACY})
    assert back["path"] == PATH[:2]
    assert "step 3" in back["refused"]


# -------------------------------------------------------------------------------- refusals


def refused(reply: tuple[int, Any, bytes]) -> tuple[int, str]:
    status, headers, body = reply
    error = json.loads(body)["error"]
    assert headers["Content-Type"] == "application/json"
    assert error["code"] in error_codes() and error["message"] and error["exit_code"] == 2
    return status, error["code"]


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example"])
def test_another_host_is_refused(client: Client, host: str) -> None:
    assert refused(client.send("GET", "/api/start", Host=host)) == (403, "web-host")


def test_the_name_localhost_is_this_host(client: Client) -> None:
    assert client.send("GET", "/", Host=f"LocalHost:{client.number}")[0] == 200


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "https://127.0.0.1:{}", "http://127.0.0.1"])
def test_a_post_of_another_page_is_refused(client: Client, origin: str) -> None:
    body = json.dumps(STATE).encode()
    reply = client.send("POST", "/api/state", body, Origin=origin.format(client.number))
    assert refused(reply) == (403, "web-origin")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Content_Type": "text/plain"}, (400, "web-request")),
        ({"Content_Length": "-1"}, (400, "web-request")),
        ({"Content_Length": ""}, (400, "web-request")),
        ({"Content_Length": str(MOST_BYTES + 1)}, (413, "web-too-large")),
        ({"Content_Length": "9" * 40}, (413, "web-too-large")),
    ],
)
def test_a_request_of_another_form_is_refused(
    client: Client, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    assert refused(client.send("POST", "/api/state", b"{}", **headers)) == expected


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("nonsense", "web-request", "JSON"),
        ("[]", "web-request", "expected"),
        ({"model": LEGACY}, "web-request", "`path` is missing"),
        ({**STATE, "paht": []}, "web-request", "unknown key `paht`"),
        ({**STATE, "path": [1]}, "web-request", "expected a text"),
        ({**STATE, "path": ["Fence(b=1)", "Fense(b=0)"]}, "web-path", "step 2, `Fense(b=0)`: unknown action"),
        ({**STATE, "path": ["Unfence(b=1)"]}, "web-path", "it is not enabled there: "),
        ({**STATE, "path": ["Fence(b=7)"]}, "web-path", "step 1"),
        ({**STATE, "path": ["Fence"]}, "web-path", "2 choices of its arguments"),
        ({**STATE, "path": ["999"]}, "web-path", "is not one of"),
        ({**STATE, "path": ["²"]}, "web-path", "step 1"),
        ({**STATE, "path": ["0"] * 1001}, "web-path", "too many"),
        ({**STATE, "path": ["F" * 3000]}, "web-request", "too long"),
        ({**STATE, "at": 4}, "no-state", "there is no state 4"),
        ({**STATE, "at": -1}, "web-request", "whole number"),
        ({**STATE, "model": {**LEGACY, "variant": "lagacy"}}, "unknown-variant", "unknown variant"),
        ({**STATE, "model": {**LEGACY, "scope": "no"}}, "unknown-scope", "unknown scope"),
        ({**STATE, "model": {**LEGACY, "scope": "/etc/passwd"}}, "web-scope", "scope file"),
        ({**STATE, "model": {**LEGACY, "scope": "\ud800"}}, "unknown-scope", "\ud800"),
        ({**STATE, "model": {**LEGACY, "overrides": ["x"]}}, "override-bad-form", "KEY=VALUE"),
        ({**STATE, "model": {**LEGACY, "overrides": ["broker_count=8"]}}, "web-request", "too many to show"),
    ],
)
def test_what_cannot_be_shown_is_refused_politely(client: Client, body: Any, code: str, message: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    reply = client.send("POST", "/api/state", text.encode())
    assert refused(reply) == (400, code)
    assert message in json.loads(reply[2])["error"]["message"]


def test_a_trace_that_names_a_scope_file_reads_no_file(client: Client) -> None:
    trace = {**client.post("/api/write", {"model": LEGACY, "path": PATH}), "scope": "/etc/passwd"}
    sent = json.dumps({"text": json.dumps(trace), "name": "a.json", "model": LEGACY}).encode()
    assert refused(client.send("POST", "/api/read", sent)) == (400, "web-scope")
    itf = {"#meta": {"variant": "legacy", "scope": "/etc/passwd"}, "vars": ["x"], "states": [{"x": 1}]}
    assert (
        client.post("/api/read", {"text": json.dumps(itf), "name": "a", "model": LEGACY})["error"]["code"]
        == "web-scope"
    )


@pytest.mark.parametrize(("text", "code"), [("", "empty-trace"), ("{}", "trace-file"), ("\x00", "trace-file")])
def test_what_is_no_trace_is_refused(client: Client, text: str, code: str) -> None:
    response = client.post("/api/read", {"text": text, "name": "a.json", "model": LEGACY})
    assert response["error"]["code"] == code


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD"])
def test_there_are_no_other_methods(client: Client, method: str) -> None:
    assert client.send(method, "/api/start")[0] == 501


@pytest.mark.parametrize("path", ["/nothing", "/../pyproject.toml", "/api", "/web.html"])
def test_there_are_no_other_pages(client: Client, path: str) -> None:
    assert refused(client.send("GET", path)) == (404, "web-not-found")


# --------------------------------------------------------------------------------- searches


def finished(client: Client) -> Any:
    deadline = time.monotonic() + 240
    while (news := client.get("/api/search"))["verdict"] == "searching":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return news


def test_a_search_that_is_too_long_or_about_nothing_is_refused(client: Client) -> None:
    for more, code in (
        ({"seconds": 601}, "web-request"),
        ({"seconds": 0}, "web-request"),
        ({"max_states": 10**9}, "web-request"),
        ({"path": ["no"]}, "web-path"),
    ):
        assert client.post("/api/search", {**STATE, **more})["error"]["code"] == code


@pytest.mark.slow
def test_a_search_finds_the_violation_that_its_path_then_shows() -> None:
    with serving() as client:
        assert client.get("/api/search")["error"]["code"] == "web-not-found"
        begun = client.post("/api/search", {**STATE, "property": "P-1"})
        assert begun["verdict"] == "searching"
        assert client.post("/api/search", STATE)["error"]["code"] == "web-busy"
        news = finished(client)
        assert (news["verdict"], news["property"]) == ("violated", "P-1"), news["said"]
        assert news["path"][: len(PATH)] == PATH
        response = client.post("/api/state", {"model": LEGACY, "path": news["path"]})
        assert "P-1" in response["violated"][-1]
        assert all("P-1" not in ids for ids in response["violated"][:-1])


@pytest.mark.slow
def test_a_search_that_is_cancelled_leaves_no_process() -> None:
    import multiprocessing

    with serving() as client:
        before = set(multiprocessing.active_children())
        client.post("/api/search", {"model": {"variant": "kip_full", "scope": "three-brokers"}, "path": []})
        assert len(set(multiprocessing.active_children()) - before) == 1
        assert client.post("/api/cancel", {})["verdict"] == "cancelled"
        assert set(multiprocessing.active_children()) == before
        assert client.get("/api/search")["verdict"] == "cancelled"


# ------------------------------------------------------------------------- slow and many connections


def connected(client: Client) -> socket.socket:
    return socket.create_connection(("127.0.0.1", client.number), timeout=10)


def dripped(connection: socket.socket, data: bytes, pause: float, most: float) -> float:
    """Send byte after byte until the other side closes; after how many seconds it did."""
    started = time.monotonic()
    connection.settimeout(pause)
    while time.monotonic() - started < most:
        try:
            connection.sendall(data[:1])
            data = data[1:] or b"x"
            if connection.recv(1) == b"":
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - started


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET /api/start HTTP/1.0\r\nHost: ",
        b"POST /api/state HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nOrigin: http://127.0.0.1:{}\r\n"
        b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
    ],
    ids=["request line", "head", "body"],
)
def test_a_slow_drip_is_closed_at_the_deadline(start: bytes) -> None:
    with serving(seconds=0.5) as client, connected(client) as connection:
        if start:
            connection.sendall(start.replace(b"{}", str(client.number).encode()))
        seconds = dripped(connection, b"GET / HTTP/1.0\r\n" * 1000 if not start else b"1", 0.05, 20)
        assert 0.4 < seconds < 15
        assert client.send("GET", "/")[0] == 200


def test_a_connection_that_sends_nothing_is_closed_too() -> None:
    with serving(seconds=0.3) as client, connected(client) as connection:
        assert connection.recv(1) == b""


def await_threads(number: int) -> None:
    until = time.monotonic() + 20
    while threading.active_count() != number:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_more_connections_than_there_are_threads_get_503() -> None:
    with serving(seconds=60, connections=3) as client, contextlib.ExitStack() as open_ones:
        before = threading.active_count()
        idle = [open_ones.enter_context(connected(client)) for _ in range(3)]
        await_threads(before + 3)
        for _ in range(5):
            assert refused(client.send("GET", "/")) == (503, "web-request")
        assert threading.active_count() == before + 3
        for one in idle:
            one.close()
        await_threads(before)
        assert client.send("GET", "/")[0] == 200


def test_a_request_within_the_deadline_may_come_in_parts() -> None:
    with serving(seconds=10) as client, connected(client) as connection:
        host = f"127.0.0.1:{client.number}".encode()
        for part in (b"GET /web.css HT", b"TP/1.0\r\nHost: ", host, b"\r\n\r\n"):
            connection.sendall(part)
            time.sleep(0.05)
        assert connection.recv(15) == b"HTTP/1.0 200 OK"
