// Starts the server that the argument names, asks it a few things, and prints what it answered as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const transport = new StdioClientTransport({ command: process.argv[2], env: process.env, cwd: process.cwd() });
const client = new Client({ name: "wyren-test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const found = await client.callTool({ name: "search", arguments: { query: "cents", limit: "5" } });
const memory = await client.readResource({ uri: "wyren://memory" });
await client.close();
console.log(JSON.stringify({ tools: tools.length, found: found.content[0].text, memory: memory.contents[0].text }));
