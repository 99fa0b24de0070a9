"""What we are compared with besides a bare spawn: installs it and makes its rows. A new peer is a row here.

From npm, in the versions of benches/peers/package.json, below the cache folder; bubblewrap from Debian's packages. What can't
be installed is named and left out.
"""

import glob
import json
import os
import platform
import shutil
import subprocess
import sys

import rows

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers")
# Debian's packages: command, package. Sandboxes of peers need all three.
PACKAGES = [("bwrap", "bubblewrap"), ("socat", "socat"), ("rg", "ripgrep")]
ARCHITECTURE = "arm64" if platform.machine() == "aarch64" else "x64"
NODE = f"node_modules/node-linux-{ARCHITECTURE}/bin/node"
# Codex itself, without the script in Node that only starts it.
CODEX = f"node_modules/@openai/codex-linux-{ARCHITECTURE}/vendor/*/bin/codex"
SANDBOX_RUNTIME = "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js"
# Servers of MCP: name, script below the folder of the peers, tool, its further arguments, share of the rounds, commands it needs.
SERVERS = [
    ("mcp-server-commands", "node_modules/mcp-server-commands/build/index.js", "run_command", {}, 1.0, []),
    ("desktop-commander", "node_modules/@wonderwhy-er/desktop-commander/dist/index.js", "start_process", {"timeout_ms": 60000}, 0.2, []),
    ("sandbox-runtime, as a library", "sandbox-runtime.mjs", "run", {}, 0.1, ["bwrap", "socat", "rg"]),
]


def install(log):
    """Installs what is missing: the folder of the peers."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "shellgate-tools", "bench-peers")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(SOURCES):
        shutil.copy(os.path.join(SOURCES, name), folder)
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"], cwd=folder, check=True,
                   stdout=sys.stderr)
    packages = [package for command, package in PACKAGES if not shutil.which(command)]
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], env=environment, stdout=sys.stderr)
        subprocess.run(["apt-get", "-o", "DPkg::Lock::Timeout=120", "install", "-y", "--no-install-recommends", *packages],
                       env=environment, stdout=sys.stderr)
        packages = [package for command, package in PACKAGES if not shutil.which(command)]
    if packages:
        log(f"missing, so some peers are left out; install these Debian packages: {', '.join(packages)}")
    return folder


def servers(folder):
    """Servers of MCP, which take part in every section."""
    found = []
    for name, script, tool, more, share, needed in SERVERS:
        script = os.path.join(folder, script)
        if os.path.exists(script) and all(map(shutil.which, needed)):
            found.append(rows.server(name, [node(folder), script], tool, group="peer", more=more, share=share))
    return found


def sandboxes(folder):
    """Other ways to run one confined command."""
    bubblewrap, codex = shutil.which("bwrap"), glob.glob(os.path.join(folder, CODEX))
    runtime = os.path.join(folder, SANDBOX_RUNTIME)
    found = []
    if bubblewrap:
        found.append(one_shot("bubblewrap", [
            bubblewrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", rows.ROOT, rows.ROOT, "--unshare-user",
            "--unshare-pid", "--unshare-net", "--die-with-parent", "/bin/bash", "-c"]))
    if codex:
        found.append(one_shot("`codex sandbox`", [codex[0], "sandbox", "--", "/bin/bash", "-c"], share=0.1))
        found.append(rows.Row("codex app-server, sandboxed", lambda text: [
            "server", "command/exec", codex_params(text), codex[0], "app-server"], group="peer", share=0.1))
    if os.path.exists(runtime) and bubblewrap:
        settings = os.path.join(folder, "sandbox-runtime.json")
        found.append(one_shot("sandbox-runtime, `srt`", [node(folder), runtime, "--settings", settings, "-c"], share=0.02))
    return found


def one_shot(name, words, share=1.0):
    return rows.Row(name, lambda text: ["program", *words, text], group="peer", share=share)


def codex_params(text):
    policy = {"type": "workspaceWrite", "writableRoots": [rows.ROOT], "networkAccess": False}
    return json.dumps({"command": ["/bin/bash", "-c", text], "cwd": rows.ROOT, "sandboxPolicy": policy, "timeoutMs": 300_000})


def node(folder):
    """The Node of the peers: some need a newer one than the checks."""
    own = os.path.join(folder, NODE)
    return own if os.path.exists(own) else shutil.which("node")
