// An MCP server that runs each command in the sandbox of @anthropic-ai/sandbox-runtime, used as a library: what a program that
// embeds it would cost, without the start of Node for each command.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';

const settings = JSON.parse(readFileSync(new URL('sandbox-runtime.json', import.meta.url)));
await SandboxManager.initialize(settings);

async function run(command) {
  const confined = await SandboxManager.wrapWithSandbox(command);
  const child = spawn('/bin/bash', ['-c', confined], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces = [];
  child.stdout.on('data', (piece) => pieces.push(piece));
  child.stderr.on('data', (piece) => pieces.push(piece));
  const code = await new Promise((done) => child.on('close', done));
  return { content: [{ type: 'text', text: Buffer.concat(pieces).toString() }], isError: code !== 0 };
}

const methods = {
  initialize: (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'sandbox-runtime', version: '0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'run', inputSchema: { type: 'object' } }] }),
  'tools/call': (params) => run(params.arguments.command),
};

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = await methods[method](params);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
lines.on('close', async () => {
  await SandboxManager.reset();
  process.exit(0);
});
