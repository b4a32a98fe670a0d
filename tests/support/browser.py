"""Headless Chromium by the WebDriver protocol, over plain HTTP: enough to look at a page and press keys."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MISSING = None if shutil.which("chromedriver") else "needs Chromium and its chromedriver"
KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Escape": "\ue00c",
    "Home": "\ue011",
    "End": "\ue010",
    "Tab": "\ue004",
}
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One session. Every method is one WebDriver command."""

    def __init__(self, session: str) -> None:
        self.session = session

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.session + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)["value"]

    def open(self, page: Path) -> None:
        self.call("POST", "/url", {"url": page.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that a script returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script: str) -> Any:
        """The value that a script gives to its last argument."""
        return self.call("POST", "/execute/async", {"script": script, "args": []})

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def press(self, selector: str, *keys: str) -> None:
        """Keys with the focus on an element."""
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        for key in keys:
            self.call("POST", f"/element/{element}/value", {"text": KEYS.get(key, key)})

    def type(self, *keys: str) -> None:
        """Keys where the focus is."""
        for key in keys:
            element = self.call("GET", "/element/active")[_ELEMENT]
            self.call("POST", f"/element/{element}/value", {"text": KEYS.get(key, key)})

    def click(self, selector: str) -> None:
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self.call("POST", f"/element/{element}/click", {})

    def emulate(self, width: int, height: int, **features: str) -> None:
        """The width of a phone is less than a window may be; features as `prefers-color-scheme`."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=named)

    def devtools(self, command: str, **params: Any) -> Any:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def messages(self) -> list[str]:
        """What the page wrote to the console since the last call, errors of its policy included."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Starts a driver on a free port, and ends it with its browser."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/status")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        capabilities = {"goog:chromeOptions": {"args": flags}, "goog:loggingPrefs": {"browser": "ALL"}}
        session = Browser(address).call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        browser = Browser(f"{address}/session/{session['sessionId']}")
        try:
            yield browser
        finally:
            browser.call("DELETE", "")
    finally:
        driver.terminate()
        driver.wait(10)


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
