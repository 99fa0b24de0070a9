// Drives `shellgate mcp` with the official TypeScript SDK, the one of the older generation and the one that knows both, with
// the package that adds tasks to the latter, and with the command line of the MCP inspector: every tool, on both transports.
//
//     node mcp_client.mjs path/to/shellgate FOLDER_WITH_node_modules
//
// The SDKs themselves check every answer against the schema that its tool declares.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const [shellgate, modules] = [resolve(process.argv[2]), resolve(process.argv[3])];
const load = createRequire(join(modules, "package.json"));
const old = {
  ...load("@modelcontextprotocol/sdk/client/index.js"),
  ...load("@modelcontextprotocol/sdk/client/stdio.js"),
  ...load("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ...load("@modelcontextprotocol/sdk/types.js"),
};
const both = { ...load("@modelcontextprotocol/client"), ...load("@modelcontextprotocol/client/stdio") };
// Can't be required.
const ext = await import(pathToFileURL(join(modules, "node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js")));

const NEWER = "2026-07-28";
const TOOLS = ["shell", "shell_input", "shell_jobs", "shell_output", "shell_stop", "shell_wait"];
const PATIENCE = 60_000;

// A root and a state folder of its own.
class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "shellgate-sdk-"));
    this.root = join(this.folder, "root");
    mkdirSync(this.root);
    this.env = { SHELLGATE_HOME: join(this.folder, "state"), HOME: this.folder, PATH: process.env.PATH };
  }
  has = (name) => existsSync(join(this.root, name));
  make = (name) => writeFileSync(join(this.root, name), "");
  words = (flags) => ["mcp", "--preset", "none", "--root", this.root, ...flags];
  shellgate = (...words) => execFileSync(shellgate, words, { env: this.env, cwd: this.root, encoding: "utf8" });
  // A keeper that still ends may make a file while we remove the folder: then it isn't empty yet.
  async remove() {
    for (const end = Date.now() + PATIENCE; ; await sleep(20)) {
      try {
        return rmSync(this.folder, { recursive: true });
      } catch (error) {
        if (!["ENOTEMPTY", "ENOENT"].includes(error.code) || Date.now() > end) throw error;
        if (!existsSync(this.folder)) return;
      }
    }
  }
}

// A server over HTTP: where it is, and the key. None outlives us, whatever happens.
const servers = [];
process.on("exit", () => servers.forEach((server) => server.kill()));
const listening = async (place, flags) => {
  const server = spawn(shellgate, place.words(["--http", "0", ...flags]), { env: place.env, stdio: ["ignore", "ignore", "pipe"] });
  servers.push(server);
  const { value: line } = await createInterface({ input: server.stderr })[Symbol.asyncIterator]().next();
  const [, url, keys] = line.match(/(http:\S+\/mcp); the key is in (.*)/);
  return { server, url, key: readFileSync(keys, "utf8").split(/\s/)[1] };
};

// Ways to connect: with each SDK and generation, over each transport.
const ways = [];
for (const [name, sdk, mode] of [
  ["sdk 1", old, undefined],
  ["sdk 2, older", both, "legacy"],
  ["sdk 2, newer", both, { pin: NEWER }],
]) {
  const client = (answer) => {
    const capabilities = answer ? { elicitation: { form: {} } } : {};
    const options = { capabilities, ...(mode && { versionNegotiation: { mode } }) };
    const made = new sdk.Client({ name: "test", version: "0" }, options);
    if (answer) made.setRequestHandler(sdk === old ? old.ElicitRequestSchema : "elicitation/create", answer);
    return made;
  };
  const tasks = mode?.pin === NEWER;
  ways.push({
    tasks,
    name: `${name}, stdio`,
    connect: async (place, flags, answer) => {
      const made = client(answer);
      await made.connect(new sdk.StdioClientTransport({ command: shellgate, args: place.words(flags), env: place.env }));
      return { client: made, close: () => made.close() };
    },
  });
  ways.push({
    tasks,
    name: `${name}, HTTP`,
    connect: async (place, flags, answer) => {
      const made = client(answer);
      const { server, url, key } = await listening(place, flags);
      const requestInit = { headers: { Authorization: `Bearer ${key}` } };
      await made.connect(new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit }));
      return {
        client: made,
        close: async () => {
          await made.close();
          server.kill();
        },
      };
    },
  });
}

