"""Runs benches/client.c for a row and gives its times as medians and ratios."""

import json
import os
import subprocess

import rows

LIMIT_SECONDS = 1800


class Place:
    """The folder that a run uses, with the compiled programs. Every measurement has its own home, root and state in it."""

    def __init__(self, folder, sources, shellgate):
        self.folder, self.shellgate = folder, shellgate
        self.client, self.server = self.compile(sources, "client"), self.compile(sources, "server")
        self.count = 0

    def compile(self, sources, name):
        program = os.path.join(self.folder, name)
        subprocess.run(["cc", "-O2", "-o", program, os.path.join(sources, f"{name}.c")], check=True)
        return program

    def prepare(self, row):
        """A new home with the row's settings, a new root and a new state folder: environment, root."""
        self.count += 1
        own = os.path.join(self.folder, str(self.count))
        os.makedirs(f"{own}/home/.config/shellgate")
        os.mkdir(f"{own}/root")
        with open(f"{own}/home/.config/shellgate/config.toml", "w") as file:
            file.write(row.settings)
        environment = {"PATH": os.environ["PATH"], "HOME": f"{own}/home", "SHELLGATE_HOME": f"{own}/state", "LC_ALL": "C"}
        return environment, f"{own}/root"


def percentile(sorted_values, percent):
    return sorted_values[min(len(sorted_values) - 1, len(sorted_values) * percent // 100)]


def summary(values):
    values = sorted(values)
    return {"p25": percentile(values, 25), "median": percentile(values, 50), "p95": percentile(values, 95)}


def pair(place, row, mode, numbers, text, floor_text=None):
    """One row and the bare spawn, round by round: microseconds of both, and the ratio of the medians."""
    environment, root = place.prepare(row)
    command = [place.client, mode, *map(str, numbers), floor_text or text, *row.words(text)]
    with open(f"{root}/../errors", "w+") as errors:
        done = subprocess.run(command, env=environment, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, text=True, timeout=LIMIT_SECONDS)
        errors.seek(0)
        if done.returncode:
            raise RuntimeError(f"{row.name}: {errors.read()[-600:]}")
    times = [list(map(float, line.split("\t"))) for line in done.stdout.splitlines()]
    floor, own = summary([time[0] for time in times]), summary([time[1] for time in times])
    return {"name": row.name, "group": row.group, "rounds": len(times), "floor": floor, "row": own,
            "ratio": own["median"] / floor["median"]}


def resident_kb(pid, state):
    """Resident memory of the server, and of all processes that share its state folder."""
    own = together = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                is_ours = int(name) == pid or f"SHELLGATE_HOME={state}".encode() in file.read().split(b"\0")
            if not is_ours:
                continue
            with open(f"/proc/{name}/status") as file:
                kb = next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), 0)
        except OSError:
            continue
        together += kb
        own = kb if int(name) == pid else own
    return own, together


def memory(place, row, calls):
    """Kilobytes of a server after its start and after many calls."""
    environment, root = place.prepare(row)
    _, method, params, *program = row.words("true")
    server = subprocess.Popen(program, env=environment, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)

    def ask(number, method, params):
        request = f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}\n'
        server.stdin.write(request)
        server.stdin.flush()
        while True:
            line = server.stdout.readline()
            if not line:
                raise RuntimeError(f"{row.name}: the server has ended")
            answer = json.loads(line)
            if answer.get("id") == number:
                return

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
    ask(1, "initialize", json.dumps(hello))
    server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    ask(2, "tools/list", "{}")
    idle, _ = resident_kb(server.pid, environment["SHELLGATE_HOME"])
    for number in range(calls):
        ask(number + 3, method, params)
    after, together = resident_kb(server.pid, environment["SHELLGATE_HOME"])
    server.stdin.close()
    try:
        server.wait(timeout=5)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    server.stdout.close()
    return {"name": row.name, "group": row.group, "idle_kb": idle, "after_kb": after, "together_kb": together, "calls": calls}


def all_rows(place, plan, peers_folder=None, log=print):
    """Everything that the plan asks for, as one tree for JSON."""
    floor, ours = rows.floor_server(place), rows.servers(place)
    others = rows.peers(peers_folder) if peers_folder else []
    long_lived = [floor, *ours, *others]
    everything = [rows.control(), *long_lived, *rows.one_shots(place)]
    plain, default = ours[0], ours[1]
    file = os.path.join(place.folder, "output.txt")
    with open(file, "w") as output:
        line = "a line of output that is about as long as lines of programs are\n"
        output.writelines(line for _ in range(plan["output_bytes"] // len(line)))
    into_file = f"cat {file} | cat > copy"

    sections = [
        ("true", everything, "calls", [plan["rounds"], 20], "true", None),
        ("echo", [floor, plain, default], "calls", [plan["rounds"], 20], "echo hi", None),
        ("start", long_lived, "starts", [plan["starts"], 1], "true", None),
        *((f"burst {count}", [floor, plain, default, *others], "burst", [plan["bursts"], count], "sleep 0.2", None)
          for count in plan["counts"]),
        ("output", [plain, default], "calls", [plan["outputs"], 1], f"cat {file}", into_file),
    ]
    results = {}
    for title, chosen, mode, numbers, text, floor_text in sections:
        results[title] = []
        for row in chosen:
            result = pair(place, row, mode, numbers, text, floor_text)
            results[title].append(result)
            log(f"{title:<10} {row.name:<40} {result['row']['median']:>10.0f} us  {result['ratio']:.2f}")
    results["memory"] = [memory(place, row, plan["memory_calls"]) for row in long_lived]
    return results
