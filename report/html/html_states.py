"""Lays out the state graph of a small scope as a picture, in SVG units.

Layers are depths, from top to bottom. Steps between the same two states share one line with their number. The pattern
and the colour of a line show the kind of its actions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from elrcheck.base.roundtrip import Record
from elrcheck.report.html import page_template
from elrcheck.report.html.layered import layered
from elrcheck.results.trace_view import DrawnPath, DrawnState, DrawnStep, SmallGraph

GAP = 46.0
"""Distance between the centres of two states in a layer."""
LAYER = 84.0
RADIUS = 14.0
LEFT = 76.0
"""Space for the layer names."""
TOP = 30.0
CHAR = 7.3
LINE = 16.0
KINDS = 7
"""Number of kinds with their own pattern, the most frequent ones; `states.css` defines as many."""
OTHERS, MIXED = "others", "several kinds"
OTHER_STYLES = {OTHERS: KINDS, MIXED: KINDS + 1}


class Spot(Record, frozen=True):
    """One state."""

    number: int
    depth: int
    x: float
    y: float
    initial: bool
    bad: bool
    on_way: bool
    near: str
    """Numbers of its predecessors and successors."""
    lines: tuple[str, ...]
    """Its description."""
    box: tuple[float, float, float, float]
    """X, y, width and height of a box for the description, beside the state and inside the picture."""


class DrawnLine(Record, frozen=True):
    """All steps from one state to another."""

    source: int
    target: int
    style: int
    """Number of the pattern."""
    path: str
    tip: str
    """Path of the arrow head."""
    x: float
    y: float
    count: int
    bad: bool
    on_way: bool
    title: str


class LegendKey(Record, frozen=True):
    """A legend entry: a kind and its actions."""

    name: str
    style: int
    actions: tuple[str, ...]
    y: float

    @property
    def length(self) -> int:
        """Return the number of characters."""
        return len(self.name) + 2 + len(", ".join(self.actions))


class Picture(Record, frozen=True):
    """The whole picture."""

    width: float
    height: float
    layers: tuple[tuple[str, float], ...]
    spots: tuple[Spot, ...]
    lines: tuple[DrawnLine, ...]
    keys: tuple[LegendKey, ...]
    notes: tuple[tuple[float, str], ...]
    """Lines above the legend."""
    thick: str
    """Caption of the highlighted path, or empty."""
    rows: tuple[tuple[int, DrawnState, tuple[str, ...]], ...]


def picture(graph: SmallGraph, alone: bool = False) -> Picture:
    """Return the layout of a graph. alone: for a separate file, with the legend and the descriptions of states."""
    depths = [state.depth for state in graph.states]
    across = layered(depths, [(step.source, step.target) for step in graph.steps])
    way = min(graph.paths, key=lambda path: (len(path.states), path.property), default=None)
    styles = _styles(graph.steps)
    leads: dict[int, list[str]] = {}
    for step in graph.steps:
        broken = f", violates {', '.join(step.violates)}" if step.violates else ""
        leads.setdefault(step.source, []).append(f"→ {step.target} {step.label}{broken}")
    descriptions = [_description(n, state, leads.get(n, [])) for n, state in enumerate(graph.states)]
    notes = _notes(graph, way) if alone else ()
    keys = _keys(graph.steps, styles, LINE * (len(notes) + 1))
    top = TOP + (LINE * (len(notes) + len(keys)) if alone else 0)
    at = [(LEFT + GAP * (place + 0.5), top + LAYER * depth) for place, depth in zip(across, depths, strict=True)]
    width = max((x for x, _ in at), default=LEFT) + GAP
    height = top + LAYER * (max(depths, default=0) + 0.5)
    if alone:
        texts = [*(text for _, text in notes), *(line for lines in descriptions for line in lines)]
        width = max(width, CHAR * max(map(len, texts)) + 24, *(CHAR * key.length + 60 for key in keys))
        height = max(height, LINE * max(map(len, descriptions)) + 24)
    near = _near(graph.steps)
    spots = tuple(
        Spot(
            number,
            state.depth,
            round(at[number][0], 1),
            round(at[number][1], 1),
            state.parent is None,
            bool(state.violates),
            way is not None and number in way.states,
            " ".join(map(str, sorted(near.get(number, ())))),
            descriptions[number],
            _box(at[number], descriptions[number], width, height),
        )
        for number, state in enumerate(graph.states)
    )
    return Picture(
        width=round(width, 1),
        height=round(height, 1),
        layers=tuple((f"depth {depth}", top + LAYER * depth) for depth in range(max(depths, default=-1) + 1)),
        spots=spots,
        lines=tuple(_lines(graph, at, styles, way)),
        keys=keys,
        notes=notes,
        thick="" if way is None else _thick(graph, way),
        rows=tuple((n, state, tuple(leads.get(n, ()))) for n, state in enumerate(graph.states)),
    )


def _notes(graph: SmallGraph, way: DrawnPath | None) -> tuple[tuple[float, str], ...]:
    texts = [f"{len(graph.states)} states, {len(graph.steps)} steps; a double ring is the initial state"]
    if any(state.violates for state in graph.states):
        texts.append("filled square: a property is false")
    if any(step.violates for step in graph.steps):
        texts.append("✗ on a line: a step that violates a property")
    if way is not None:
        texts.append(_thick(graph, way))
    return tuple((LINE * (n + 1), text) for n, text in enumerate(texts))


def _thick(graph: SmallGraph, way: DrawnPath) -> str:
    last = way.states[-2:]
    ends = [*graph.states[last[-1]].violates]
    ends += [ident for step in graph.steps if (step.source, step.target) == last for ident in step.violates]
    if way.property in ends:
        return f"thick: a shortest path to a violation of {way.property}"
    return f"thick: a behaviour that violates {way.property} by staying there forever"


def _box(
    at: tuple[float, float], lines: Sequence[str], width: float, height: float
) -> tuple[float, float, float, float]:
    wide, high = CHAR * max(map(len, lines)) + 12, LINE * len(lines) + 10
    x, y = at[0] + 18, at[1] + 18
    if y + high > height:
        y = at[1] - 18 - high
    x, y = max(min(x, width - wide - 4), 0), max(min(y, height - high), 0)
    return round(x, 1), round(y, 1), round(wide, 1), round(high, 1)


def _description(number: int, state: DrawnState, leads: Sequence[str]) -> tuple[str, ...]:
    """Describe a state, in lines."""
    lines = [f"State {number}, depth {state.depth}" + (", the initial one" if state.parent is None else "")]
    if state.violates:
        lines.append(f"✗ violates {', '.join(state.violates)}")
    if state.parent is not None:
        lines.append(f"from {state.parent} by {state.step}, which changes")
        lines += [f"  {change.path}: {change.old} → {change.new}" for change in state.changes]
    return (*lines, *(leads or ["no steps from here"]))


def _near(steps: Sequence[DrawnStep]) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {}
    for step in steps:
        near.setdefault(step.source, set()).add(step.target)
        near.setdefault(step.target, set()).add(step.source)
    return near


# ------------------------------------------------------------------------------------- lines


def _styles(steps: Sequence[DrawnStep]) -> dict[str, int]:
    """Return the pattern of each kind, the most frequent first; rare kinds share one."""
    counted = sorted(Counter(step.kind for step in steps).items(), key=lambda item: (-item[1], item[0]))
    alone = KINDS if len(counted) <= KINDS else KINDS - 1
    return {kind: place if place < alone else OTHER_STYLES[OTHERS] for place, (kind, _) in enumerate(counted)}


def _keys(steps: Sequence[DrawnStep], styles: dict[str, int], y: float) -> tuple[LegendKey, ...]:
    actions: dict[int, list[str]] = {}
    names = {style: kind.replace("_", " ") for kind, style in styles.items()} | {KINDS: OTHERS}
    for step in steps:
        listed = actions.setdefault(styles[step.kind], [])
        if step.action not in listed:
            listed.append(step.action)
    mixed = any(len(set(kinds)) > 1 for kinds in _kinds(steps).values())
    entries = [(names[style], style, tuple(sorted(listed))) for style, listed in sorted(actions.items())]
    entries += [(MIXED, OTHER_STYLES[MIXED], ())] if mixed else []
    return tuple(LegendKey(name, style, listed, y + LINE * n) for n, (name, style, listed) in enumerate(entries))


def _kinds(steps: Sequence[DrawnStep]) -> dict[tuple[int, int], list[str]]:
    kinds: dict[tuple[int, int], list[str]] = {}
    for step in steps:
        kinds.setdefault((step.source, step.target), []).append(step.kind)
    return kinds


def _lines(
    graph: SmallGraph, at: Sequence[tuple[float, float]], styles: dict[str, int], way: DrawnPath | None
) -> Iterator[DrawnLine]:
    together: dict[tuple[int, int], list[DrawnStep]] = {}
    for step in graph.steps:
        together.setdefault((step.source, step.target), []).append(step)
    walked = set(zip(way.states, way.states[1:], strict=False)) if way is not None else set()
    for (source, target), steps in together.items():
        used = {styles[step.kind] for step in steps}
        style = used.pop() if len(used) == 1 else OTHER_STYLES[MIXED]
        points = _curve(at[source], at[target])
        # The next state of the layer is right of a self-loop, so the number goes above the loop.
        x, y = _middle(points) if source != target else (at[source][0] + 23, at[source][1] - 21)
        broken = sorted({ident for step in steps for ident in step.violates})
        title = [f"{source} → {target}", *(step.label for step in steps)]
        title += [f"✗ violates {', '.join(broken)}"] if broken else []
        yield DrawnLine(
            source,
            target,
            style,
            _path(points),
            _tip(points),
            round(x, 1),
            round(y, 1),
            len(steps),
            bool(broken),
            (source, target) in walked,
            "\n".join(title),
        )


Point = tuple[float, float]


def _curve(start: Point, end: Point) -> tuple[Point, Point, Point, Point]:
    """Return the four control points of a cubic curve from the edge of one circle to the edge of another."""
    (x1, y1), (x2, y2) = start, end
    if start == end:  # a self-loop on the right
        return (x1 + 10, y1 - 10), (x1 + 34, y1 - 18), (x1 + 34, y1 + 18), (x1 + 11, y1 + 11)
    if y1 == y2:  # within a layer: below it, deeper for longer distances
        way = math.copysign(1, x2 - x1)
        deep = 18 + min(abs(x2 - x1) * 0.08, LAYER * 0.35)
        low, end = y1 + deep, (x2 - 8 * way, y2 + 13)
        return (x1 + 8 * way, y1 + 12), (x1 + 20 * way, low), (x2 - 20 * way, low), end
    if y2 > y1:  # one layer down, slightly left of the middle to leave space for the opposite direction
        half = (y2 - y1) / 2
        return (x1 - 3, y1 + RADIUS), (x1 - 3, y1 + half), (x2 - 3, y2 - half), (x2 - 3, y2 - RADIUS)
    if y1 - y2 < LAYER * 1.5:
        half = (y1 - y2) / 2
        return (x1 + 5, y1 - 13), (x1 + 5, y1 - half), (x2 + 5, y2 + half), (x2 + 5, y2 + 13)
    out = 22 + 0.06 * (y1 - y2)  # several layers up: bowed to the right, past the nodes in between
    return (x1 + 12, y1 - 7), (x1 + out, y1 - LAYER), (x2 + out, y2 + LAYER), (x2 + 12, y2 + 7)


def _middle(points: Sequence[Point]) -> Point:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
    return (x0 + 3 * x1 + 3 * x2 + x3) / 8, (y0 + 3 * y1 + 3 * y2 + y3) / 8


def _path(points: Sequence[Point]) -> str:
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    return f"M{start}C{' '.join(rest)}"


def _tip(points: Sequence[Point]) -> str:
    (x2, y2), (x3, y3) = points[2], points[3]
    length = math.hypot(x3 - x2, y3 - y2) or 1.0
    dx, dy = (x3 - x2) / length, (y3 - y2) / length
    back = (x3 - 7 * dx, y3 - 7 * dy)
    one, other = (back[0] - 3.2 * dy, back[1] + 3.2 * dx), (back[0] + 3.2 * dy, back[1] - 3.2 * dx)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in ((x3, y3), one, other)) + "z"


ALONE = """
.states { background: var(--back); }
.states .page { fill: var(--back); }
.states .said { display: none; pointer-events: none; }
.states .said rect { fill: var(--back); stroke: var(--ink); }
"""


def to_svg(graph: SmallGraph) -> str:
    """Return valid XML; the description of a state appears on hover or focus, by CSS only."""
    style = page_template.source("palette.css") + page_template.source("states.css") + ALONE
    return page_template.packaged("states.svg.j2").render(picture=picture(graph, alone=True), style=style)
