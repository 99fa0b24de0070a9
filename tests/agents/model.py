"""A stand-in for models: answers four APIs with the tool calls of a script.

A script is a generator. It yields a tool's name and its arguments, is sent what the agent told the model about that
call, and ends when the model would have no more to do. Agents send the whole conversation with each request, so the
script is run from its start every time, with the results that are in the conversation: nothing is remembered here
but what was seen last, for the test to look at.

Tools go by the names that the server gave them; how each agent calls them is found in what it declares.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER = "shellgate"


class Model:
    """Serves one script at a time on a port of its own."""

    def __init__(self):
        self.lock = threading.Lock()
        self.script = None
        self.results = []
        self.declared = set()
        self.done = False
        self.trouble = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                reply(self, 200, "application/json", json.dumps({"object": "list", "data": [{"id": "stub"}]}))

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                path = self.path.split("?")[0]
                for ending, api in APIS.items():
                    if path.endswith(ending):
                        streams = api.streams(self.path, body)
                        kind = "text/event-stream" if streams else "application/json"
                        try:
                            reply(self, 200, kind, model.answer(api, body, streams))
                        except (BrokenPipeError, ConnectionResetError):
                            pass
                        return
                reply(self, 404, "application/json", json.dumps({"error": {"message": f"no {path} here"}}))

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def play(self, script):
        """From now on, answers as `script` says."""
        with self.lock:
            self.script, self.results, self.declared, self.done, self.trouble = script, [], set(), False, []

    def answer(self, api, body, streams):
        with self.lock:
            tools = {}
            for name, call, schema in api.tools(body):
                if SERVER in call.get("namespace", name):
                    tools[name.split(SERVER)[-1].lstrip("_")] = (call, schema)
            # Titles, summaries and the like are asked for without tools.
            if not tools or self.script is None:
                return api.text(body, "fine", streams)
            self.declared = {name for name, _, _ in api.tools(body)}
            self.results = api.results(body)
            try:
                step = self.next_step()
            except Exception as error:  # noqa: BLE001: the test shows it
                self.trouble.append(f"{type(error).__name__}: {error}")
                return api.text(body, "the script failed", streams)
            if step is None:
                self.done = True
                return api.text(body, "finished", streams)
            name, arguments = step
            if name not in tools:
                self.trouble.append(f"no tool {name} is declared, only {sorted(tools)}")
                return api.text(body, "no such tool", streams)
            return api.call(body, tools[name][0], arguments, len(self.results), streams)

    def next_step(self):
        script = self.script()
        try:
            step = next(script)
            for result in self.results:
                step = script.send(result)
            return step
        except StopIteration:
            return None


def reply(handler, status, kind, text):
    data = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def events(values, names=False):
    """Server-sent events, with the names of their types where the API has them."""
    lines = []
    for value in values:
        if names:
            lines.append(f"event: {value['type']}\n")
        lines.append(f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n")
    return "".join(lines)


def flat(content):
    """The text of a message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flat(part) for part in content)
    if isinstance(content, dict):
        return flat(content.get("text", content.get("content", "")))
    return str(content)


class Chat:
    """Chat completions."""

    @staticmethod
    def streams(_path, body):
        return bool(body.get("stream"))

    @staticmethod
    def tools(body):
        for tool in body.get("tools") or []:
            function = tool.get("function", {})
            yield function.get("name", ""), {"name": function.get("name")}, function.get("parameters", {})

    @staticmethod
    def results(body):
        return [flat(message.get("content")) for message in body["messages"] if message.get("role") == "tool"]

    @staticmethod
    def text(body, text, streams):
        return Chat.message(body, {"content": text}, "stop", streams)

    @staticmethod
    def call(body, call, arguments, number, streams):
        function = {"name": call["name"], "arguments": json.dumps(arguments)}
        tool = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        return Chat.message(body, {"content": None, "tool_calls": [tool]}, "tool_calls", streams)

    @staticmethod
    def message(body, message, reason, streams):
        base = {"id": "chat-1", "created": 1, "model": body.get("model", "stub")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        message = {"role": "assistant", **message}
        if not streams:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        base["object"] = "chat.completion.chunk"
        return events([
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**base, "choices": [], "usage": usage},
            "[DONE]",
        ])


class Responses:
    """The responses API, as far as Codex uses it."""

    @staticmethod
    def streams(_path, _body):
        return True

    @staticmethod
    def tools(body):
        for tool in body.get("tools") or []:
            if tool.get("type") == "namespace":
                for inner in tool.get("tools", []):
                    call = {"name": inner["name"], "namespace": tool["name"]}
                    yield inner["name"], call, inner.get("parameters", {})
            elif tool.get("type") == "function":
                yield tool["name"], {"name": tool["name"]}, tool.get("parameters", {})

    @staticmethod
    def results(body):
        return [flat(item.get("output")) for item in body.get("input", []) if item.get("type") == "function_call_output"]

    @staticmethod
    def text(body, text, streams):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return Responses.item({"type": "message", "id": "msg-1", "role": "assistant", "content": content})

    @staticmethod
    def call(body, call, arguments, number, streams):
        return Responses.item({
            "type": "function_call", "id": f"fc-{number}", "call_id": f"call_{number}", **call,
            "arguments": json.dumps(arguments),
        })

    @staticmethod
    def item(item):
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return events([
            {"type": "response.created", "response": {"id": "resp-1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp-1", "usage": usage, "output": [item]}},
        ], names=True)


class Gemini:
    """generateContent and streamGenerateContent."""

    @staticmethod
    def streams(path, _body):
        return "stream" in path

    @staticmethod
    def tools(body):
        for tool in body.get("tools") or []:
            for one in tool.get("functionDeclarations", []):
                schema = one.get("parametersJsonSchema") or one.get("parameters", {})
                yield one["name"], {"name": one["name"]}, schema

    @staticmethod
    def results(body):
        results = []
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    response = part["functionResponse"].get("response", {})
                    results.append(flat(response.get("output", response.get("error", ""))) or json.dumps(response))
        return results

    @staticmethod
    def text(body, text, streams):
        return Gemini.part({"text": text}, streams)

    @staticmethod
    def call(body, call, arguments, number, streams):
        return Gemini.part({"functionCall": {"name": call["name"], "args": arguments}}, streams)

    @staticmethod
    def part(part, streams):
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
        return events([value]) if streams else json.dumps(value)


class Messages:
    """Anthropic's messages."""

    @staticmethod
    def streams(_path, body):
        return bool(body.get("stream"))

    @staticmethod
    def tools(body):
        for tool in body.get("tools") or []:
            yield tool.get("name", ""), {"name": tool.get("name")}, tool.get("input_schema", {})

    @staticmethod
    def results(body):
        blocks = [block for message in body["messages"] if isinstance(message["content"], list)
                  for block in message["content"]]
        return [flat(block.get("content")) for block in blocks if block.get("type") == "tool_result"]

    @staticmethod
    def text(body, text, streams):
        return Messages.block(body, {"type": "text", "text": text}, "end_turn", streams)

    @staticmethod
    def call(body, call, arguments, number, streams):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call["name"], "input": arguments}
        return Messages.block(body, block, "tool_use", streams)

    @staticmethod
    def block(body, block, reason, streams):
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "stub"),
                   "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
        if not streams:
            return json.dumps(message)
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return events([
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ], names=True)


APIS = {
    "/chat/completions": Chat,
    "/responses": Responses,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
    "/v1/messages": Messages,
}
