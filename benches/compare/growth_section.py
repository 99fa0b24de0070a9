"""The part of docs/performance.md about growth, from the results of growth.py: how cost grows with size, computed from the points."""

import math

from plots import curves

# Of each subject: heading, what a size is, how a size is shown, what is said about it, and the floor where that grows, too.
BYTES, NUMBER = "bytes", "number"
SUBJECTS = {
    "output": ("Bytes of output", "bytes that the command prints", BYTES,
               "A call over `mcp` whose command prints that much. The floor is `cat FILE | cat > copy` of the same size.",
               "`cat FILE | cat > copy`"),
    "record": ("Entries in the record", "entries in the record", NUMBER,
               "The journal was filled with calls, three entries each, by `crates/journal/examples/fill_journal.rs`. What is measured adds "
               "to it: the smallest sizes are those at the beginning.", None),
    "rules": ("Rules", "rules in the settings", NUMBER,
              "A third each: entries of `policy.allow` and of `policy.deny`, and tables `[[policy.rule]]`, none about `true`.", None),
    "jobs": ("Jobs", "running jobs of the session", NUMBER, "Each job is a `sleep`, in the background of one session.", None),
    "text": ("Bytes of command text", "bytes of the text", BYTES,
             "`shellgate check` of a text that is allowed: of many short commands, or of one with a long here-document.", None),
    "watchers": ("Watchers", "processes that follow one job", NUMBER,
                 "From a line that a job prints until every `logs -f` has printed it. The floor is as many `tail -f` of a file that `cat` "
                 "writes.", "`tail -f`"),
}
# The slope is that of the largest sizes: at small ones, what doesn't grow hides what does.
FITTED_POINTS = 3
# Measured slopes are this far from the true ones.
SLOPE_TOLERANCE = 0.1


def bytes_of(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return f"{count:,.0f} B"


def shown(size, kind):
    return bytes_of(size) if kind == BYTES else f"{size:,.0f}"


def costs(curve, grows_too):
    """Sizes and costs, in bare spawns: in those of the same point, or of the smallest size where the floor grows with the size."""
    points = [point for point in curve["points"] if "refused" not in point]
    first = points[0]["floor"]["median"]
    return [(point["size"], point["row"]["median"] / first if grows_too else point["ratio"]) for point in points]


def floor_costs(curve):
    first = curve["points"][0]["floor"]["median"]
    return [(point["size"], point["floor"]["median"] / first) for point in curve["points"]]


def slope(points):
    """The power of the size with which a value grows: a least-squares line through the logarithms of the largest sizes."""
    logs = [(math.log(size), math.log(value)) for size, value in points[-FITTED_POINTS:]]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread if spread else 0.0


def sentence(what, named, floor=None):
    """One sentence about the growth of something: (name, slope) of each curve, and of the floor if that grows."""
    listed = ", ".join(f"{power:.2f} ({name})" for name, power in [*named, *([floor] if floor else [])])
    worse = [name for name, power in named if power > 1 + SLOPE_TOLERANCE]
    verdict = f"worse than linear: {', '.join(worse)}" if worse else "linear or better"
    return f"Over the {FITTED_POINTS} largest sizes, {what} grows with the size to the power of {listed}: **{verdict}**."


def cell(point):
    mark = " (refused)" if "refused" in point else ""
    return f"**{point['ratio']:.2f}**{mark} ({point['row']['median'] / 1000:,.2f} / {point['floor']['median'] / 1000:,.2f} ms)"


def table(found, kind):
    """A row per size; of curves whose sizes differ a little, by place."""
    lines = ["| | " + " | ".join(curve["name"] for curve in found) + " |", "|--:|" + "--:|" * len(found)]
    for points in zip(*(curve["points"] for curve in found)):
        cells = [shown(max(point["size"] for point in points), kind), *(cell(point) for point in points)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def refusals(found, kind):
    """What is refused for its size, in the words of the refusal: one sentence each."""
    messages = {}
    for curve in found:
        for point in curve["points"]:
            if "refused" in point:
                messages.setdefault(point["refused"], point["size"])
    return [f"Refused from {shown(size, kind)} on: \"{message}\"." for message, size in messages.items()]


def memory_table(curve):
    lines = ["| | server | keeper |", "|--:|--:|--:|"]
    for point in curve["points"]:
        lines.append(f"| {bytes_of(point['size'])} | {point['server_kb'] / 1000:.1f} | {point['keeper_kb'] / 1000:.1f} |")
    return "\n".join(lines)


def memory_curves(curve):
    return [(name, [(point["size"], max(point[key], 1) / 1000) for point in curve["points"]])
            for name, key in (("server", "server_kb"), ("keeper", "keeper_kb"))]


def parts(growth, machine):
    """Paragraphs of the page. `machine` describes a run; usually all subjects are of one."""
    runs = {machine(subject["run"]) for subject in growth.values()}
    written = [
        "## Growth",
        " ".join(["`scripts/bench --growth` measured how cost grows with size.", *(runs if len(runs) == 1 else [])]),
        "A cell has the ratio to the floor, which was taken call by call in the same run, and behind it both medians. In plots, both axes "
        "are logarithmic; the dashed line is cost in proportion to the size.",
    ]
    for name, (heading, _, kind, note, growing_floor) in SUBJECTS.items():
        if name not in growth:
            continue
        found, about = growth[name]["curves"], machine(growth[name]["run"])
        slopes = [(curve["name"], slope(costs(curve, growing_floor))) for curve in found]
        floor = (f"the floor, {growing_floor}", slope(floor_costs(found[0]))) if growing_floor else None
        written += [f"### {heading}"] + ([about] if len(runs) > 1 else [])
        written += [" ".join([note, sentence("cost", slopes, floor), *refusals(found, kind)]), table(found, kind),
                    f"![{heading}](plots/growth-{name}.svg)"]
        if name == "output":
            named = [(of, slope(points)) for of, points in memory_curves(found[0])]
            written += ["The most memory, in MB, that server and keeper had in such calls. " + sentence("memory", named),
                        memory_table(found[0]), "![Memory](plots/growth-output-memory.svg)"]
    return written


def plots(growth):
    """Name and content of each plot."""
    drawn = {}
    for name, (heading, x_title, kind, _, growing_floor) in SUBJECTS.items():
        if name not in growth:
            continue
        found = growth[name]["curves"]
        lines = [(curve["name"], False, costs(curve, growing_floor)) for curve in found]
        if growing_floor:
            lines.append((growing_floor, True, floor_costs(found[0])))
        unit = "of the smallest floor" if growing_floor else "of a bare spawn"
        show = bytes_of if kind == BYTES else "{:,.0f}".format
        drawn[f"growth-{name}.svg"] = curves(f"{heading}: cost as a multiple {unit}", x_title, lines, show)
        if name == "output":
            lines = [(of, False, points) for of, points in memory_curves(found[0])]
            drawn["growth-output-memory.svg"] = curves("Bytes of output: MB of memory at most", x_title, lines, bytes_of)
    return drawn
