"""What is compared: a row per way of running a command. A new row is a line here."""

import json
import os
import shutil

UNOBSERVED = "[sandbox]\nobserve = false\n"

# Servers of ours: name, flags, settings.
SERVERS = [
    ("`mcp`, sandbox `off`", ["--sandbox", "off"], ""),
    ("`mcp`, `workspace` (default)", ["--sandbox", "workspace"], ""),
    ("`mcp`, `workspace`, `observe = false`", ["--sandbox", "workspace"], UNOBSERVED),
    ("`mcp`, `read-only`", ["--sandbox", "read-only"], ""),
    ("`mcp`, `strict`", ["--sandbox", "strict"], ""),
    ("`mcp`, `workspace`, guarded", ["--sandbox", "workspace", "--network", "deny", "--exclude", "rm"], ""),
]
# Peers that scripts/bench --peers installs: name, program and words below the folder of the peers, tool.
PEERS = [
    ("mcp-server-commands", ["node", "node_modules/mcp-server-commands/build/index.js"], "run_command"),
    ("desktop-commander", ["node", "node_modules/@wonderwhy-er/desktop-commander/dist/index.js"], "start_process"),
]
# Tools whose arguments need more than the command.
MORE_ARGUMENTS = {"start_process": {"timeout_ms": 60000}}


def params(tool, text):
    return json.dumps({"name": tool, "arguments": {"command": text, **MORE_ARGUMENTS.get(tool, {})}}, separators=(",", ":"))


class Row:
    """A way, for client.c. `words` makes its words for a text; `settings` are written into its home folder."""

    def __init__(self, name, words, settings="", group="ours"):
        self.name, self.words, self.settings, self.group = name, words, settings, group


def server(name, program, tool="shell", settings="", group="ours"):
    return Row(name, lambda text: ["server", "tools/call", params(tool, text), *program], settings, group)


def floor_server(place):
    return server("C server", [place.server], group="floor")


def servers(place):
    return [server(name, [place.shellgate, "mcp", "--approve", "allow", *flags], settings=settings)
            for name, flags, settings in SERVERS]


def one_shots(place):
    """A process for each call."""
    ours = [place.shellgate]
    flags = ["--approve", "allow", "--sandbox", "off"]
    rows = [
        Row("`run`, sandbox `off`", lambda text: ["program", *ours, "run", *flags, text]),
        Row("`run`, `workspace`", lambda text: ["program", *ours, "run", "--approve", "allow", text]),
        Row("`call`, sandbox `off`", lambda text: ["program", *ours, "call", *flags, json.dumps({"command": text})]),
        Row("`--version`", lambda text: ["program", *ours, "--version"]),
    ]
    bubblewrap = shutil.which("bwrap")
    if bubblewrap:
        words = [bubblewrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "/bin/bash", "-c"]
        rows.append(Row("bubblewrap", lambda text: ["program", *words, text], group="peer"))
    return rows


def peers(folder):
    """The peers that are installed in the folder."""
    rows = []
    for name, (program, script), tool in PEERS:
        script = os.path.join(folder, script)
        if os.path.exists(script):
            rows.append(server(name, [shutil.which(program), script], tool, group="peer"))
    return rows


def control():
    """The bare spawn against itself: how far a ratio is from 1 by chance."""
    return Row("bare spawn again", lambda text: ["spawn", text], group="floor")
