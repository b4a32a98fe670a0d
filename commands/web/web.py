"""`elrcheck web`: serve the explorer on this machine until it is interrupted."""

from __future__ import annotations

import contextlib
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.commands.web.web_api import Explorer
from elrcheck.commands.web.web_server import WebServer
from elrcheck.traces.loaded import NamedSelection


@dataclass(frozen=True)
class WebRequest:
    """The options of `web`. port: 0 for a free one. trace, repro: where to begin, by default in the initial state."""

    selection: NamedSelection = field(default_factory=NamedSelection)
    port: int = 0
    opens: bool = True
    trace: Path | None = None
    repro: str = ""


def run_web(request: WebRequest, write: Callable[[str], None]) -> None:
    """Serve until KeyboardInterrupt, which is re-raised; leaves nothing running."""
    explorer = Explorer(request.selection, request.trace, request.repro)
    try:
        server = WebServer(request.port, explorer)
    except OSError as fault:
        raise EnvironmentFault(
            "web-port",
            f"cannot listen on port {request.port}: {fault.strerror or fault}",
            help="choose another one with --port, or leave that out for a free one",
        ) from fault
    thread = server.start()
    try:
        write(f"{server.address}\n")
        if request.opens:
            with contextlib.suppress(webbrowser.Error, OSError):
                webbrowser.open(server.address)
        while thread.is_alive():
            time.sleep(0.2)  # not `join`, which does not notice a signal on every system
    finally:
        server.shutdown()
        server.server_close()
        explorer.close()
