"""A hook of mkdocs: the search works in a site opened from disk, and loads nothing from elsewhere.

The plugin `offline` writes the index as a script, but has pages load a `Worker` for files from a server. The one
below does the same: a browser starts no worker from a file, so it runs the worker's script in a hidden frame.
"""

from __future__ import annotations

import re
from typing import Any

SCRIPT = "search-worker.js"
ELSEWHERE = re.compile(r"https://unpkg\.com/iframe-worker/shim")
WORKER = """"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => {
        const news = new MessageEvent("message", { data });
        this.dispatchEvent(news);
        if (this.onmessage) this.onmessage(news);
      };
      inner.importScripts = (...names) => Promise.all(names.map((name) => this.load(inner, name)));
      this.inner = inner;
      this.ready = this.load(inner, url);
    }
    load(inner, url) {
      return new Promise((done, fail) => {
        const script = inner.document.createElement("script");
        Object.assign(script, { src: new URL(url, location), onload: done, onerror: fail });
        inner.document.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
    terminate() { this.inner.frameElement.remove(); }
  };
}
"""


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    files.append(File.generated(config, SCRIPT, content=WORKER))
    return files


def on_post_page(output: str, page: Any, **_: Any) -> str:
    return ELSEWHERE.sub("../" * page.url.count("/") + SCRIPT, output)


def on_post_template(output: str, **_: Any) -> str:
    return ELSEWHERE.sub(SCRIPT, output)
