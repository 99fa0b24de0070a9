"""How the cost grows with the size of something: output, record, rules, jobs, command text, watchers.

Each subject gives curves; a point of a curve is a size with the times of both, the way and the floor, taken in pairs as
measure.py takes them. A new subject is a function here and its words in growth_section.py.
"""

import json
import os
import subprocess
import time

import mcp
import rows
import watchers
from measure import pair

FULL = {
    # Of each: size, rounds.
    "output": [(1_000, 100), (10_000, 100), (100_000, 100), (1_000_000, 50), (10_000_000, 20), (100_000_000, 7), (1_000_000_000, 3)],
    "record": [(1, 60), (10, 60), (100, 60), (1_000, 60), (10_000, 60), (100_000, 30), (1_000_000, 5)],
    "rules": [(10, 100), (100, 100), (1_000, 100), (10_000, 50)],
    "jobs": [(1, 60), (10, 60), (100, 60), (1_000, 30)],
    "text": [(100, 60), (1_000, 60), (10_000, 60), (100_000, 30), (1_000_000, 30)],
    "watchers": [(1, 60), (2, 60), (5, 60), (10, 60), (20, 60), (50, 60)],
}
SMOKE = {
    "output": [(1_000, 2), (10_000, 2), (100_000, 2)],
    "record": [(1, 2), (30, 2), (300, 2)],
    "rules": [(10, 2), (100, 2)],
    "jobs": [(1, 2), (5, 2)],
    "text": [(100, 2), (1_000, 2), (200_000, 1)],
    "watchers": [(1, 2), (3, 2)],
}
WARM_UP = 2
STOP_SECONDS = 60
# More jobs than are measured.
MANY_JOBS = "[limits]\njobs_per_session = 65536\nmax_running = 65536\n"
# One session for all that a subject starts.
SESSION = ["--session", "growth"]
OFF = ["--sandbox", "off"]
# A text of many commands, and one of much data: both are allowed without a rule.
TEXT_LINE = "grep -n word src/file.txt | head -3\n"
HERE_DOCUMENT = ("cat <<'END'\n", "a line of text that a program reads\n", "END\n")


class Curve:
    """The points of one way; `add` measures one more."""

    def __init__(self, name, log):
        self.name, self.points, self.log = name, [], log

    def add(self, size, result, **more):
        point = {"size": size, **{key: result[key] for key in ("rounds", "floor", "row", "ratio")}, **more}
        self.points.append(point)
        self.log(f"{self.name:<50} {size:>11} {result['row']['median']:>10.0f} us  {result['ratio']:.2f}")

    def tree(self):
        return {"name": self.name, "points": self.points}


def command(place, name, *words, kind="program"):
    """A process of ours for each call."""
    return rows.Row(name, lambda _: [kind, place.shellgate, *words])


def server(place, name, flags=OFF):
    return rows.our_server(place, name, [*SESSION, *flags])


def ours(place, room, *words):
    """Runs a command of ours and gives what it prints."""
    done = subprocess.run([place.shellgate, *words], env=room.environment, cwd=room.root, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"shellgate {' '.join(words)}: {done.stderr[-600:]}")
    return done.stdout


def output(place, sizes, log):
    """A call whose command prints that much; and the most memory that server and keeper ever had in such calls."""
    row = server(place, "`mcp`, sandbox `off`").having(rows.KEEP_ALL_OUTPUT)
    curve = Curve(row.name, log)
    for size, rounds in sizes:
        text = f"cat {place.file_of(size)}"
        with place.room(row.settings) as room:
            result = pair(place, room, row, "calls", [rounds, WARM_UP], text, f"{text} | cat > copy")
        with place.room(row.settings) as room:
            running, method, params = room.serve(row)
            with running:
                params["arguments"]["command"] = text
                for _ in range(WARM_UP):
                    running.ask(method, params)
                pid = running.process.pid
                own = mcp.memory_kb(pid, "VmHWM")
                together = mcp.memory_together_kb(pid, room.state, "VmHWM")
        curve.add(size, result, server_kb=own, keeper_kb=together - own)
    return [curve]


def record(place, sizes, log):
    """With that many entries in the record: a call, the list of past commands, a check of the whole chain, a start."""
    call, start = server(place, "a call of `true` over `mcp`"), server(place, "start of a server")
    ways = [(call, "calls"), (start, "starts"), (command(place, "`history`", "history"), "calls"),
            (command(place, "`audit verify`", "audit", "verify"), "calls")]
    curves = [Curve(row.name, log) for row, _ in ways]
    for size, rounds in sizes:
        with place.room("") as room:
            os.mkdir(room.state, 0o700)
            subprocess.run([place.fill_journal, room.state, str(size)], check=True, stdout=subprocess.DEVNULL)
            for (row, mode), curve in zip(ways, curves):
                curve.add(size, pair(place, room, row, mode, [rounds, WARM_UP], "true"))
            entries = json.loads(ours(place, room, "audit", "verify", "--json"))["entries"]
            if entries < size:
                raise RuntimeError(f"the record has {entries} entries, not {size}")
    return curves


