"""A trace as a Mermaid sequence diagram: the controller and every broker are participants."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.report.trace import Step, TraceView

CONTROLLER = "Controller"
# Actions that are a message: the arguments that name sender and receiver, or the controller.
MESSAGES: Mapping[str, tuple[str, str]] = {
    "Fetch": ("f", "leader"),
    "SendLateFetch": ("f", "leader"),
    "CopyFromShadow": ("f", "leader"),
    "ExpandIsr": ("leader", CONTROLLER),
    "ShrinkIsr": ("leader", CONTROLLER),
    "ControllerAlters": (CONTROLLER, "leader"),
    "LoseResponse": (CONTROLLER, "leader"),
    "Register": ("b", CONTROLLER),
    "Unfence": ("b", CONTROLLER),
    "StartControlledShutdown": ("b", CONTROLLER),
    "GrantShutdown": (CONTROLLER, "b"),
    "ApplyMetadata": (CONTROLLER, "b"),
    "ApplyOlderRecord": (CONTROLLER, "b"),
    "ApplyMinIsr": (CONTROLLER, "b"),
    "SendLogInfo": ("b", CONTROLLER),
}
LOST = frozenset({"LoseResponse"})
PLACES = ("b", "leader")
"""Arguments that name the broker at which an action that is no message happens."""
_ENTITIES = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "}


def mermaid(trace: TraceView, brokers: int) -> str:
    """The diagram's text, without a fence.  `brokers`: how many, whether they take part or not."""
    lines = ["sequenceDiagram", f"    participant {CONTROLLER}"]
    lines += [f"    participant B{b} as broker {b}" for b in range(brokers)]
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            lines.append("    loop for ever")
        lines.append(f"    {_line(step)}")
        important = [c for c in step.changes if c.path.startswith(("partition.", "committed"))]
        if important:
            text = "<br/>".join(
                safe(f"{c.path.removeprefix('partition.')}: {c.old} → {c.new}") for c in important
            )
            lines.append(f"    Note over {CONTROLLER}: {text}")
    if trace.loop is not None and trace.loop < len(trace.steps):
        lines.append("    end")
    return "\n".join(lines) + "\n"


def _line(step: Step) -> str:
    given = {a.name: a.value for a in step.arguments}
    label = safe(f"{step.index}. {step.label}")
    if step.action in MESSAGES:
        sender, receiver = (_place(role, given) for role in MESSAGES[step.action])
        lost = step.action in LOST or given.get("lost") == "true"
        return f"{sender}{'-x' if lost else '->>'}{receiver}: {label}"
    place = next((name for name in PLACES if name in given), CONTROLLER)
    return f"Note over {_place(place, given)}: {label}"


def _place(role: str, given: Mapping[str, str]) -> str:
    return f"B{given[role]}" if role in given else CONTROLLER


def safe(text: str) -> str:
    """Text as Mermaid shows it literally: `#` and `;` would end it, `<` would begin a tag."""
    return "".join(_ENTITIES.get(char, char) for char in text)
