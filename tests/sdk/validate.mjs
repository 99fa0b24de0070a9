// Asks validators in JavaScript whether they take what `shellgate schema` prints, and whether the parameters accept the
// arguments that they should.
//
//     node validate.mjs path/to/shellgate FOLDER_WITH_node_modules
//
// MCP's and OpenAI's SDKs read the declarations, and Ajv the schemas (JSON Schema 2020-12) and the rows of arguments.json.
// Each check is also given broken declarations, and must refuse them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [shellgate, modules] = process.argv.slice(2);
const load = createRequire(join(resolve(modules), "package.json"));
const { ToolSchema } = load("@modelcontextprotocol/sdk/types.js");
const { toStrictJsonSchema } = load("openai/lib/transform");
const { default: Ajv } = load("ajv/dist/2020");

const rows = JSON.parse(readFileSync(new URL("arguments.json", import.meta.url), "utf8"));
const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });

// Gemini's types are in capitals, and `format: enum` is its own. Otherwise its schemas are JSON Schema.
const plain = (schema) =>
  JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === "format") return undefined;
    return key === "type" && typeof value === "string" ? value.toLowerCase() : value;
  });

// As a strict model sends them: every field, null where it says nothing.
const strict = (schema, args) => ({
  ...Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null])),
  ...listed(args),
});
// With variables in a list, where the API knows no free keys.
const listed = (args) =>
  args.env ? { ...args, env: Object.entries(args.env).map(([name, value]) => ({ name, value })) } : args;

// Per API: where the parameters are, how arguments are sent, which mistakes its schemas can't tell, a check of its SDK,
// and breaks that the checks must find.
const apis = {
  mcp: {
    parameters: (tool) => tool.inputSchema,
    sent: (_, args) => args,
    untold: [],
    sdk: (tool) => assert.deepEqual(ToolSchema.parse(tool), tool),
    breaks: [
      (tool) => delete tool.name,
      (tool) => delete tool.inputSchema,
      (tool) => (tool.inputSchema.type = "string"),
      (tool) => (tool.inputSchema.required = "command"),
      (tool) => (tool.annotations.destructiveHint = "perhaps"),
    ],
  },
  gemini: {
    parameters: (tool) => plain(tool.parameters),
    sent: (_, args) => listed(args),
    untold: ["unknown"],
    sdk: () => {},
    breaks: [(tool) => (tool.parameters.type = "DICT"), (tool) => (tool.parameters.properties.command.typ = "STRING")],
  },
  openai: {
    parameters: (tool) => tool.function.parameters,
    sent: strict,
    untold: ["out_of_range"],
    sdk: (tool) => assert.deepEqual(toStrictJsonSchema(tool.function.parameters), tool.function.parameters),
    breaks: [
      (tool) => (tool.function.parameters.additionalProperties = true),
      (tool) => delete tool.function.parameters.additionalProperties,
      (tool) => tool.function.parameters.required.shift(),
      (tool) => (tool.function.parameters.properties.command = { type: "object", additionalProperties: { type: "string" } }),
    ],
  },
  anthropic: {
    parameters: (tool) => tool.input_schema,
    sent: (_, args) => args,
    untold: [],
    sdk: () => {},
    breaks: [(tool) => (tool.input_schema.type = "dict"), (tool) => (tool.input_schema.required = "command")],
  },
};

let fine = 0;
let refused = 0;
let sent = 0;
for (const [name, api] of Object.entries(apis)) {
  for (const [dialect, samples] of Object.entries(rows)) {
    const text = execFileSync(shellgate, ["schema", "--dialect", dialect, "--for", name], { encoding: "utf8" });
    const check = (tool) => {
      api.sdk(tool);
      return ajv.compile(api.parameters(tool));
    };
    const accepts = check(JSON.parse(text));
    const schema = api.parameters(JSON.parse(text));
    fine += 1;
    for (const [kind, list] of Object.entries(samples)) {
      for (const row of list.filter(() => !api.untold.includes(kind))) {
        const args = api.sent(schema, row);
        assert.equal(accepts(args), kind === "good", `${dialect} for ${name}, ${kind}: ${JSON.stringify(args)}`);
        sent += 1;
      }
    }
    for (const broken of api.breaks) {
      const tool = JSON.parse(text);
      broken(tool);
      assert.throws(() => check(tool), `${dialect} for ${name} is taken with ${broken}: the check sees nothing`);
      refused += 1;
    }
  }
}
console.log(`${fine} declarations are fine, ${refused} broken ones were refused, ${sent} arguments were judged rightly`);
