"""An agent on a terminal, in tmux: a person reads what it shows and types."""

import os
import re
import subprocess
import time


class Screen:
    def __init__(self, folder, command, environment, cwd):
        self.socket = os.path.join(folder, "tmux")
        config = os.path.join(folder, "tmux.conf")
        with open(config, "w") as file:
            # What it showed last can be read after it has ended.
            file.write("set -g remain-on-exit on\nset -g history-limit 5000\n")
        words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command]
        self.tmux("-f", config, "new-session", "-d", "-x", "110", "-y", "45", *words, cwd=cwd)

    def tmux(self, *words, cwd=None):
        return subprocess.run(["tmux", "-S", self.socket, *words], cwd=cwd, text=True, capture_output=True).stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-J")

    def wait_for(self, fact, patience=90):
        until = time.monotonic() + patience
        while not re.search(fact, self.text()):
            assert time.monotonic() < until, f"waited in vain for {fact!r}:\n{self.text()}"
            time.sleep(0.1)

    def wait_until_gone(self, fact, patience=30):
        until = time.monotonic() + patience
        while re.search(fact, self.text()):
            assert time.monotonic() < until, f"{fact!r} stays:\n{self.text()}"
            time.sleep(0.1)

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def has_ended(self):
        return self.tmux("list-panes", "-F", "#{pane_dead}").strip() != "0"

    def wait_for_the_end(self, patience=60):
        until = time.monotonic() + patience
        while not self.has_ended():
            assert time.monotonic() < until, f"it doesn't end:\n{self.text()}"
            time.sleep(0.1)

    def close(self):
        self.tmux("kill-server")
