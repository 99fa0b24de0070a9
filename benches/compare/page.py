"""Writes docs/performance.md and its plots from the results of a run. Every time has the floor of the same run beside it."""

from xml.sax.saxutils import escape

BAR_COLORS = {"ours": "#2b6cb0", "floor": "#718096", "peer": "#c05621"}
BAR_HEIGHT, NAME_WIDTH, BARS_WIDTH, VALUE_WIDTH, TOP = 24, 290, 380, 90, 36

HEADINGS = {
    "true": "A call of `true`",
    "echo": "A call of `echo hi`",
    "start": "From the start of a server until it has listed its tools",
    "output": "{megabytes} MB of output",
}
NOTES = {
    "true": "`mcp` is a call over standard input and output to a server that runs. `run` and `call` start a process for each "
            "command; `--version` runs no command. The C server (`benches/server.c`) starts bash and does nothing else.",
    "output": "The floor is `cat FILE | cat > copy`: the output goes to a file there as here.",
}


def ms(microseconds):
    return f"{microseconds / 1000:.2f}"


def table(results):
    lines = ["| | ratio | median ms | p25 | p95 | bare spawn: median ms | p95 |", "|---|--:|--:|--:|--:|--:|--:|"]
    for result in results:
        own, floor = result["row"], result["floor"]
        cells = [result["name"], f"**{result['ratio']:.2f}**", ms(own["median"]), ms(own["p25"]), ms(own["p95"]),
                 ms(floor["median"]), ms(floor["p95"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def memory_table(results):
    lines = ["| | idle | after {} calls | with its keeper |".format(results[0]["calls"]), "|---|--:|--:|--:|"]
    for result in results:
        cells = [f"{result[key] / 1000:.1f}" for key in ("idle_kb", "after_kb", "together_kb")]
        lines.append(f"| {result['name']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def heading(name, results):
    if name.startswith("burst "):
        return f"{name.removeprefix('burst ')} calls of `sleep 0.2` at once"
    return HEADINGS[name].format(megabytes=results["run"]["output_bytes"] // 1_000_000)


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


def plots(results):
    """Name and content of each plot."""
    def ratios(name):
        return [(result["name"], result["group"], result["ratio"]) for result in results[name]]

    memory = [(result["name"], result["group"], result["after_kb"] / 1000) for result in results["memory"]]
    return {
        "true.svg": bars("A call of true, as a multiple of a bare spawn of bash", ratios("true"), ""),
        "start.svg": bars("Start until tools are listed, as a multiple of a bare spawn", ratios("start"), ""),
        "memory.svg": bars("Resident MB of the server after its calls", memory, " MB"),
    }


def page(results):
    run = results["run"]
    priority = "with realtime priority, which keeps other processes out" if run["realtime"] else \
        "without realtime priority: other processes were in the way"
    parts = [
        "# Performance",
        "`scripts/bench` wrote this page from `benches/results.json`; don't edit it. Each row was measured in a pair with a bare "
        "spawn of `bash -c` from a C program, call by call in random order, with a state folder of its own. Read the "
        "ratios: the same machine gives other times from hour to hour. \"bare spawn again\" shows how far a ratio is "
        "from 1 by chance.",
        f"{run['date']}, {run['machine']}, {run['cores']} cores, Linux {run['kernel']}, {priority}; load {run['load']} when it began. "
        f"Binary: {run['version']}, {run['binary']}, {run['size'] / 1e6:.1f} MB. Rounds: {run['rounds']} calls, "
        f"{run['starts']} starts, {run['bursts']} bursts, {run['outputs']} large outputs.",
    ]
    for name in results:
        if name in ("run", "memory"):
            continue
        parts.append(f"## {heading(name, results)}")
        parts += [NOTES[name]] if name in NOTES else []
        parts.append(table(results[name]))
        if name in ("true", "start"):
            parts.append(f"![Ratios to a bare spawn](plots/{name}.svg)")
    parts += ["## Resident memory", "Megabytes of the server; in the last column with all other processes of its session.",
              memory_table(results["memory"]), "![Resident memory](plots/memory.svg)"]
    return "\n\n".join(parts) + "\n"
