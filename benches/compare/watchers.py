"""Many processes that follow the output of one job, beside as many `tail -f` of a file.

A job prints what it reads from a named pipe, so that this program says when. A round writes a line and ends when every process
has printed it.
"""

import contextlib
import os
import random
import selectors
import subprocess
import time

from measure import compared

LIMIT_SECONDS = 60
LINE = b"a line that all of them wait for\n"


class Followers:
    """Processes whose output is read here."""

    def __init__(self, words, count, room):
        self.selector, self.processes = selectors.DefaultSelector(), []
        for _ in range(count):
            process = subprocess.Popen(words, env=room.environment, cwd=room.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
            os.set_blocking(process.stdout.fileno(), False)
            self.selector.register(process.stdout, selectors.EVENT_READ)
            self.processes.append(process)

    def hear_line(self):
        """Waits until each has printed one more line."""
        missing = {process.stdout: len(LINE) for process in self.processes}
        end = time.monotonic() + LIMIT_SECONDS
        while missing:
            for key, _ in self.selector.select(max(0.0, end - time.monotonic())):
                missing[key.fileobj] -= len(os.read(key.fd, len(LINE)))
                if missing[key.fileobj] == 0:
                    del missing[key.fileobj]
            if time.monotonic() > end:
                raise RuntimeError("a process that follows the output doesn't print a line of it")

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        self.selector.close()


class Pipe:
    """A named pipe that a command reads."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        # Both ends, so that neither its reader nor this program waits for the other.
        self.end = os.open(path, os.O_RDWR)

    def write(self):
        os.write(self.end, LINE)

    def close(self):
        os.close(self.end)


def measure(place, room, row, count, rounds, warm_up):
    """Microseconds from writing a line until `count` processes have it, in pairs with the floor."""
    with contextlib.ExitStack() as stack:
        ours, bare = (stack.enter_context(contextlib.closing(Pipe(os.path.join(room.root, name)))) for name in ("ours", "bare"))
        server, method, params = room.serve(row)
        stack.enter_context(server)
        params["arguments"] = {"command": f"exec cat {ours.path}", "background": True}
        job = server.ask(method, params)["structuredContent"]["job"]
        stop = [place.shellgate, "stop", job, "--now"]
        stack.callback(subprocess.run, stop, env=room.environment, check=True, stdout=subprocess.DEVNULL)
        copy = os.path.join(room.root, "copy")
        with open(copy, "wb") as file:
            cat = subprocess.Popen(["cat", bare.path], stdout=file)
        stack.callback(cat.wait)
        stack.callback(cat.kill)
        sides = [(bare, ["tail", "-n", "+1", "-f", copy]), (ours, [place.shellgate, "logs", "-f", job])]
        sides = [(pipe, stack.enter_context(contextlib.closing(Followers(words, count, room)))) for pipe, words in sides]
        order, times = random.Random(12345), []
        for number in range(-warm_up, rounds):
            took = [0.0, 0.0]
            for side in order.sample((0, 1), 2):
                pipe, followers = sides[side]
                start = time.perf_counter()
                pipe.write()
                followers.hear_line()
                took[side] = (time.perf_counter() - start) * 1e6
            if number >= 0:
                times.append(took)
    return compared(times)
