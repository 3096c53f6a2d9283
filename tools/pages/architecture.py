"""The picture of the rooms, drawn from the imports: python tools/pages/architecture.py writes docs/architecture.svg.

A room is a folder of src/nobounds, or a file beside them. Room A stands above room B if A imports B. Only the arrows
that say something new are drawn: A -> C is left out where A -> B -> C is there. A second run writes the same bytes.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE, PICTURE = ROOT / "src" / "nobounds", ROOT / "docs" / "architecture.svg"
FRONT = "__init__"

# A few words for each box; a room that is not here gets its name alone.
CAPTIONS = {
    FRONT: "the public names",
    "accounting": "costs, losses, budgets",
    "answers": "one statistic of a column",
    "arrays": "names of array types",
    "auditing": "claims against exact laws",
    "ask": "what to ask of a table",
    "cli": "the command line",
    "clipping": "how a clip is chosen",
    "core": "a prior over numbers",
    "counting": "one pass to exact tables",
    "engines": "data of every kind in",
    "exact": "exact numbers, rounding",
    "explaining": "releases in plain words",
    "expressions": "filters and formulas",
    "groups": "a million groups at once",
    "kinds": "types and their values",
    "ladders": "values to rungs and back",
    "programs": "decisions and drivers",
    "mechanisms": "walks and choices",
    "noise": "exact discrete noise",
    "planning": "the error to expect",
    "pandas": "attributes of frames",
    "plots": "laws, errors, releases",
    "polars": "attributes of frames",
    "ranks": "how a rank is chosen",
    "release": "what leaves",
    "research": "the paper, rivals",
    "sklearn": "a scikit-learn clipper",
    "statistics": "the public functions",
    "studio": "the local web page",
    "tables": "whole tables, by group",
    "values": "how classes are made",
}

Graph = dict[str, dict[str, int]]


def imports(package: Path = PACKAGE) -> Graph:
    """For each room, the other rooms that its files import, with the number of imports."""
    graph: Graph = {room: {} for room in sorted({_room(path, package) for path in package.rglob("*.py")})}
    for path in sorted(package.rglob("*.py")):
        room = _room(path, package)
        for name in _imported(path, package):
            target = name if name in graph else FRONT
            if target != room:
                graph[room][target] = graph[room].get(target, 0) + 1
    return graph


def _room(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def _imported(path: Path, package: Path) -> Iterator[str]:
    """What follows `nobounds.` in each import of a file, also in those inside of functions: a room or a public name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside = [package.name, *path.relative_to(package).parts[:-1]]
            base = inside[: len(inside) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == package.name:
                yield rest.split(".")[0]


def without_cycles(graph: Graph) -> tuple[Graph, list[tuple[str, str]]]:
    """The graph without the lightest edge of each cycle, and these edges."""
    kept = {room: dict(targets) for room, targets in graph.items()}
    against: list[tuple[str, str]] = []
    while True:
        reach = {room: _reachable(kept, room) for room in kept}
        circular = [(kept[a][b], a, b) for a in kept for b in kept[a] if a in reach[b]]
        if not circular:
            return kept, against
        _, a, b = min(circular)
        del kept[a][b]
        against.append((a, b))


def _reachable(graph: Graph, room: str) -> set[str]:
    seen: set[str] = set()
    waiting = [room]
    while waiting:
        waiting += (new := set(graph[waiting.pop()]) - seen)
        seen |= new
    return seen


def reduced(graph: Graph) -> list[tuple[str, str]]:
    """The edges of a graph without cycles that no longer path stands for."""
    reach = {room: _reachable(graph, room) for room in graph}
    return [(a, b) for a in graph for b in graph[a] if not any(b in reach[c] for c in graph[a] if c != b)]


def levels(edges: list[tuple[str, str]], rooms: list[str]) -> dict[str, int]:
    """The level of each room, 0 at the bottom: above all that it imports, and no lower than it need be."""
    below = {room: [b for a, b in edges if a == room] for room in rooms}
    above = {room: [a for a, b in edges if b == room] for room in rooms}
    level: dict[str, int] = {}

    def of(room: str) -> int:
        if room not in level:
            level[room] = 1 + max(map(of, below[room]), default=-1)
        return level[room]

    for room in sorted(rooms, key=of, reverse=True):
        if above[room] and len(above[room]) >= len(below[room]):  # long arrows into a room become short
            level[room] = min(level[a] for a in above[room]) - 1
    return level


# --- Where things stand -----------------------------------------------------------------------------------------------

BOX_WIDTH, BOX_HEIGHT, GAP, LANE, ROW, EDGE = 168, 46, 26, 30, 84, 24


@dataclass(eq=False)
class Stop:
    """A box, or the place where a long arrow passes a level."""

    room: str | None
    level: int
    x: float = 0.0
    above: "list[Stop]" = field(default_factory=list)
    below: "list[Stop]" = field(default_factory=list)

    @property
    def width(self) -> int:
        return BOX_WIDTH if self.room else LANE


def layout(rooms: list[str], edges: list[tuple[str, str]]) -> list[list[Stop]]:
    """The stops of each level, the lowest first, in order from left to right."""
    level = levels(edges, rooms)
    boxes = {room: Stop(room, level[room]) for room in rooms}
    rows: list[list[Stop]] = [[] for _ in range(max(level.values()) + 1)]
    for room in rooms:
        rows[level[room]].append(boxes[room])
    for a, b in edges:
        chain = [boxes[a], *(Stop(None, k) for k in range(level[a] - 1, level[b], -1)), boxes[b]]
        for high, low in pairwise(chain):
            high.below.append(low)
            low.above.append(high)
        for stop in chain[1:-1]:
            rows[stop.level].append(stop)
    _order(rows)
    _place(rows)
    return rows


def _order(rows: list[list[Stop]]) -> None:
    """Swap neighbours while that makes arrows cross less often, or shorter."""

    def badness() -> tuple[int, float]:
        at = {stop: k - len(row) / 2 for row in rows for k, stop in enumerate(row)}
        pairs = [[(at[high], at[low]) for high in row for low in high.below] for row in rows]
        crossings = sum((a - c) * (b - d) < 0 for row in pairs for i, (a, b) in enumerate(row) for c, d in row[:i])
        return crossings, sum((a - b) ** 2 for row in pairs for a, b in row)

    best = badness()
    improved = True
    while improved:
        improved = False
        for row in rows:
            for i in range(len(row)):
                for j in range(i):
                    row[i], row[j] = row[j], row[i]
                    if (now := badness()) < best:
                        best, improved = now, True
                    else:
                        row[i], row[j] = row[j], row[i]


def _place(rows: list[list[Stop]]) -> None:
    """Each stop in the middle of those that it is joined with, as far as its neighbours leave room."""
    for row in rows:
        _spread(row, [0.0] * len(row))
    for turn in range(400):
        for row in rows if turn % 2 else rows[::-1]:
            _spread(row, [_pulled(stop) for stop in row])


def _pulled(stop: Stop) -> float:
    """Where a stop would like to stand: long arrows are straight, and no part of the picture drifts far to a side."""
    weight_of = {0: 20.0, 1: 2.0, 2: 1.0}  # by how many of the two are boxes
    pulls = [(o.x, weight_of[bool(o.room) + bool(stop.room)]) for o in (*stop.above, *stop.below)]
    pulls.append((0.0, 0.5))
    return sum(x * weight for x, weight in pulls) / sum(weight for _, weight in pulls)


def _spread(row: list[Stop], wanted: list[float]) -> None:
    """The places nearest to the wanted ones that do not overlap: stops that push each other move as one."""
    groups: list[tuple[float, list[Stop]]] = []
    for stop, x in zip(row, wanted, strict=True):
        groups.append((x, [stop]))
        while len(groups) > 1 and groups[-2][0] + _half(groups[-2][1]) + GAP + _half(groups[-1][1]) > groups[-1][0]:
            (x2, right), (x1, left) = groups.pop(), groups.pop()
            # The middle of the joined group, so that its parts are moved by as little as possible on average.
            ends = x1 * len(left) + x2 * len(right) + (_half(left) - _half(right)) * (len(right) - len(left)) / 2
            groups.append((ends / (len(left) + len(right)), left + right))
    for middle, members in groups:
        x = middle - _half(members)
        for stop in members:
            stop.x = x + stop.width / 2
            x += stop.width + GAP


def _half(members: list[Stop]) -> float:
    return (sum(stop.width for stop in members) + GAP * (len(members) - 1)) / 2


# --- The picture ------------------------------------------------------------------------------------------------------

STYLE = """
  .ground { fill: #ffffff } .box { fill: #eef2fb; stroke: #3949ab; stroke-width: 1.2 }
  .file { fill: #f7f7f7; stroke: #8a8f98 } .front { fill: #3949ab; stroke: #3949ab }
  .name { font: 600 15px "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #1b1f2a }
  .words { font: 11.5px "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: #555c6b }
  .name, .words { text-anchor: middle } .on-front { fill: #ffffff }
  .arrow { fill: none; stroke: #7c869b; stroke-width: 1.4 } .head { fill: #7c869b }
  .arrow.against { stroke: #c2410c; stroke-dasharray: 5 4 } .head.against { fill: #c2410c }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #1e2129 } .box { fill: #2a3047; stroke: #8c9eff } .file { fill: #2a2c33; stroke: #7d828c }
    .front { fill: #8c9eff; stroke: #8c9eff } .name { fill: #f2f4f8 } .words { fill: #c0c6d2 }
    .on-front { fill: #14161c } .arrow { stroke: #9aa3b5 } .head { fill: #9aa3b5 }
    .arrow.against { stroke: #fb923c } .head.against { fill: #fb923c }
  }"""


def picture(package: Path = PACKAGE) -> str:
    """The SVG."""
    graph, against = without_cycles(imports(package))
    rows = layout(list(graph), reduced(graph))
    stops = [stop for row in rows for stop in row]
    left = min(stop.x - stop.width / 2 for stop in stops) - EDGE
    width = round(max(stop.x + stop.width / 2 for stop in stops) - left + EDGE)
    height = (len(rows) - 1) * ROW + BOX_HEIGHT + 2 * EDGE
    for stop in stops:
        stop.x -= left

    boxes = {stop.room: stop for stop in stops if stop.room}
    top = {room: height - EDGE - BOX_HEIGHT - stop.level * ROW for room, stop in boxes.items()}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">',
        "<title>The rooms of nobounds: an arrow leads from a room to one that it imports</title>",
        f"<style>{STYLE}\n</style>",
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    for stop in stops:
        if stop.room:
            parts += [_arrow(_path(stop, first, height)) for first in stop.below]
    parts += [_arrow(_back(boxes[a], boxes[b], top[a], top[b]), " against") for a, b in against]
    parts += [_box(room, stop.x, top[room], package) for room, stop in boxes.items()]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _path(start: Stop, first: Stop, height: int) -> list[tuple[float, float]]:
    """The points of an arrow, from the lower side of a box to the upper side of another."""
    points = [(start.x + _port(start, start.below.index(first), start.below), _y(start, height) + BOX_HEIGHT)]
    last, stop = start, first
    while not stop.room:
        points += [(stop.x, _y(stop, height)), (stop.x, _y(stop, height) + BOX_HEIGHT)]
        last, stop = stop, stop.below[0]
    return [*points, (stop.x + _port(stop, stop.above.index(last), stop.above), _y(stop, height))]


def _y(stop: Stop, height: int) -> int:
    return height - EDGE - BOX_HEIGHT - stop.level * ROW


def _port(stop: Stop, index: int, others: list[Stop]) -> float:
    """How far from the middle of a box an arrow starts or ends, in the order of where it comes from."""
    place = sorted(range(len(others)), key=lambda k: others[k].x).index(index)
    return (place - (len(others) - 1) / 2) * min(36.0, 0.7 * BOX_WIDTH / len(others))


def _arrow(points: list[tuple[float, float]], kind: str = "") -> str:
    """Curves from level to level, straight lines along the stops between, and a head at the end."""
    (x, y), *rest = points
    end_x, end_y = rest.pop()
    back = -7 if end_y > y else 7  # for the head
    line = [f"M{x:.1f} {y:.1f}"]
    for k, (new_x, new_y) in enumerate([*rest, (end_x, end_y + back)]):
        bend = (new_y - y) * 0.5
        curve = f"C{x:.1f} {y + bend:.1f} {new_x:.1f} {new_y - bend:.1f} {new_x:.1f} {new_y:.1f}"
        line.append(f"V{new_y:.1f}" if k % 2 or x == new_x else curve)
        x, y = new_x, new_y
    head = f"M{end_x - 4.5:.1f} {end_y + back:.1f}h9L{end_x:.1f} {end_y:.1f}z"
    return f'<path class="arrow{kind}" d="{"".join(line)}"/><path class="head{kind}" d="{head}"/>'


def _back(a: Stop, b: Stop, top_a: float, top_b: float) -> list[tuple[float, float]]:
    """The points of an arrow against the levels."""
    return [(a.x - BOX_WIDTH / 4, top_a), (b.x - BOX_WIDTH / 4, top_b + BOX_HEIGHT)]


def _box(room: str, x: float, y: float, package: Path) -> str:
    front = room == FRONT
    name = package.name if front else room if (package / room).is_dir() else f"{room}.py"
    kind = " front" if front else "" if (package / room).is_dir() else " file"
    light = " on-front" if front else ""
    words = CAPTIONS.get(room, "")
    size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
    shape = f'<rect class="box{kind}" x="{x - BOX_WIDTH / 2:.1f}" y="{y}" {size} rx="6"/>'
    text = f'<text class="name{light}" x="{x:.1f}" y="{y + (20 if words else 28)}">{name}</text>'
    return shape + text + (f'<text class="words{light}" x="{x:.1f}" y="{y + 37}">{words}</text>' if words else "")


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(picture())


if __name__ == "__main__":
    main()
