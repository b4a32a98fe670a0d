"""A diff of Kafka's model that lets the high watermark advance with any ISR, at the line where the rule stands."""

from __future__ import annotations

from support.places import ROOT

FILE = "model/broker/high_watermark.py"
_RULE = "    return len(counted) >= leader_min_isr(c, settings, leader, leader_id)"
_LINES = (ROOT / FILE).read_text(encoding="utf-8").splitlines()
LINE = _LINES.index(_RULE) + 1
"""The line of the rule."""
WEAKER = (
    f"--- a/{FILE}\n+++ b/{FILE}\n@@ -{LINE - 1},2 +{LINE - 1},2 @@\n"
    f" {_LINES[LINE - 2]}\n-{_RULE}\n+    return len(counted) >= 1\n"
)
