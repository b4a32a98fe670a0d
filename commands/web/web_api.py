"""`elrcheck web`: answers the requests of the page: for a state, to read or write a trace, to search; and serves it."""

from __future__ import annotations

import contextlib
import threading
import time
import webbrowser
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import config_values
from elrcheck.base.version import __version__
from elrcheck.commands.web.path_search import MOST_SECONDS, RunningSearch, SearchJob
from elrcheck.commands.web.state_space import FollowedSpace
from elrcheck.commands.web.web_server import PageAnswers, WebServer
from elrcheck.commands.web.web_view import chosen, demand_packaged, path_of_file, path_of_text, web_state
from elrcheck.declared.declared_model import declared
from elrcheck.report.html.html_trace import legend_of
from elrcheck.results.web_answers import ChosenModel, Named, WebSearch, WebStart, WebState, WebTrace
from elrcheck.stored_traces.tracefile import trace_document
from elrcheck.traces.describe import first_sentence
from elrcheck.traces.loaded import NamedSelection

CACHED_SPACES = 4
"""Number of configurations whose states are cached."""
MOST_WORD = 2000
MOST_STATES = 50_000_000
MOST_WATCHED = 12


class Explorer(PageAnswers):
    """One explorer. It has no state but its search: the page sends its path with each request.

    named: the selection of the command line, whose scope may be a file; a request cannot name another file.
    """

    def __init__(self, named: NamedSelection, trace: Path | None = None, repro: str = "") -> None:
        self.named = named
        self.declared = declared(named.selection.source)
        self._spaces: OrderedDict[tuple[Selection, int], FollowedSpace] = OrderedDict()
        self._lock, self._search_lock = threading.Lock(), threading.Lock()
        self._search: RunningSearch | None = None
        self._searches = 0
        self.trace = None if trace is None else path_of_file(trace, named)
        self.start = (named.selection, 0) if self.trace is None else self._of(self.trace.model)
        at, _ = self.start
        space = self._space(self.start)
        self.path = space.words(space.follow(repro.split("/") if repro else []))
        self.files = {named.selection.scope, at.scope}

    def get(self, path: str) -> object:
        if path == "/api/start":
            with self._lock:
                return self._start()
        if path == "/api/search":
            with self._search_lock:
                return self._current_search().ask()
        raise _unknown(path)

    def post(self, path: str, body: Node) -> object:
        match path:
            case "/api/state":
                with self._lock:
                    return self._state(body)
            case "/api/read":
                with self._lock:
                    return self._read(body)
            case "/api/write":
                with self._lock:
                    return self._write(body)
            case "/api/search":
                return self._begin(body)
            case "/api/cancel":
                body.object()
                with self._search_lock:
                    return self._current_search().cancel()
        raise _unknown(path)

    def close(self) -> None:
        """End the running search, if any."""
        with self._search_lock:
            if self._search is not None:
                self._search.cancel()

    # ---------------------------------------------------------------------------- answers

    def _start(self) -> WebStart:
        space = self._space(self.start)
        return WebStart(
            version=__version__,
            model=chosen(space),
            variants=tuple(Named(name, about) for name, about in self.declared.variants_about().items()),
            scopes=tuple(Named(name, about) for name, about in self.declared.scopes_about().items()),
            properties=tuple(Named(fn.ident, f"{fn.name}: {first_sentence(fn.doc)}") for fn in space.model.always),
            path=self.path,
            trace=self.trace,
            settings=config_values(space.config),
            legend=legend_of(space.drawing.drawn(space.starts[0], space.starts[0])),
        )

    def _state(self, body: Node) -> WebState:
        body.object(("model", "path"), ("at", "watch"))
        space = self._space(self._selection(body["model"]))
        path = space.follow(_words(body["path"]))
        at = body.maybe("at", Node.natural, len(path.labels))
        if at > len(path.labels):
            raise UsageFault("no-state", f"there is no state {at}", help=f"the path has {len(path.labels)} steps")
        expressions = body.maybe("watch", Node.texts, ())
        if len(expressions) > MOST_WATCHED:
            body["watch"].fail(f"at most {MOST_WATCHED} expressions can be watched")
        return web_state(space, path, at, expressions)

    def _read(self, body: Node) -> WebTrace:
        body.object(("text", "name", "model"))
        text, name = body["text"].text(), body["name"].text()[:200] or "the trace"
        demand_packaged(text, name, {*self.declared.scope_names, *self.files})
        return path_of_text(text, name, NamedSelection(self._selection(body["model"])[0]))

    def _write(self, body: Node) -> object:
        body.object(("model", "path"))
        space = self._space(self._selection(body["model"]))
        path = space.follow(_words(body["path"]))
        behaviour = space.behaviour(path.states, path.labels)
        return trace_document(behaviour, space.model.state_ty)

    # ---------------------------------------------------------------------------- searches

    def _begin(self, body: Node) -> WebSearch:
        body.object(("model", "path"), ("property", "seconds", "max_states"))
        seconds = body.maybe("seconds", Node.positive, 20)
        states = body.maybe("max_states", Node.positive, 5_000_000)
        if seconds > MOST_SECONDS or states > MOST_STATES:
            raise UsageFault(
                "web-request",
                "the search would be too long for a page",
                help=f"at most {MOST_SECONDS} seconds and {MOST_STATES:,} states; use `elrcheck check`",
            )
        (selection, at), words = self._selection(body["model"]), _words(body["path"])
        with self._lock:
            self._space((selection, at)).follow(words)
        ident = body.maybe("property", Node.text, "")
        with self._search_lock:
            if self._search is not None and self._search.ask().verdict == "searching":
                raise UsageFault("web-busy", "another search is already running", help="cancel it first")
            self._searches += 1
            self._search = RunningSearch(SearchJob(self._searches, selection, words, ident, seconds, states, at))
            return self._search.ask()

    def _current_search(self) -> RunningSearch:
        if self._search is None:
            raise UsageFault("web-not-found", "there has been no search")
        return self._search

    # ------------------------------------------------------------------------------ models

    def _space(self, at: tuple[Selection, int]) -> FollowedSpace:
        if at not in self._spaces:
            self._spaces[at] = FollowedSpace(*at)
            while len(self._spaces) > CACHED_SPACES:
                self._spaces.popitem(last=False)
        self._spaces.move_to_end(at)
        return self._spaces[at]

    def _selection(self, node: Node) -> tuple[Selection, int]:
        """Return a selection and the number of an initial state. No request may name a model, which runs as Python."""
        node.object(("variant", "scope"), ("overrides", "start"))
        scope = node["scope"].text()
        if ("/" in scope or "\\" in scope or scope.endswith(".toml")) and scope not in self.files:
            node["scope"].fail("a page cannot read a scope file", "give it as --scope", code="web-scope")
        chosen = ChosenModel(
            node["variant"].text(), scope, node.maybe("overrides", Node.texts, ()), node.maybe("start", Node.natural, 0)
        )
        return self._of(chosen)

    def _of(self, chosen: ChosenModel) -> tuple[Selection, int]:
        own = self.named.selection
        return (replace(own, variant=chosen.variant, scope=chosen.scope, overrides=chosen.overrides), chosen.start)


def _words(node: Node) -> tuple[str, ...]:
    words = node.texts()
    if any(len(word) > MOST_WORD for word in words):
        node.fail("a step of the path is too long")
    return words


def _unknown(path: str) -> UsageFault:
    return UsageFault("web-not-found", f"there is nothing at {path[:80]}")


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
