"""Drives `shellgate mcp` with the official Python SDK: every tool, on both transports, in both generations of the protocol.

    PYTHONPATH=FOLDER_WITH_THE_SDKS python3 mcp_client.py path/to/shellgate

Every answer is checked against the schema that its tool declares.
"""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

os.environ["NO_PROXY"] = "127.0.0.1"

import httpx2
import jsonschema
import mcp_types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

SHELLGATE = os.path.abspath(sys.argv[1])
OLDER, NEWER = "legacy", "2026-07-28"
TOOLS = {"shell", "shell_jobs", "shell_output", "shell_wait", "shell_input", "shell_stop"}
PATIENCE = 60


class Place:
    """A root and a state folder of its own."""

    def __init__(self, folder):
        self.root, self.state = os.path.join(folder, "root"), os.path.join(folder, "state")
        os.mkdir(self.root)
        self.env = {"SHELLGATE_HOME": self.state, "HOME": folder, "PATH": os.environ["PATH"]}

    def has(self, name):
        return os.path.exists(os.path.join(self.root, name))

    def shellgate(self, *words):
        done = subprocess.run([SHELLGATE, *words], env=self.env, cwd=self.root, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout


@contextlib.asynccontextmanager
async def stdio(place, flags):
    words = ["mcp", "--preset", "none", "--root", place.root, *flags]
    yield stdio_client(StdioServerParameters(command=SHELLGATE, args=words, env=place.env))


@contextlib.asynccontextmanager
async def http(place, flags):
    words = [SHELLGATE, "mcp", "--preset", "none", "--http", "0", "--root", place.root, *flags]
    server = subprocess.Popen(words, env=place.env, stderr=subprocess.PIPE, text=True)
    try:
        url, keys = re.search(r"(http://\S+/mcp); the key is in (.*)", server.stderr.readline()).groups()
        with open(keys) as file:
            key = file.read().split()[1]
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE) as client:
            yield streamable_http_client(url, http_client=client)
    finally:
        server.terminate()
        server.wait()


class Talk:
    """A client that checks what it gets."""

    def __init__(self, client, schemas):
        self.client, self.schemas = client, schemas

    async def call(self, tool, **arguments):
        return await self.checked(tool, arguments)

    async def checked(self, tool, arguments, **more):
        # The scenes look at facts that a model is told only if it asks.
        arguments = {"detail": "full", **arguments} if tool == "shell" else arguments
        result = await self.client.call_tool(tool, arguments, **more)
        assert len(result.content) == 1 and result.content[0].text, result
        jsonschema.validate(result.structured_content, self.schemas[tool])
        return result


@contextlib.asynccontextmanager
async def talk(transport, mode, place, *flags, answer=None):
    """A client; `answer` is what its user says to forms. Without one, it says that it has no forms."""

    async def elicited(_context, params):
        place.form = params
        return answer if not callable(answer) else await answer()

    callback = elicited if answer is not None else None
    async with transport(place, flags) as server:
        async with Client(server, mode=mode, elicitation_callback=callback, read_timeout_seconds=PATIENCE) as client:
            tools = (await client.list_tools()).tools
            yield Talk(client, {tool.name: tool.output_schema for tool in tools})


async def tools(transport, mode, place):
    """Each tool does what it is for."""
    async with talk(transport, mode, place, "--approve", "allow") as client:
        assert set(client.schemas) == TOOLS, client.schemas.keys()
        done = (await client.call("shell", command="echo out; echo err >&2; exit 7")).structured_content
        assert (done["exit_code"], done["stdout"], done["stderr"]) == (7, "out\n", "err\n"), done
        job = (await client.call("shell", command="echo one; read line; echo got $line; sleep 1000", stdin="word\n", background=True)).structured_content["job"]
        waited = (await client.call("shell_wait", job=job, pattern="got w")).structured_content
        assert (waited["reason"], waited["line"]) == ("matched", "got word"), waited
        read = (await client.call("shell_output", job=job, lines=1)).structured_content
        assert read["stdout"] == "got word\n", read
        listed = (await client.call("shell_jobs")).structured_content["jobs"]
        assert [one["status"] for one in listed if one["id"] == job] == ["running"], listed
        uri = f"shellgate://jobs/{job}/stdout"
        assert uri in [str(one.uri) for one in (await client.client.list_resources()).resources]
        assert (await client.client.read_resource(uri)).contents[0].text == "one\ngot word\n"
        assert "sleep 1000" in (await client.client.read_resource(f"shellgate://history/{job}")).contents[0].text
        stopped = (await client.call("shell_stop", job=job)).structured_content
        assert stopped["status"] == "canceled", stopped
        unknown = await client.call("shell_wait", job="zzz")
        assert unknown.is_error and unknown.structured_content["error"]["code"] == "unknown_job", unknown
        refused = await client.call("shell", program="ls")
        assert refused.is_error and refused.structured_content["error"]["code"] == "invalid_input", refused


