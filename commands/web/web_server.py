"""The server behind `elrcheck web`: this machine only, no file but its own, errors as JSON.

A page of another site cannot use it: the Host header must name this server, which DNS rebinding cannot do; a POST must
have the Origin of the page, and a content type that no form of another site can send; and no other site may show the
page in a frame or read an answer.
"""

from __future__ import annotations

import contextlib
import io
import json
import socket
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from elrcheck.base.documents import decode, parse_json
from elrcheck.base.errors import ElrError, UsageFault, exit_of
from elrcheck.base.strict import Codes, Node
from elrcheck.report.html.page_template import STYLES, source
from elrcheck.report.json_report import as_data

LOOPBACK = "127.0.0.1"
MOST_BYTES = 256 * 2**10
MOST_TRACE = 32 * 2**20
"""A trace of a thousand states has a few megabytes."""
MOST_LINE = 8 * 2**10
SECONDS = 30
"""Seconds that a connection has to send its whole request, and then to read the answer."""
MOST_CONNECTIONS = 64
"""Concurrent connections, each with a thread; a browser opens about six."""
BUSY = "HTTP/1.0 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\r\n"
CODES = Codes("web-request")
JSON = "application/json"
PAGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "/": ("text/html; charset=utf-8", ("web.html",)),
    "/web.css": ("text/css; charset=utf-8", (*STYLES, "web.css")),
    "/web.js": ("text/javascript; charset=utf-8", ("trace.js", "web.js")),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATUS: Mapping[str, HTTPStatus] = {
    "web-host": HTTPStatus.FORBIDDEN,
    "web-origin": HTTPStatus.FORBIDDEN,
    "web-too-large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "web-not-found": HTTPStatus.NOT_FOUND,
    "web-busy": HTTPStatus.CONFLICT,
}
"""Status of an error code; all others are 400, and an internal error is 500."""


class PageAnswers:
    """Answers requests for the server. `get` and `post` return data for JSON."""

    def get(self, path: str) -> object:
        raise NotImplementedError

    def post(self, path: str, body: Node) -> object:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class WebServer(ThreadingHTTPServer):
    """Serves one explorer, in threads that do not keep the process alive."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, port: int, answers: PageAnswers, seconds: float = SECONDS, connections: int = MOST_CONNECTIONS
    ) -> None:
        self.seconds = seconds
        self._places = threading.BoundedSemaphore(connections)
        super().__init__((LOOPBACK, port), Handler)
        self.answers = answers
        self.number = int(self.server_address[1])
        self.hosts = {f"{name}:{self.number}" for name in (LOOPBACK, "localhost")}
        if self.number == 80:
            self.hosts |= {LOOPBACK, "localhost"}
        self.origins = {f"http://{host}" for host in self.hosts}

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.number}/"

    def start(self) -> threading.Thread:
        """Serve in a thread; `shutdown` ends it."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        return thread

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, or with 503 if there are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            request.settimeout(0.1)  # this thread accepts all connections
            fault = UsageFault("web-request", "too many connections at once", help="close some pages")
            request.sendall((BUSY + error_text(fault)).encode())
            request.shutdown(socket.SHUT_WR)
            request.recv(MOST_LINE)  # closing it with unread data would discard the answer
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that disconnects in the middle of an answer."""


class TimelyReader(io.RawIOBase):
    """Reads from a connection until a deadline for the whole request, not for each packet."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        super().__init__()
        self.connection = connection
        self.deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer; raise TimeoutError after the deadline."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """One connection. HTTP/1.0 closes it after each answer, so nothing is left of a refused body."""

    server: WebServer
    server_version = "elrcheck"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(TimelyReader(self.connection, self.server.seconds))

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing for a request."""

    def _answer(self, answer: Any) -> None:
        try:
            self._demand_host()
            kind, body = answer()
            self._send(HTTPStatus.OK, kind, body)
        except ElrError as fault:
            self._send(STATUS.get(fault.code, HTTPStatus.BAD_REQUEST), JSON, error_text(fault))
        except OSError:
            raise
        except Exception as fault:
            text = {"code": "internal", "message": f"{type(fault).__name__}: {fault}", "exit_code": 70}
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, JSON, as_text({"error": text}))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "backslashreplace")  # half a character of a request becomes an escape of JSON
        self.connection.settimeout(self.server.seconds)
        self.send_response(status)
        for name, value in (*HEADERS.items(), ("Content-Type", kind), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    # ---------------------------------------------------------------------------- requests

    def _demand_host(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            raise UsageFault(
                "web-host",
                "this server only answers at the address that it printed",
                help=f"open {self.server.address}",
            )

    def _get(self) -> tuple[str, str]:
        path = self.path.partition("?")[0]
        if path in PAGES:
            kind, names = PAGES[path]
            return kind, "".join(map(source, names))
        return JSON, as_text(as_data(self.server.answers.get(path)))

    def _post(self) -> tuple[str, str]:
        origin, kind = self.headers.get("Origin"), self.headers.get_content_type()
        if origin is None or origin.lower() not in self.server.origins:
            raise UsageFault("web-origin", "only the page itself may send this request")
        if kind != JSON:
            raise UsageFault("web-request", f"expected {JSON}, not {kind}")
        path = self.path.partition("?")[0]
        length, limit = self.headers.get("Content-Length", ""), limit_of(path)
        if not (length.isascii() and length.isdecimal()) or self.headers.get("Transfer-Encoding"):
            raise UsageFault("web-request", "the request has no Content-Length")
        if len(length) > 12 or int(length) > limit:
            raise UsageFault("web-too-large", f"the request is larger than {limit:,} bytes")
        raw = self.rfile.read(int(length))
        if len(raw) < int(length):
            raise UsageFault("web-request", "the request ends early")
        body = parse_json(decode(raw, "the request", CODES, limit), "the request", CODES)
        return JSON, as_text(as_data(self.server.answers.post(path, body)))


def limit_of(path: str) -> int:
    return MOST_TRACE if path == "/api/read" else MOST_BYTES


def as_text(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"


def error_text(fault: ElrError) -> str:
    """Return the parts of an error as JSON."""
    fields = {
        "code": fault.code,
        "message": fault.message,
        "where": fault.where,
        "help": fault.help,
        "exit_code": int(exit_of(fault.code)),
    }
    return as_text({"error": fields})
