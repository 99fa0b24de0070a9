"""Runs benches/client.c for a row and gives its times as medians and ratios."""

import contextlib
import json
import os
import shutil
import subprocess

import mcp
import peers
import rows

LIMIT_SECONDS = 3600
LINE = "a line of output that is about as long as lines of programs are\n"


class Place:
    """The folder that a run uses, with the compiled programs. Every measurement has its own home, root and state in it."""

    def __init__(self, folder, sources, shellgate):
        self.folder, self.shellgate = folder, shellgate
        # Cargo puts examples beside the binary of the same profile.
        self.fill_journal = os.path.join(os.path.dirname(shellgate), "examples", "fill_journal")
        self.client, self.server = self.compile(sources, "client"), self.compile(sources, "server")
        self.count = 0

    def compile(self, sources, name):
        program = os.path.join(self.folder, name)
        subprocess.run(["cc", "-O2", "-o", program, os.path.join(sources, f"{name}.c")], check=True)
        return program

    @contextlib.contextmanager
    def room(self, settings):
        """A new home with these settings, a new root and a new state folder, for as long as the block runs."""
        self.count += 1
        room = Room(os.path.join(self.folder, str(self.count)), settings)
        try:
            yield room
        finally:
            shutil.rmtree(room.folder, ignore_errors=True)

    def file_of(self, size):
        """A file of lines, made once."""
        path = os.path.join(self.folder, f"output-{size}.txt")
        if not os.path.exists(path):
            with open(path, "w") as file:
                whole, rest = divmod(size, len(LINE))
                file.writelines(LINE for _ in range(whole))
                file.write(LINE[:rest])
        return path


class Room:
    def __init__(self, folder, settings):
        self.folder, self.root, self.state = folder, f"{folder}/root", f"{folder}/state"
        os.makedirs(f"{folder}/home/.config/shellgate")
        os.mkdir(self.root)
        with open(f"{folder}/home/.config/shellgate/config.toml", "w") as file:
            file.write(settings)
        self.environment = {"PATH": os.environ["PATH"], "HOME": f"{folder}/home", "SHELLGATE_HOME": self.state, "LC_ALL": "C"}

    def serve(self, row):
        """A running server of the row, for Python; its request for a call of `true`."""
        _, method, params, *program = row.words("true")
        return mcp.Server(row.name, program, self.environment, self.root), method, json.loads(params)


def percentile(sorted_values, percent):
    return sorted_values[min(len(sorted_values) - 1, len(sorted_values) * percent // 100)]


def summary(values):
    values = sorted(values)
    return {"p25": percentile(values, 25), "median": percentile(values, 50), "p95": percentile(values, 95)}


def compared(times):
    """Of pairs of microseconds, the floor's first: both summaries and the ratio of the medians."""
    floor, own = summary([time[0] for time in times]), summary([time[1] for time in times])
    return {"rounds": len(times), "floor": floor, "row": own, "ratio": own["median"] / floor["median"]}


def pair(place, room, row, mode, numbers, text, floor_text=None):
    """One row and the bare spawn, round by round."""
    words = [word.replace(rows.ROOT, room.root) for word in row.words(text)]
    command = [place.client, mode, *map(str, numbers), floor_text or text, *words]
    with open(f"{room.folder}/errors", "w+") as errors:
        done = subprocess.run(command, env=room.environment, cwd=room.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors, text=True, timeout=LIMIT_SECONDS)
        errors.seek(0)
        if done.returncode:
            raise RuntimeError(f"{row.name}: {errors.read()[-600:]}")
    times = [tuple(map(float, line.split("\t"))) for line in done.stdout.splitlines()]
    return {"name": row.name, "group": row.group, **compared(times)}


def memory(place, row, calls):
    """Kilobytes of a server after its start and after many calls."""
    calls = row.rounds(calls)
    with place.room(row.settings) as room:
        server, method, params = room.serve(row)
        with server:
            pid = server.process.pid
            server.ask("tools/list", {})
            idle = mcp.memory_kb(pid)
            for _ in range(calls):
                server.ask(method, params)
            after, together = mcp.memory_kb(pid), mcp.memory_together_kb(pid, room.state)
    return {"name": row.name, "group": row.group, "idle_kb": idle, "after_kb": after, "together_kb": together, "calls": calls}


def all_rows(place, plan, peers_folder=None, log=print):
    """Everything that the plan asks for, as one tree for JSON."""
    floor, ours = rows.floor_server(place), rows.servers(place)
    others = peers.servers(peers_folder) if peers_folder else []
    sandboxes = peers.sandboxes(peers_folder) if peers_folder else []
    long_lived = [floor, *ours, *others]
    everything = [rows.control(), *long_lived, *rows.one_shots(place), *sandboxes]
    plain, default = ours[0], ours[1]
    keeping_all = [row.having(rows.KEEP_ALL_OUTPUT) for row in (plain, default)]

    # Name, rows, mode, rounds, number, text of the rows, text of the floor.
    sections = [
        ("true", everything, "calls", plan["rounds"], 20, "true", None),
        ("echo", [floor, plain, default], "calls", plan["rounds"], 20, "echo hi", None),
        ("start", long_lived, "starts", plan["starts"], 1, "true", None),
        *((f"burst {count}", [floor, plain, default, *others], "burst", plan["bursts"], count, "sleep 0.2", None)
          for count in plan["counts"]),
        *((f"output {size}", keeping_all, "calls", count, 1, f"cat {place.file_of(size)}", f"cat {place.file_of(size)} | cat > copy")
          for size, count in plan["outputs"]),
    ]
    results = {}
    for title, chosen, mode, rounds, number, text, floor_text in sections:
        results[title] = []
        for row in chosen:
            with place.room(row.settings) as room:
                result = pair(place, room, row, mode, [row.rounds(rounds), number], text, floor_text)
            results[title].append(result)
            log(f"{title:<18} {row.name:<40} {result['row']['median']:>10.0f} us  {result['ratio']:.2f}")
    results["memory"] = [memory(place, row, plan["memory_calls"]) for row in long_lived]
    return results