async def interaction(transport, mode, place):
    """A job in a terminal gets what is typed."""
    async with talk(transport, mode, place, "--approve", "allow") as client:
        job = (await client.call("shell", command="read -p 'name? ' name; echo hello $name", pty=True, background=True)).structured_content["job"]
        await client.call("shell_wait", job=job, silence_ms=100, timeout_ms=10_000)
        await client.call("shell_input", job=job, text="ann")
        ended = (await client.call("shell_wait", job=job)).structured_content
        assert ended["status"] == "completed" and "hello ann" in ended["stdout"], ended


async def progress(transport, mode, place):
    """Output is told as it comes."""
    told = []

    async def tell(_progress, _total, message):
        told.append(message)
        open(os.path.join(place.root, "go"), "w").close()

    async with talk(transport, mode, place, "--approve", "allow") as client:
        # Ends only when the first line has been told.
        command = "echo first; while [ ! -e go ]; do sleep 0.02; done"
        done = await client.checked("shell", {"command": command}, progress_callback=tell)
        assert done.structured_content["status"] == "completed" and told[0] == "first\n", (done, told)


async def cancel(transport, mode, place):
    """A call that is taken back ends its command."""
    async with talk(transport, mode, place, "--approve", "allow") as client:
        command = "trap 'touch ended; exit' TERM; touch begun; while :; do sleep 0.02; done"
        call = asyncio.create_task(client.client.call_tool("shell", {"command": command}))
        await until(lambda: place.has("begun"))
        call.cancel()
        await asyncio.wait([call])
        await until(lambda: place.has("ended"))
        assert (await client.call("shell", command="echo next")).structured_content["stdout"] == "next\n"


async def asked(transport, mode, place):
    """Forms that are accepted, declined and not answered."""
    yes = types.ElicitResult(action="accept", content={"answer": "once"})
    async with talk(transport, mode, place, answer=yes) as client:
        done = (await client.call("shell", command="touch accepted")).structured_content
        assert done["status"] == "completed" and place.has("accepted"), done
        assert "in the agent's program" in done["verdict"]["approved_by"], done
        assert "touch accepted" in place.form.message
    async with talk(transport, mode, place, answer=types.ElicitResult(action="decline")) as client:
        denied = await client.call("shell", command="touch declined")
        assert denied.is_error and denied.structured_content["error"]["code"] == "denied_by_user", denied
        assert not place.has("declined")
    async with talk(transport, mode, place) as client:
        # This client has no forms, so the question waits in the queue.
        queued = (await client.call("shell", command="touch queued", wait_ms=100)).structured_content
        assert queued["status"] == "queued" and not place.has("queued"), queued
        place.shellgate("approvals", "approve", str(queued["approval"]["id"]))
        ended = (await client.call("shell_wait", job=queued["job"])).structured_content
        assert ended["status"] == "completed" and place.has("queued"), ended


async def unanswered(transport, mode, place):
    """A form that is still open when the question is answered from the queue."""

    async def never():
        await asyncio.sleep(PATIENCE)

    if mode == NEWER:
        # There the client asks between two calls, and no call waits.
        return
    async with talk(transport, mode, place, answer=never) as client:
        call = asyncio.create_task(client.call("shell", command="touch elsewhere"))
        await until(lambda: '"id"' in place.shellgate("approvals", "list", "--json"))
        number = re.search(r'"id":\s*(\d+)', place.shellgate("approvals", "list", "--json")).group(1)
        place.shellgate("approvals", "approve", number)
        assert (await call).structured_content["status"] == "completed" and place.has("elsewhere")


async def strangers(transport, mode, place):
    """What is not there is an error."""
    async with talk(transport, mode, place, "--approve", "allow") as client:
        for attempt in (client.client.call_tool("no_such_tool", {}), client.client.read_resource("shellgate://no/such")):
            try:
                await attempt
                raise AssertionError("it was answered")
            except MCPError:
                pass


async def until(happens):
    async with asyncio.timeout(PATIENCE):
        while not happens():
            await asyncio.sleep(0.02)


def is_removed(folder):
    """Removes a folder. False if a keeper that still ends made a file meanwhile."""
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.exists(folder)


async def main():
    for transport in (stdio, http):
        for mode in (OLDER, NEWER):
            for scene in (tools, interaction, progress, cancel, asked, unanswered, strangers):
                folder = tempfile.mkdtemp(prefix="shellgate-sdk-")
                try:
                    async with asyncio.timeout(2 * PATIENCE):
                        await scene(transport, mode, Place(folder))
                except BaseException:
                    print(f"FAILED: {scene.__name__} over {transport.__name__}, {mode}", file=sys.stderr)
                    raise
                finally:
                    await until(lambda: is_removed(folder))
    print("the Python SDK is content")


asyncio.run(main())
