"""What is compared: a row per way of running a command. A new row is a line here."""

import json

# In the words of a row, the folder that the commands run in.
ROOT = "@ROOT@"
# Output is kept whole, as it is in the file of the floor.
KEEP_ALL_OUTPUT = "[limits]\ncapture_bytes = 1099511627776\n"
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


class Row:
    """A way, for client.c. `words` makes its words for a text; `settings` are written into its home folder.

    `share` is the part of the rounds that it gets: a slow one gets fewer.
    """

    def __init__(self, name, words, settings="", group="ours", share=1.0):
        self.name, self.words, self.settings, self.group, self.share = name, words, settings, group, share

    def having(self, settings):
        """The same way with these settings."""
        return Row(self.name, self.words, settings, self.group, self.share)

    def rounds(self, count):
        return max(1, round(count * self.share))


def params(tool, text, more):
    return json.dumps({"name": tool, "arguments": {"command": text, **more}}, separators=(",", ":"))


def server(name, program, tool="shell", settings="", group="ours", more=None, share=1.0):
    """A server of MCP; `more` is what its tool needs besides the command."""
    return Row(name, lambda text: ["server", "tools/call", params(tool, text, more or {}), *program], settings, group, share)


def floor_server(place):
    return server("C server", [place.server], group="floor")


def our_server(place, name, flags, settings=""):
    return server(name, [place.shellgate, "mcp", "--approve", "allow", *flags], settings=settings)


def servers(place):
    return [our_server(place, *row) for row in SERVERS]


def one_shots(place):
    """A process for each call."""
    ours = [place.shellgate]
    flags = ["--approve", "allow", "--sandbox", "off"]
    return [
        Row("`run`, sandbox `off`", lambda text: ["program", *ours, "run", *flags, text]),
        Row("`run`, `workspace`", lambda text: ["program", *ours, "run", "--approve", "allow", text]),
        Row("`call`, sandbox `off`", lambda text: ["program", *ours, "call", *flags, json.dumps({"command": text})]),
        Row("`--version`", lambda text: ["program", *ours, "--version"]),
    ]


def control():
    """The bare spawn against itself: how far a ratio is from 1 by chance."""
    return Row("bare spawn again", lambda text: ["spawn", text], group="floor")
