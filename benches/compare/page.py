"""Writes docs/performance.md and its plots from the results of a run. Every time has the floor of the same run beside it."""

import growth_section
from plots import bars

HEADINGS = {
    "true": "A call of `true`",
    "echo": "A call of `echo hi`",
    "start": "From the start of a server until it has listed its tools",
}
NOTES = {
    "true": "`mcp` is a call over standard input and output to a server that runs. `run` and `call` start a process for each "
            "command; `--version` runs no command. The C server (`benches/server.c`) starts bash and does nothing else.",
    "output": "The floor is `cat FILE | cat > copy`: the output goes to a file there as here. All of it is kept "
              "(`limits.capture_bytes`).",
}
PEERS_NOTE = "Of the sandboxes of others, bubblewrap, `codex app-server` and sandbox-runtime let the command write its folder, `codex " \
             "sandbox` doesn't; none of them has a network. bubblewrap, `codex sandbox` and `srt` start a process for each command. " \
             "Slow ones have fewer rounds."


def ms(microseconds):
    return f"{microseconds / 1000:.2f}"


def table(results):
    lines = ["| | ratio | median ms | p25 | p95 | bare spawn: median ms | p95 | rounds |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for result in results:
        own, floor = result["row"], result["floor"]
        cells = [result["name"], f"**{result['ratio']:.2f}**", ms(own["median"]), ms(own["p25"]), ms(own["p95"]),
                 ms(floor["median"]), ms(floor["p95"]), f"{result['rounds']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def memory_table(results):
    lines = ["| | idle | calls | after them | with its keeper |", "|---|--:|--:|--:|--:|"]
    for result in results:
        idle, after, together = (f"{result[key] / 1000:.1f}" for key in ("idle_kb", "after_kb", "together_kb"))
        cells = [idle, f"{result['calls']:,}", after, together]
        lines.append(f"| {result['name']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def heading(name):
    if name.startswith("burst "):
        return f"{name.removeprefix('burst ')} calls of `sleep 0.2` at once"
    if name.startswith("output "):
        return f"{growth_section.bytes_of(int(name.removeprefix('output ')))} of output"
    return HEADINGS[name]


def all_plots(results, growth=None):
    """Name and content of each plot."""
    def ratios(name):
        return [(result["name"], result["group"], result["ratio"]) for result in results[name]]

    memory = [(result["name"], result["group"], result["after_kb"] / 1000) for result in results["memory"]]
    return {
        "true.svg": bars("A call of true, as a multiple of a bare spawn of bash", ratios("true"), ""),
        "start.svg": bars("Start until tools are listed, as a multiple of a bare spawn", ratios("start"), ""),
        "memory.svg": bars("Resident MB of the server after its calls", memory, " MB"),
        **(growth_section.plots(growth) if growth else {}),
    }


def machine(run):
    """When, where and with what something was measured."""
    priority = "with realtime priority, which keeps other processes out" if run["realtime"] else \
        "without realtime priority: other processes were in the way"
    return (f"{run['date']}, {run['machine']}, {run['cores']} cores, Linux {run['kernel']}, {priority}; load {run['load']} when it "
            f"began. Binary: {run['version']}, {run['binary']}, {run['size'] / 1e6:.1f} MB.")


def page(results, growth=None):
    parts = [
        "# Performance",
        "`scripts/bench` wrote this page from `benches/results.json` and `benches/growth.json`; don't edit it. Each row was measured "
        "in a pair with a bare spawn of `bash -c` from a C program, call by call in random order, with a state folder of its own. "
        "Read the ratios: the same machine gives other times from hour to hour. \"bare spawn again\" shows how far a ratio is "
        "from 1 by chance.",
        machine(results["run"]),
    ]
    for name in results:
        if name in ("run", "memory"):
            continue
        parts.append(f"## {heading(name)}")
        note = NOTES.get(name.split()[0])
        parts += [note] if note else []
        if name == "true" and any(result["group"] == "peer" for result in results[name]):
            parts.append(PEERS_NOTE)
        parts.append(table(results[name]))
        if name in ("true", "start"):
            parts.append(f"![Ratios to a bare spawn](plots/{name}.svg)")
    parts += ["## Resident memory", "Megabytes of the server; in the last column with all other processes of its session.",
              memory_table(results["memory"]), "![Resident memory](plots/memory.svg)"]
    if growth:
        parts += growth_section.parts(growth, machine)
    return "\n\n".join(parts) + "\n"
