"""A home, a project and a state folder for one agent, and the processes that are ours in it."""

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

# A folder with the programs that tests/programs.tsv declares.
PROGRAMS = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/test-programs"), "folder"],
                          check=True, capture_output=True, text=True).stdout.strip()

RULES = """\
[policy]
default = "allow"
exclude = ["touch"]
redirects = "allow"

[[policy.rule]]
prefix = ["tee"]
decision = "ask"
reason = "writes files"

[approval]
mode = "ask"
"""


class Place:
    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="shellgate-agent-")
        self.home = os.path.join(self.folder, "home")
        self.root = os.path.join(self.folder, "project")
        self.state = os.path.join(self.folder, "state")
        os.makedirs(self.home)
        os.makedirs(self.root)
        # A number that no other process sleeps for.
        self.mark = f"36{random.randrange(10**8):08d}"
        self.write(".config/shellgate/config.toml", RULES)

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def environment(self, agent=None):
        variables = {
            "HOME": self.home, "SHELLGATE_HOME": self.state, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
            "PATH": PROGRAMS, "XDG_CONFIG_HOME": os.path.join(self.home, ".config"),
        }
        if agent:
            variables["PATH"] = f"{agent.node}:{variables['PATH']}"
            variables.update(agent.environment())
        return variables

    def shellgate(self, *words):
        return subprocess.run([self.program, *words], env=self.environment(), cwd=self.root, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def json(self, *words):
        output = self.shellgate(*words, "--json")
        return json.loads(output.stdout) if output.returncode == 0 else []

    def left(self):
        """What is left of ours: keepers, servers, commands."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
                with open(f"/proc/{pid}/environ", "rb") as file:
                    mine = self.home.encode() in file.read()
                with open(f"/proc/{pid}/stat") as file:
                    dead = file.read().rsplit(") ", 1)[1][0] in "ZX"
            except OSError:
                continue
            server = mine and line.startswith(self.program)
            if not dead and (self.mark in line or server):
                found.append(f"{pid} {line}")
        sessions = os.path.join(self.state, "sessions")
        if os.path.isdir(sessions):
            found += [f"keeper {name}" for name in os.listdir(sessions) if "." in name]
        return found

    def wait_until_nothing_is_left(self, patience=10):
        until = time.monotonic() + patience
        while self.left() and time.monotonic() < until:
            time.sleep(0.05)
        return self.left()

    def remove(self):
        if not os.path.isdir(self.folder):
            return
        self.shellgate("stop", "--all", "--now")
        # Agents leave processes of their own behind, which go on writing to their home folder while it is removed.
        self.end_processes()
        shutil.rmtree(self.folder)

    def processes(self):
        """All living processes whose environment names our home folder."""
        found = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if self.home.encode() in file.read() and pid != os.getpid():
                        found.append(pid)
            except OSError:
                continue
        return found

    def end_processes(self, patience=5):
        until = time.monotonic() + patience
        while (found := self.processes()) and time.monotonic() < until:
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.05)
        assert not found, f"processes that can't be ended: {found}"