def rules_of(count):
    """Settings with that many rules, of each kind a third. None is about the command that is called."""
    allowed, denied, tables = [], [], []
    for number in range(count):
        if number % 3 == 0:
            allowed.append(f'"tool-{number} show *"')
        elif number % 3 == 1:
            denied.append(f'"tool-{number} remove"')
        else:
            tables.append(f'[[policy.rule]]\nprefix = ["tool-{number}", "push"]\ndecision = "ask"\n')
    return f"[policy]\nallow = [{', '.join(allowed)}]\ndeny = [{', '.join(denied)}]\n{''.join(tables)}"


def rules(place, sizes, log):
    """With that many rules in the settings: a call, a guarded call, a start."""
    off, guarded = server(place, "sandbox `off`"), server(place, "guarded", ["--sandbox", "workspace"])
    ways = [(off, "calls", "a call, sandbox `off`"), (guarded, "calls", "a call, `workspace`, guarded"),
            (off, "starts", "start of a server"), (command(place, "", "run", "--approve", "allow", *OFF, "true"), "calls", "`run`")]
    curves = [Curve(name, log) for _, _, name in ways]
    for size, rounds in sizes:
        for (row, mode, _), curve in zip(ways, curves):
            with place.room(rules_of(size)) as room:
                curve.add(size, pair(place, room, row, mode, [rounds, WARM_UP], "true"))
    return curves


def jobs(place, sizes, log):
    """With that many jobs running in the session: a call, the list of jobs."""
    call = server(place, "a call of `true` over `mcp`").having(MANY_JOBS)
    ways = [call, command(place, "`jobs`", "jobs")]
    curves = [Curve(row.name, log) for row in ways]
    for size, rounds in sizes:
        with place.room(MANY_JOBS) as room:
            running, method, params = room.serve(call)
            with running:
                params["arguments"] = {"command": "sleep 86400", "background": True}
                running.hear([running.send(method, params) for _ in range(size)])
                try:
                    for row, curve in zip(ways, curves):
                        curve.add(size, pair(place, room, row, "calls", [rounds, WARM_UP], "true"))
                    listed = json.loads(ours(place, room, "jobs", "--json"))["jobs"]
                    if sum(job["status"] == "running" for job in listed) < size:
                        raise RuntimeError(f"of {size} jobs, some don't run")
                finally:
                    stop(place, room)
    return curves


def stop(place, room):
    """Stops all jobs of a room, and waits until no process of it is left."""
    words = [place.shellgate, "stop", "--all", "--now"]
    subprocess.run(words, env=room.environment, cwd=room.root, stdin=subprocess.DEVNULL, capture_output=True)
    end = time.monotonic() + STOP_SECONDS
    jobs = [pid for pid in mcp.processes(room.state) if mcp.is_named(pid, "sleep")]
    while any(mcp.is_named(pid, "sleep") for pid in jobs):
        if time.monotonic() > end:
            raise RuntimeError("jobs run on after `stop --all --now`")
        time.sleep(0.05)


def filled(begin, line, end, size):
    """A text of exactly that many bytes: whole lines, and the beginning of one more in a comment or as data."""
    room = size - len(begin) - len(end) - 2
    whole, rest = divmod(room, len(line))
    return f"{begin}{line * whole}#{line[:rest].replace(chr(10), ' ')}\n{end}"


def texts(size):
    """Command texts of that many bytes, by kind."""
    yield "many commands", filled("", TEXT_LINE, "", size)
    yield "much data", filled(*HERE_DOCUMENT, size)


def text(place, sizes, log):
    """`check` of a text of that many bytes."""
    curves = {name: Curve(f"`check`, {name}", log) for name, _ in texts(sizes[0][0])}
    for size, rounds in sizes:
        for name, content in texts(size):
            with place.room("") as room:
                file = os.path.join(room.root, "text")
                with open(file, "w") as out:
                    out.write(content)
                row = command(place, name, "check", "--file", file, kind="judge")
                result = pair(place, room, row, "calls", [rounds, WARM_UP], "true")
                curves[name].add(size, result, **refusal(place, room, file))
    return list(curves.values())


def refusal(place, room, file):
    """Why the text is not judged, in the words of `check`: empty if it is, and allowed."""
    words = [place.shellgate, "check", "--json", "--file", file]
    done = subprocess.run(words, env=room.environment, cwd=room.root, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    view = json.loads(done.stdout)
    if view["verdict"] == "allow":
        return {}
    if view["verdict"] == "ask":
        raise RuntimeError(f"a text is not allowed: {view['reasons'][0]['message']}")
    return {"refused": view["reasons"][0]["message"].replace(f"`{file}`", "the text")}


def follow(place, sizes, log):
    """That many processes that follow a job's output: until all of them have a new line."""
    row = server(place, "`logs -f`").having(MANY_JOBS)
    curve = Curve(row.name, log)
    for size, rounds in sizes:
        with place.room(row.settings) as room:
            curve.add(size, watchers.measure(place, room, row, size, rounds, WARM_UP))
    return [curve]


SUBJECTS = {"output": output, "record": record, "rules": rules, "jobs": jobs, "text": text, "watchers": follow}


def all_subjects(place, plan, log=print):
    """Everything that the plan asks for, as one tree for JSON."""
    results = {}
    for name, sizes in plan.items():
        log(f"growth: {name}")
        results[name] = [curve.tree() for curve in SUBJECTS[name](place, sizes, log)]
    return results