const call = async (client, name, args, options) => {
  // The scenes look at facts that a model is told only if it asks.
  const request = { name, arguments: name === "shell" ? { detail: "full", ...args } : args };
  // The third is a schema in the older SDK.
  const done = client instanceof old.Client ? client.callTool(request, undefined, options) : client.callTool(request, options);
  const result = await done;
  assert.equal(result.content.length, 1);
  assert.ok(result.content[0].text);
  return result;
};

// A client that takes tasks. The package leaves it to its host to send what the SDK does not know and to match the answers.
const taking = (client, clientCapabilities, onInputRequest) => {
  const { transport } = client;
  const [waiting, hears] = [new Map(), transport.onmessage];
  transport.onmessage = (message, extra) => {
    const waits = waiting.get(message.id);
    if (!waits) return hears(message, extra);
    waiting.delete(message.id);
    waits(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  const rawDispatch = (request) =>
    new Promise((answered, failed) => {
      const id = `raw ${++taking.last}`;
      waiting.set(id, answered);
      transport.send({ jsonrpc: "2.0", id, ...request }).catch(failed);
    });
  const v2RequestFraming = { protocolVersion: NEWER, clientInfo: { name: "test", version: "0" }, clientCapabilities };
  return ext.createTaskSessionFromClient(client, { endpointId: "here", rawDispatch, v2RequestFraming, onInputRequest });
};
taking.last = 0;

// Detaches from a task, and returns its reference for another client. A session that is closed too soon after that cancels the task.
const left = async (execution) => {
  const reference = execution.serializeReference();
  await execution.detach();
  await execution.result().catch(() => {});
  return reference;
};

const until = async (happens) => {
  const end = Date.now() + PATIENCE;
  while (!happens()) {
    assert.ok(Date.now() < end, `waited in vain until ${happens}`);
    await sleep(20);
  }
};

const ALLOW = ["--approve", "allow"];
const scenes = {
  async tools(way, place) {
    const { client, close } = await way.connect(place, ALLOW);
    assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name).sort(), TOOLS);
    const done = (await call(client, "shell", { command: "echo out; exit 3" })).structuredContent;
    assert.deepEqual([done.stdout, done.exit_code], ["out\n", 3]);
    const started = await call(client, "shell", { command: "echo up; sleep 1000", background: true });
    const { job } = started.structuredContent;
    assert.equal((await call(client, "shell_wait", { job, pattern: "up" })).structuredContent.reason, "matched");
    assert.equal((await call(client, "shell_output", { job })).structuredContent.stdout, "up\n");
    assert.ok((await call(client, "shell_jobs", {})).structuredContent.jobs.some((one) => one.id === job));
    const read = await client.readResource({ uri: `shellgate://jobs/${job}/stdout` });
    assert.equal(read.contents[0].text, "up\n");
    assert.equal((await call(client, "shell_stop", { job })).structuredContent.status, "canceled");
    const refused = await call(client, "shell", { program: "ls" });
    assert.ok(refused.isError);
    assert.equal(refused.structuredContent.error.code, "invalid_input");
    await close();
  },
  async interaction(way, place) {
    const { client, close } = await way.connect(place, ALLOW);
    const command = "read -p 'name? ' name; echo hello $name";
    const { job } = (await call(client, "shell", { command, pty: true, background: true })).structuredContent;
    await call(client, "shell_wait", { job, silence_ms: 100, timeout_ms: 10_000 });
    await call(client, "shell_input", { job, text: "ann" });
    const ended = (await call(client, "shell_wait", { job })).structuredContent;
    assert.ok(ended.status === "completed" && ended.stdout.includes("hello ann"));
    await close();
  },
  async progress(way, place) {
    const { client, close } = await way.connect(place, ALLOW);
    const told = [];
    const onprogress = ({ message }) => {
      told.push(message);
      place.make("go");
    };
    // Ends only when the first line has been told.
    const command = "echo first; while [ ! -e go ]; do sleep 0.02; done";
    await call(client, "shell", { command }, { onprogress });
    assert.equal(told[0], "first\n");
    await close();
  },
  async cancel(way, place) {
    const { client, close } = await way.connect(place, ALLOW);
    const stop = new AbortController();
    const command = "trap 'touch ended; exit' TERM; touch begun; while :; do sleep 0.02; done";
    const done = call(client, "shell", { command }, { signal: stop.signal });
    await until(() => place.has("begun"));
    stop.abort("enough");
    await assert.rejects(done);
    await until(() => place.has("ended"));
    assert.equal((await call(client, "shell", { command: "echo next" })).structuredContent.stdout, "next\n");
    await close();
  },
  async asked(way, place) {
    let form;
    const accept = async (request) => {
      form = request.params;
      return { action: "accept", content: { answer: "once" } };
    };
    let { client, close } = await way.connect(place, [], accept);
    const done = (await call(client, "shell", { command: "touch accepted" })).structuredContent;
    assert.ok(done.status === "completed" && place.has("accepted"));
    assert.match(form.message, /touch accepted/);
    await close();
    ({ client, close } = await way.connect(place, [], async () => ({ action: "decline" })));
    const denied = await call(client, "shell", { command: "touch declined" });
    assert.ok(denied.isError && !place.has("declined"));
    assert.equal(denied.structuredContent.error.code, "denied_by_user");
    await close();
    // This client has no forms, so the question waits in the queue.
    ({ client, close } = await way.connect(place, []));
    const queued = (await call(client, "shell", { command: "touch queued", wait_ms: 100 })).structuredContent;
    assert.ok(queued.status === "queued" && !place.has("queued"));
    place.shellgate("approvals", "approve", String(queued.approval.id));
    const ended = (await call(client, "shell_wait", { job: queued.job })).structuredContent;
    assert.ok(ended.status === "completed" && place.has("queued"));
    await close();
  },
  async tasks(way, place) {
    if (!way.tasks) return;
    let { client, close } = await way.connect(place, ALLOW);
    let session = taking(client, {});
    const quick = await session.callTool("shell", { command: "echo quick" });
    assert.equal(quick.kind, "immediate");
    assert.equal((await quick.settle()).outcome.result.structuredContent.stdout, "quick\n");
    // Ends only when a task has been seen at work.
    const slow = await session.callTool("shell", { command: "echo up; while [ ! -e go ]; do sleep 0.02; done; exit 3", wait_ms: 100 });
    assert.equal(slow.kind, "task");
    const seen = [];
    const onEvent = ({ task }) => {
      if (task?.statusMessage.endsWith("the last line: up")) place.make("go");
      seen.push(task?.status);
    };
    const { outcome } = await slow.settle({ onEvent });
    assert.deepEqual([outcome.status, outcome.result.structuredContent.exit_code], ["completed", 3]);
    assert.equal(seen[0], "working");
    const command = "trap 'touch ended; exit' TERM; touch begun; while :; do sleep 0.02; done";
    const endless = await session.callTool("shell", { command, wait_ms: 100 });
    await until(() => place.has("begun"));
    await endless.cancel();
    assert.equal((await endless.settle()).outcome.status, "cancelled");
    assert.ok(place.has("ended"));
    await assert.rejects(session.task("01ARZ3NDEKTSV4RRFFQ69G5FAV").snapshot());
    // Another server goes on with it.
    const late = await session.callTool("shell", { command: "while [ ! -e later ]; do sleep 0.02; done; echo late", wait_ms: 100 });
    const reference = await left(late);
    await session.close();
    await close();
    place.make("later");
    ({ client, close } = await way.connect(place, ALLOW));
    session = taking(client, {});
    const ended = (await (await session.resumeTask(reference)).settle()).outcome;
    assert.deepEqual([ended.status, ended.result.structuredContent.stdout], ["completed", "late\n"]);
    await session.close();
    await close();
  },
  async "asked in tasks"(way, place) {
    if (!way.tasks) return;
    const { client, close } = await way.connect(place, []);
    for (const [action, file] of [["accept", "accepted"], ["decline", "declined"]]) {
      // One that can show no form lets the question wait, and one that can comes for it.
      let session = taking(client, {});
      const execution = await session.callTool("shell", { command: `touch ${file}`, wait_ms: 100 });
      assert.equal(execution.kind, "task");
      const reference = await left(execution);
      await session.close();
      let asked;
      session = taking(client, { elicitation: { form: {} } }, async ({ params }, { delivery }) => {
        asked = [params.message.includes(`touch ${file}`), delivery];
        return action === "accept" ? { action, content: { answer: "once" } } : { action };
      });
      const { outcome } = await (await session.resumeTask(reference)).settle();
      assert.deepEqual(asked, [true, "task-update"]);
      assert.deepEqual([outcome.status, outcome.result.isError], ["completed", action === "decline"]);
      assert.equal(place.has(file), action === "accept");
      // With a form at hand, the call itself asks.
      const direct = await session.callTool("shell", { command: `touch ${file}-too` });
      assert.equal((await direct.settle()).outcome.result.isError, action === "decline");
      assert.equal(asked[1], "request-retry");
      assert.equal(place.has(`${file}-too`), action === "accept");
      await session.close();
    }
    await close();
  },
};

