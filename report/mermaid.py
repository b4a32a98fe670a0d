"""Renders a trace as a Mermaid sequence diagram with the controller and every broker as participants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elrcheck.results.trace_view import Step, TraceView

CONTROLLER = "Controller"
# Actions that send a message: the arguments that name sender and receiver, or the controller.
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
"""Arguments that name the broker of an action that sends no message."""
_ENTITIES = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "}


def mermaid(trace: TraceView, brokers: int) -> str:
    """Renders the diagram, without a code fence.  brokers: number of lanes, including idle brokers."""
    lines = ["sequenceDiagram", f"    participant {CONTROLLER}"]
    lines += [f"    participant B{b} as broker {b}" for b in range(brokers)]
    for step in trace.steps:
        if step.index - 1 == trace.loop:
            lines.append("    loop forever")
        lines.append(f"    {_line(step)}")
        if notes := important(step):
            lines.append(f"    Note over {CONTROLLER}: {'<br/>'.join(safe(note) for note in notes)}")
    if trace.loop is not None and trace.loop < len(trace.steps):
        lines.append("    end")
    return "\n".join(lines) + "\n"


def _line(step: Step) -> str:
    talk = talk_of(step)
    label = safe(f"{step.index}. {step.label}")
    if talk.receiver is None:
        return f"Note over {_name(talk.sender)}: {label}"
    return f"{_name(talk.sender)}{'-x' if talk.lost else '->>'}{_name(talk.receiver)}: {label}"


def _name(place: str) -> str:
    return CONTROLLER if place == CONTROLLER else f"B{place}"


@dataclass(frozen=True)
class Talk:
    """The participants of a step: CONTROLLER or a broker number. receiver: None if there is no message."""

    sender: str
    receiver: str | None = None
    lost: bool = False


def talk_of(step: Step) -> Talk:
    """The sender and receiver of a step, or the participant at which it happens."""
    given = {a.name: a.value for a in step.arguments}
    if step.action in MESSAGES:
        sender, receiver = (given.get(role, CONTROLLER) for role in MESSAGES[step.action])
        return Talk(sender, receiver, step.action in LOST or given.get("lost") == "true")
    return Talk(next((given[name] for name in PLACES if name in given), CONTROLLER))


def important(step: Step) -> tuple[str, ...]:
    """The important changes of a step: the partition's state and the committed records."""
    return tuple(
        f"{c.path.removeprefix('partition.')}: {c.old} → {c.new}"
        for c in step.changes
        if c.path.startswith(("partition.", "committed"))
    )


def safe(text: str) -> str:
    """Escapes text so that Mermaid shows it literally: `#` and `;` would end it, `<` would begin a tag."""
    return "".join(_ENTITIES.get(char, char) for char in text)
