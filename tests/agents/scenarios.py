"""What is done through each agent: the model's part as a script, a person's part beside it, and what must come of it.

A script yields tool calls and is sent what the agent told the model. `check` looks at those texts and at the world. The
texts differ from agent to agent (one sends the text, one the structured part, one wraps both), so they are searched for
facts, not compared.
"""

import os
import re


class Scenario:
    """`place` has the root, a mark that names our processes, and `shellgate(...)` to do what a person would."""

    name = ""
    # Whether questions must go to the queue.
    asks = False
    # Whether the agent keeps its own shell: that it is there unless it was switched off.
    own_shell = False

    def __init__(self, place):
        self.place = place

    def script(self):
        raise NotImplementedError
        yield

    def beside(self):
        """What a person does meanwhile, again and again until the agent ends."""

    def check(self, results):
        """Raises where something isn't as it should be."""

    def path(self, name):
        return os.path.join(self.place.root, name)


def has(text, *facts):
    for fact in facts:
        assert re.search(fact, text), f"no {fact!r} in: {text[:1500]}"


def job_of(text):
    """The name of the job in a result."""
    found = re.search(r'job\W+(01[0-9A-HJKMNP-TV-Z]{24})', text, re.I)
    assert found, f"no job in: {text[:1500]}"
    return found.group(1)


class Command(Scenario):
    name = "command"
    own_shell = True

    def script(self):
        yield "shell", {"command": "echo out-$((40 + 2)); echo err-line >&2; exit 3", "description": "three facts"}

    def check(self, results):
        assert len(results) == 1, results
        has(results[0], "out-42", "err-line", r'exit_code\W+3\b')


class Refusal(Scenario):
    name = "refusal"

    def script(self):
        yield "shell", {"command": "touch forbidden"}
        # The same through a program that is allowed: that it was the rule which said no.
        yield "shell", {"command": "echo made > allowed"}

    def check(self, results):
        assert len(results) == 2, results
        has(results[0], "denied_by_policy", "`?touch`? is excluded")
        assert not os.path.exists(self.path("forbidden"))
        has(results[1], r'exit_code\W+0\b')
        assert os.path.exists(self.path("allowed"))


class Approval(Scenario):
    name = "approval"
    asks = True

    def script(self):
        yield "shell", {"command": "echo yes | tee approved"}
        yield "shell", {"command": "echo no | tee denied"}

    def beside(self):
        for question in self.place.json("approvals", "list"):
            if "approved" in str(question["command"]):
                self.place.shellgate("approvals", "approve", str(question["id"]))
            else:
                self.place.shellgate("approvals", "deny", str(question["id"]), "--reason", "not this one")

    def check(self, results):
        assert len(results) == 2, results
        has(results[0], r'exit_code\W+0\b', "yes")
        assert os.path.exists(self.path("approved"))
        has(results[1], "denied_by_user", "not this one")
        assert not os.path.exists(self.path("denied"))


class Screen(Approval):
    """The same, answered in the agent's own program."""

    name = "screen"

    def check(self, results):
        assert len(results) == 2, results
        has(results[0], r'exit_code\W+0\b', "yes")
        assert os.path.exists(self.path("approved"))
        has(results[1], "denied_by_user")
        assert not os.path.exists(self.path("denied"))


class Job(Scenario):
    name = "job"

    def script(self):
        command = f"echo tick-$((1 + 1)); sleep {self.place.mark}"
        started = yield "shell", {"command": command, "background": True}
        job = job_of(started)
        yield "shell_output", {"job": job}
        yield "shell_jobs", {}
        yield "shell_stop", {"job": job}
        yield "shell_jobs", {}

    def check(self, results):
        assert len(results) == 5, results
        has(results[0], "running")
        job = job_of(results[0])
        has(results[1], "tick-2")
        has(results[2], job, "running")
        has(results[3], job)
        assert not re.search(r'status\W+running', results[4]), results[4]


class Slow(Scenario):
    name = "slow"

    def script(self):
        result = yield "shell", {"command": "sleep 3; echo slow-$((20 + 2)); exit 4", "wait_ms": 500}
        job = job_of(result)
        for _ in range(10):
            result = yield "shell_wait", {"job": job}
            if not re.search(r'status\W+running', result):
                break
        yield "shell_output", {"job": job}

    def check(self, results):
        assert len(results) >= 3, results
        has(results[0], r'status\W+running')
        has(results[-2], r'exit_code\W+4\b')
        has(results[-1], "slow-22")


ALL = [Command, Refusal, Approval, Job, Slow]
