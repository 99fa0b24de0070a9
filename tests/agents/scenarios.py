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


def exited(text, code):
    """That a command ended with this code: some agents send the text to the model, some the structured part."""
    has(text, rf'\[exit {code}\b|exit_code\W+{code}\b')


def runs(text):
    """Whether a result says that a job runs: as the closing line does, as a line of a list, or as a fact."""
    return re.search(r'\[running as job|(?m:^\W*01[0-9A-HJKMNP-TV-Z]{24} running\b)|status\W+running', text)


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
        has(results[0], "out-42", "err-line")
        exited(results[0], 3)


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
        exited(results[1], 0)
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
        has(results[0], "yes")
        exited(results[0], 0)
        assert os.path.exists(self.path("approved"))
        has(results[1], "denied_by_user", "not this one")
        assert not os.path.exists(self.path("denied"))


class Screen(Approval):
    """The same, answered in the agent's own program."""

    name = "screen"

    def check(self, results):
        assert len(results) == 2, results
        has(results[0], "yes")
        exited(results[0], 0)
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
        assert runs(results[0]), results[0]
        job = job_of(results[0])
        has(results[1], "tick-2")
        has(results[2], job, "running")
        # The text says only how it ended.
        has(results[3], rf"{job}|\[canceled")
        assert not runs(results[4]), results[4]


class Slow(Scenario):
    name = "slow"

    def script(self):
        result = yield "shell", {"command": "sleep 3; echo slow-$((20 + 2)); exit 4", "wait_ms": 500}
        job = job_of(result)
        for _ in range(10):
            result = yield "shell_wait", {"job": job}
            if not runs(result):
                break
        yield "shell_output", {"job": job}

    def check(self, results):
        assert len(results) >= 3, results
        assert runs(results[0]), results[0]
        exited(results[-2], 4)
        has(results[-1], "slow-22")


class Long(Scenario):
    """Long output is condensed, and the closing line says how to read all of it."""

    name = "long"

    def script(self):
        result = yield "shell", {"command": "seq -f 'test case_%g ... ok' 1 900; echo 'error: the last'; exit 5"}
        found = re.search(r'01[0-9A-HJKMNP-TV-Z]{24}', result)
        assert found, f"no id in: {result[:1500]}"
        yield "shell_output", {"job": found.group(0), "from_line": 450, "lines": 1}

    def check(self, results):
        assert len(results) == 2, results
        exited(results[0], 5)
        has(results[0], "error: the last", r'condensed')
        assert "case_450" not in results[0], results[0][:3000]
        has(results[1], r'case_450 ... ok')


ALL = [Command, Refusal, Approval, Job, Slow, Long]
