// A real MCP client on the TypeScript SDK 1.x, driven by JSON lines: see README.md.

import { broken, drive, load, notified } from './common.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ElicitRequestSchema } = load('@modelcontextprotocol/sdk/types.js');

function transport({ stdio, http }) {
  if (stdio) return new StdioClientTransport({ ...stdio, stderr: 'inherit' });
  const headers = http.token ? { Authorization: `Bearer ${http.token}` } : {};
  return new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } });
}

await drive(async (command, asking) => {
  const asks = command.elicitation ?? true;
  const capabilities = asks ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'peer-1', version: '1' }, { capabilities });
  if (asks) client.setRequestHandler(ElicitRequestSchema, ({ params }) => asking.ask(params));
  client.onerror = broken;
  client.fallbackNotificationHandler = async (notification) => notified(notification);
  const to = transport(command);
  await client.connect(to);
  return {
    client,
    about: {
      // Over stdio the SDK does not tell what was agreed on; over HTTP its transport does.
      protocol: to.protocolVersion ?? null,
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    call: ({ tool, args }, options) => client.callTool({ name: tool, arguments: args ?? {} }, undefined, options),
    subscribe: (uri) => client.subscribeResource({ uri }),
  };
});
