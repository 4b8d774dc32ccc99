// A real MCP client on the TypeScript SDK 2.x, driven by JSON lines: see README.md.

import { broken, drive, load, notified } from './common.mjs';

const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');

function transport({ stdio, http }) {
  if (stdio) return new StdioClientTransport({ ...stdio, stderr: 'inherit' });
  const headers = http.token ? { Authorization: `Bearer ${http.token}` } : {};
  return new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } });
}

await drive(async (command, asking) => {
  const asks = command.elicitation ?? true;
  const client = new Client(
    { name: 'peer-2', version: '2' },
    {
      capabilities: asks ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: command.mode ?? 'auto' },
    },
  );
  if (asks) client.setRequestHandler('elicitation/create', ({ params }) => asking.ask(params));
  client.onerror = broken;
  client.fallbackNotificationHandler = async (notification) => notified(notification);
  await client.connect(transport(command));
  return {
    client,
    about: {
      protocol: client.getNegotiatedProtocolVersion(),
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    call: ({ tool, args, once, responses, state }, options) => {
      const params = { name: tool, arguments: args ?? {} };
      if (!once) return client.callTool(params, options);
      if (responses) params.inputResponses = responses;
      if (state) params.requestState = state;
      return client.callTool(params, { ...options, allowInputRequired: true });
    },
    subscribe: async (uri) => {
      if (client.getProtocolEra() !== 'modern') return client.subscribeResource({ uri });
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
      return { honoredFilter };
    },
  };
});
