"""A client of MCP servers on standard input and output, and the memory of a server and of the processes that share its state."""

import json
import os
import subprocess

LEAVE_SECONDS = 5
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Server:
    def __init__(self, name, program, environment, root):
        self.name, self.last_id = name, 0
        self.process = subprocess.Popen(program, env=environment, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.ask("initialize", HELLO)
        self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def send(self, method, params):
        """Sends a request: its number."""
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        return self.last_id

    def hear(self, numbers):
        """The results of these requests, by number."""
        self.process.stdin.flush()
        results = {}
        while results.keys() < set(numbers):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.name}: the server has ended")
            answer = json.loads(line)
            if answer.get("id") not in numbers:
                continue
            if "result" not in answer or answer["result"].get("isError"):
                raise RuntimeError(f"{self.name}: the server answers: {line[:600]}")
            results[answer["id"]] = answer["result"]
        return results

    def ask(self, method, params):
        number = self.send(method, params)
        return self.hear([number])[number]


def processes(state):
    """The processes that have this state folder in their environment."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"SHELLGATE_HOME={state}".encode() in file.read().split(b"\0"):
                    yield int(name)
        except OSError:
            continue


def is_named(pid, name):
    """Whether the process runs a program of this name, and has not ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            start, _, rest = file.read().rpartition(")")
    except OSError:
        return False
    return start.partition("(")[2] == name and rest.split()[0] not in "ZX"


def memory_kb(pid, field="VmRSS"):
    """`VmRSS` is what is resident now, `VmHWM` the most that ever was. 0 of a process that has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) for line in file if line.startswith(f"{field}:")), 0)
    except OSError:
        return 0


def memory_together_kb(pid, state, field="VmRSS"):
    """Of the server and of all processes that share its state folder."""
    return sum(memory_kb(each, field) for each in {pid, *processes(state)})
