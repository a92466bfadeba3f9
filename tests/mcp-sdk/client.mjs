// Calls Highwater's tools with the official TypeScript client, and prints what came as one line of JSON.
// Usage: node client.mjs http|bridge, with HIGHWATER_MCP_URL, HIGHWATER_MCP_TOKEN and HIGHWATER_PROGRAM.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { HIGHWATER_MCP_URL: url, HIGHWATER_MCP_TOKEN: token, HIGHWATER_PROGRAM: program } = process.env;

const transports = {
  http: () =>
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  bridge: () =>
    new StdioClientTransport({
      command: program,
      args: ['mcp'],
      env: { HIGHWATER_MCP_URL: url, HIGHWATER_MCP_TOKEN: token },
    }),
};

const client = new Client({ name: 'highwater-test', version: '1.0.0' });
await client.connect(transports[process.argv[2]]());

async function call(name, args = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  return { text: content[0].text, failed: isError === true };
}

// Backwards, each page before the oldest line of the one after it, until one says that there is none.
const pages = [];
for (let before; pages.length < 100; ) {
  const { text } = await call('channel_history', before === undefined ? { limit: 100 } : { limit: 100, before });
  pages.push(text);
  before = /\(for the page before: before=(\w+)\)/.exec(text)?.[1];
  if (before === undefined) break;
}

const { tools } = await client.listTools();
const told = {
  server: client.getServerVersion().name,
  tools: tools.map((tool) => tool.name),
  pages,
  roster: await call('channel_roster'),
  activity: await call('project_activity'),
  posted: await call('channel_post', { text: 'from the official client' }),
  missing: await call('channel_history', { before: 'm999999' }),
  declined: await call('decline', { reason: 'not mine' }),
};
await client.close();
console.log(JSON.stringify(told));
