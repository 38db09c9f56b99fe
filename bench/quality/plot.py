"""Line charts as SVG that can be read on light and dark pages, without a library."""

import dataclasses
import html

COLOURS = ["#0b7fbf", "#d9541e", "#2e9e62", "#b455a8", "#b98a00", "#808080", "#c23b52"]
DASHES = ["", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3"]
WIDTH, HEIGHT = 340, 250
LEFT, TOP, GAP = 52, 26, 34
STYLE = """text { font: 12px sans-serif; fill: #333 } .axis { stroke: #777 } .grid { stroke: #7774 }
.title { font-weight: bold } @media (prefers-color-scheme: dark) { text { fill: #ddd } .axis { stroke: #999 } }"""


@dataclasses.dataclass
class Axis:
    """Its ticks are where grid lines are, in ascending order; the axis ends at the outer ones."""

    label: str
    ticks: list[float]
    names: list[str] | None = None

    def place(self, value: float) -> float:
        """From 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        return (min(max(value, low), high) - low) / (high - low)

    def name(self, number: int) -> str:
        return self.names[number] if self.names else f"{self.ticks[number]:g}"


@dataclasses.dataclass
class Panel:
    """Lines of a name and points; the names are in the legend below all panels."""

    title: str
    x: Axis
    y: Axis
    lines: list[tuple[str, list[tuple[float, float]]]]
    marked: list[float] = dataclasses.field(default_factory=list)  # x of vertical lines, in the order of the lines


def text(x: float, y: float, what: str, rest: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}"{rest}>{html.escape(what)}</text>'


def frame(panel: Panel, left: float) -> list[str]:
    """Title, grid and the labels of both axes."""
    bottom, right = TOP + HEIGHT, left + WIDTH
    parts = [text(left, TOP - 10, panel.title, ' class="title"')]
    for number, tick in enumerate(panel.x.ticks):
        x = left + WIDTH * panel.x.place(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(text(x, bottom + 16, panel.x.name(number), ' text-anchor="middle"'))
    for number, tick in enumerate(panel.y.ticks):
        y = bottom - HEIGHT * panel.y.place(tick)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        parts.append(text(left - 6, y + 4, panel.y.name(number), ' text-anchor="end"'))
    parts.append(f'<path class="axis" fill="none" d="M{left} {TOP}V{bottom}H{right}"/>')
    parts.append(text(left + WIDTH / 2, bottom + 34, panel.x.label, ' text-anchor="middle"'))
    turned = f' text-anchor="middle" transform="rotate(-90 {left - 38:.0f} {TOP + HEIGHT / 2:.0f})"'
    return [*parts, text(left - 38, TOP + HEIGHT / 2, panel.y.label, turned)]


def stroke(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    return f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"' + (
        f' stroke-dasharray="{dash}"' if dash else ""
    )


def drawn(panel: Panel, left: float, names: list[str]) -> list[str]:
    parts = []
    for name, points in panel.lines:
        number, bottom = names.index(name), TOP + HEIGHT
        places = [(left + WIDTH * panel.x.place(x), bottom - HEIGHT * panel.y.place(y)) for x, y in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        parts.append(f'<path fill="none" {stroke(number)} d="M{path}"/>')
        circles = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places if len(places) <= 20)
        parts.append(f'<g fill="{COLOURS[number % len(COLOURS)]}">{circles}</g>')
    for number, value in enumerate(panel.marked):
        x = left + WIDTH * panel.x.place(value)
        parts.append(f'<path {stroke(number)} d="M{x:.1f} {TOP}V{TOP + HEIGHT}"/>')
    return parts


def chart(description: str, panels: list[Panel]) -> str:
    """The SVG of panels side by side."""
    names = list(dict.fromkeys(name for panel in panels for name, _ in panel.lines))
    width = len(panels) * (LEFT + WIDTH + GAP)
    legend = TOP + HEIGHT + 58
    columns = 2 * len(panels)
    height = legend + 18 * -(-len(names) // columns)
    parts = []
    for number, panel in enumerate(panels):
        left = LEFT + number * (LEFT + WIDTH + GAP)
        parts += [*frame(panel, left), *drawn(panel, left, names)]
    for number, name in enumerate(names):
        x, y = 14 + (number % columns) * width / columns, legend + 18 * (number // columns)
        parts.append(f'<path {stroke(number)} d="M{x:.0f} {y - 4}h26"/>' + text(x + 32, y, name))
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
    return "\n".join(
        [opening, f"<title>{html.escape(description)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""]
    )