// The inspector has a client for every command that is typed.
const inspector = async (place) => {
  const cli = join(modules, "node_modules/.bin/mcp-inspector-cli");
  // It takes its version from the package that usually brings it along.
  const around = join(modules, "node_modules/@modelcontextprotocol/package.json");
  if (!existsSync(around)) writeFileSync(around, JSON.stringify({ name: "inspector", version: "1.0.3" }));
  const { server, url, key } = await listening(place, ALLOW);
  const targets = [
    [shellgate, ...place.words(ALLOW)],
    [url, "--transport", "http", "--header", `Authorization: Bearer ${key}`],
  ];
  const told = async (target, ...words) => {
    const { stdout } = await promisify(execFile)(cli, ["--cli", ...target, ...words], { env: { ...process.env, ...place.env } });
    return JSON.parse(stdout);
  };
  const check = async (target) => {
    const { tools } = await told(target, "--method", "tools/list");
    assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
    const run = (name, ...args) =>
      told(target, "--method", "tools/call", "--tool-name", name, ...args.flatMap((arg) => ["--tool-arg", arg]));
    const { job } = (await run("shell", "command=echo up; sleep 1000", "background=true")).structuredContent;
    const [waited, read, listed] = await Promise.all([
      run("shell_wait", `job=${job}`, "pattern=up"),
      run("shell_output", `job=${job}`),
      run("shell_jobs"),
    ]);
    assert.equal(waited.structuredContent.reason, "matched");
    assert.equal(read.structuredContent.stdout, "up\n");
    assert.ok(listed.structuredContent.jobs.some((one) => one.id === job));
    const resource = await told(target, "--method", "resources/read", "--uri", `shellgate://jobs/${job}/stdout`);
    assert.equal(resource.contents[0].text, "up\n");
    assert.equal((await run("shell_stop", `job=${job}`)).structuredContent.status, "canceled");
  };
  try {
    await Promise.all(targets.map(check));
  } finally {
    server.kill();
  }
};

const inPlace = async (name, scene) => {
  const place = new Place();
  try {
    await scene(place);
  } catch (error) {
    console.error(`FAILED: ${name}`);
    throw error;
  }
  await place.remove();
};

await Promise.all([
  inPlace("inspector", inspector),
  ...ways.map(async (way) => {
    for (const [name, scene] of Object.entries(scenes)) await inPlace(`${name}: ${way.name}`, (place) => scene(way, place));
  }),
]);
console.log("the TypeScript SDKs and the inspector are content");
process.exit(0);
