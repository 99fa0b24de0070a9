"""Asks the Python SDKs of four APIs whether they take what `shellgate schema` prints.

    PYTHONPATH=FOLDER_WITH_THE_SDKS python3 validate.py path/to/shellgate

Each declaration goes through the SDK's own types, and then through its client to a server on this machine: it must arrive
there as it was declared. Each check is also given broken declarations, and must refuse them.
"""

import copy
import http.server
import json
import os
import subprocess
import sys
import threading
import warnings

os.environ["NO_PROXY"] = "127.0.0.1"

import anthropic
import mcp.types
import mcp_types._v2025_11_25
import mcp_types._v2026_07_28
import openai
from anthropic.types import ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google import genai
from google.genai import types as gemini_types
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.shared_params import FunctionDefinition
from pydantic import ConfigDict, TypeAdapter

DIALECTS = ["shellgate", "asimi", "gemini", "qwen", "agent-world"]

# An unknown type is only a warning to Gemini's SDK.
warnings.filterwarnings("error", message=".*is not a valid.*")
# The API refuses unknown keys, the types alone would not.
for declared in (ChatCompletionFunctionToolParam, FunctionDefinition, ToolParam):
    declared.__pydantic_config__ = ConfigDict(extra="forbid")


def same(kind, given, seen):
    if seen != given:
        raise ValueError(f"{kind} makes something else of it: {json.dumps(seen)}")


def schemas(schema):
    """A schema and all that are in it."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from schemas(child)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from schemas(schema[key])


def check_mcp(tool):
    for model in (mcp.types.Tool, mcp_types._v2025_11_25.Tool, mcp_types._v2026_07_28.Tool):
        read = model.model_validate(tool)
        same(model.__module__, tool, json.loads(read.model_dump_json(by_alias=True, exclude_none=True)))


def check_gemini(declaration):
    read = gemini_types.FunctionDeclaration.model_validate(declaration)
    same("FunctionDeclaration", declaration, read.model_dump(mode="json", by_alias=True, exclude_none=True))
    # What the API answers with an error, and the types don't know.
    for schema in schemas(declaration["parameters"]):
        if "additionalProperties" in schema:
            raise ValueError("Unknown name additionalProperties")
        if schema["type"] == "OBJECT" and not schema.get("properties"):
            raise ValueError("properties: should be non-empty for OBJECT type")
        if schema["type"] == "ARRAY" and "items" not in schema:
            raise ValueError("items: missing field")


# The keywords that every model takes in a strict function.
STRICT = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}


def check_openai(tool):
    TypeAdapter(ChatCompletionFunctionToolParam).validate_python(tool)
    parameters = tool["function"]["parameters"]
    same("strict", parameters, _ensure_strict_json_schema(copy.deepcopy(parameters), path=(), root=parameters))
    for schema in schemas(parameters):
        if unknown := schema.keys() - STRICT:
            raise ValueError(f"{unknown} is not permitted")
        if schema.get("additionalProperties"):
            raise ValueError("additionalProperties must be false")
    if tool["function"].get("strict") is not True or len(tool["function"]["description"]) > 1024:
        raise ValueError("not strict, or too long")


def check_anthropic(tool):
    TypeAdapter(ToolParam).validate_python(tool)
    # The type of `input_schema` also allows any object.
    TypeAdapter(InputSchemaTyped).validate_python(tool["input_schema"])


class Recorder(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent and answers that it was a mistake."""

    def do_POST(self):
        self.server.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(400)
        self.end_headers()
        self.wfile.write(b'{"error": {"message": "no"}}')

    def log_message(self, *_):
        pass


class Clients:
    """The SDKs' clients, before a server that shows what they sent."""

    def __init__(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Recorder)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}"
        self.openai_client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
        self.anthropic_client = anthropic.Anthropic(api_key="none", base_url=url, max_retries=0)
        options = gemini_types.HttpOptions(base_url=url)
        self.gemini_client = genai.Client(api_key="none", vertexai=False, http_options=options)

    def openai(self, tool):
        self.openai_client.chat.completions.create(model="m", messages=[], tools=[tool])

    def anthropic(self, tool):
        self.anthropic_client.messages.create(model="m", max_tokens=1, messages=[], tools=[tool])

    def gemini(self, declaration):
        config = gemini_types.GenerateContentConfig(tools=[{"function_declarations": [declaration]}])
        self.gemini_client.models.generate_content(model="m", contents="x", config=config)

    def check(self, api, declaration):
        """Sends it, and compares what arrives."""
        self.server.body = None
        try:
            getattr(self, api)(declaration)
        except (openai.BadRequestError, anthropic.BadRequestError, genai.errors.ClientError):
            pass
        tool = self.server.body["tools"][0]
        same(f"{api}'s client", declaration, tool["functionDeclarations"][0] if api == "gemini" else tool)


# Breaks that every check of an API must find: the path of a value, and what it is replaced by (None: removed).
BROKEN = {
    "mcp": [
        (["name"], None),
        (["description"], 5),
        (["inputSchema"], None),
        (["inputSchema", "type"], "string"),
        (["annotations", "readOnlyHint"], "perhaps"),
    ],
    "gemini": [
        (["strict"], True),
        (["parameters", "type"], "DICT"),
        (["parameters", "additionalProperties"], False),
        (["parameters", "required"], "command"),
        (["parameters", "properties"], {}),
        (["parameters", "properties", "command", "$comment"], "x"),
        (["parameters", "properties", "command", "type"], "text"),
        (["parameters", "properties", "command"], {"type": "ARRAY"}),
    ],
    "openai": [
        (["type"], "tool"),
        (["function", "name"], None),
        (["function", "strict"], False),
        (["function", "input_schema"], {}),
        (["function", "parameters", "required"], []),
        (["function", "parameters", "additionalProperties"], None),
        (["function", "parameters", "properties", "command", "minLength"], 1),
        (["function", "parameters", "properties", "command"], {"type": "object", "additionalProperties": {"type": "string"}}),
    ],
    "anthropic": [
        (["name"], None),
        (["parameters"], {}),
        (["input_schema"], None),
        (["input_schema", "type"], "string"),
        (["input_schema", "properties"], []),
    ],
}

CHECKS = {"mcp": check_mcp, "gemini": check_gemini, "openai": check_openai, "anthropic": check_anthropic}


def broken(declaration, path, value):
    declaration = copy.deepcopy(declaration)
    place = declaration
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return declaration


def main(shellgate):
    clients = Clients()
    fine = refused = 0
    for api, check in CHECKS.items():
        for dialect in DIALECTS:
            words = [shellgate, "schema", "--dialect", dialect, "--for", api]
            declaration = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
            check(declaration)
            if api != "mcp":
                clients.check(api, declaration)
            fine += 1
            for path, value in BROKEN[api]:
                try:
                    check(broken(declaration, path, value))
                except (ValueError, UserWarning):
                    refused += 1
                else:
                    sys.exit(f"{api}: a declaration with {'.'.join(path)} broken is taken: the check sees nothing")
    print(f"{fine} declarations are fine, {refused} broken ones were refused")


if __name__ == "__main__":
    main(sys.argv[1])
