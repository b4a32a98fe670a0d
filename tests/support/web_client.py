"""A running explorer for tests, and requests to it."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

from elrcheck.base.requests import Selection
from elrcheck.commands.web.web_api import Explorer
from elrcheck.commands.web.web_server import WebServer
from elrcheck.traces.loaded import NamedSelection

LEGACY: Mapping[str, Any] = {"variant": "legacy", "scope": "two-brokers"}
PATH = ["Fence(b=1)", "Produce(leader=0,acks=ALL)", "ApplyMetadata(b=0)"]


class Client:
    def __init__(self, server: WebServer) -> None:
        self.server, self.number = server, server.number

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Headers are named with _ for -; an empty one is left out."""
        named = {"Host": f"127.0.0.1:{self.number}"}
        if method == "POST":
            named |= {"Origin": f"http://127.0.0.1:{self.number}", "Content-Type": "application/json"}
            named["Content-Length"] = str(len(body or b""))
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.number, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in named.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        return json.loads(self.send("GET", path)[2])

    def post(self, path: str, body: object) -> Any:
        return json.loads(self.send("POST", path, json.dumps(body).encode())[2])


@contextlib.contextmanager
def serving(explorer: Explorer | None = None, **limits: Any) -> Iterator[Client]:
    """limits: of the server, `seconds` and `connections`."""
    served = explorer or Explorer(NamedSelection(Selection("legacy", "two-brokers")))
    server = WebServer(0, served, **limits)
    server.start()
    try:
        yield Client(server)
    finally:
        server.shutdown()
        server.server_close()
        served.close()
