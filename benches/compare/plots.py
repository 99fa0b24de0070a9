"""Plots as SVG: bars, and curves on two logarithmic axes."""

import math
from xml.sax.saxutils import escape

BAR_COLORS = {"ours": "#2b6cb0", "floor": "#718096", "peer": "#c05621"}
BAR_HEIGHT, NAME_WIDTH, BARS_WIDTH, VALUE_WIDTH, TOP = 24, 290, 380, 90, 36
CURVE_COLORS = ["#2b6cb0", "#c05621", "#2f855a", "#6b46c1"]
FLOOR_COLOR, GRID_COLOR, SLOPE_COLOR = "#718096", "#e2e8f0", "#a0aec0"
PLOT_WIDTH, PLOT_HEIGHT, LEFT, BOTTOM, LEGEND_WIDTH = 420, 300, 64, 44, 230


def bars(title, values, unit):
    """A plot of horizontal bars as SVG: (name, group, value) each."""
    most = max(value for _, _, value in values)
    width, height = NAME_WIDTH + BARS_WIDTH + VALUE_WIDTH, TOP + BAR_HEIGHT * len(values) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for index, (name, group, value) in enumerate(values):
        y, length = TOP + index * BAR_HEIGHT, max(1, round(BARS_WIDTH * value / most))
        name = escape(name.replace("`", ""))
        parts += [
            f'<text x="{NAME_WIDTH - 8}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{NAME_WIDTH}" y="{y + 2}" width="{length}" height="{BAR_HEIGHT - 6}" fill="{BAR_COLORS[group]}"/>',
            f'<text x="{NAME_WIDTH + length + 6}" y="{y + 14}">{value:.2f}{unit}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{more}>{escape(words.replace("`", ""))}</text>'


class Axis:
    """A logarithmic axis over whole decades."""

    def __init__(self, values, start, length):
        self.first, self.last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.last = max(self.last, self.first + 1)
        self.start, self.length = start, length

    def at(self, value):
        return self.start + self.length * (math.log10(value) - self.first) / (self.last - self.first)

    def decades(self):
        return [10.0**power for power in range(self.first, self.last + 1)]


def line(points, color, more=""):
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" fill="none" stroke="{color}" stroke-width="2"{more}/>'


def through(x_axis, y_axis, size, value):
    """The line of slope 1 through a point, as far as the axes go: the growth that is in proportion to the size."""
    factor, smallest, largest = value / size, 10.0**x_axis.first, 10.0**x_axis.last
    sizes = max(smallest, 10.0**y_axis.first / factor), min(largest, 10.0**y_axis.last / factor)
    return [(x_axis.at(end), y_axis.at(end * factor)) for end in sizes]


def curves(title, x_title, drawn, show_size):
    """Curves on logarithmic axes: (name, is it a floor, [(size, value)]) each. The dashed line is growth in proportion to the size."""
    points = [point for _, _, points in drawn for point in points]
    x_axis = Axis([size for size, _ in points], LEFT, PLOT_WIDTH)
    y_axis = Axis([value for _, value in points], TOP + PLOT_HEIGHT, -PLOT_HEIGHT)
    right, bottom = LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT
    width, height = right + LEGEND_WIDTH, bottom + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(8, 20, title, more=' font-weight="bold"'),
        text(LEFT + PLOT_WIDTH / 2, height - 6, x_title, "middle"),
    ]
    for size in x_axis.decades():
        x = x_axis.at(size)
        parts += [line([(x, TOP), (x, bottom)], GRID_COLOR), text(x, bottom + 18, show_size(size), "middle")]
    for value in y_axis.decades():
        y = y_axis.at(value)
        parts += [line([(LEFT, y), (right, y)], GRID_COLOR), text(LEFT - 6, y + 4, f"{value:,g}", "end")]
    steepest = max((points[-1] for _, _, points in drawn), key=lambda point: point[1])
    parts.append(line(through(x_axis, y_axis, *steepest), SLOPE_COLOR, ' stroke-dasharray="5 4"'))
    colors = iter(CURVE_COLORS)
    for number, (name, is_floor, points) in enumerate(drawn):
        color = FLOOR_COLOR if is_floor else next(colors)
        places = [(x_axis.at(size), y_axis.at(value)) for size, value in points]
        parts.append(line(places, color))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places]
        parts.append(text(right + 12, TOP + 14 + 20 * number, name, more=f' fill="{color}"'))
    parts.append(text(right + 12, TOP + 14 + 20 * len(drawn), "dashed: in proportion", more=f' fill="{SLOPE_COLOR}"'))
    return "\n".join([*parts, "</svg>", ""])
