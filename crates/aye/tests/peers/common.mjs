// What both TypeScript peers share: commands in, lines out. See README.md.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** Loads from the folder that `tests/servers/install` fills. */
export const load = createRequire(process.env.PEER_PACKAGES + '/');

// Longer than any test waits: what ends a call is the server or the test.
const PATIENCE = 600_000;

export function say(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

/** Answers elicitations the way the test said, or waits for its answer. */
export class Asking {
  how = { how: 'ask' };
  open = new Map();
  count = 0;

  async ask(params) {
    const number = ++this.count;
    let how = this.how;
    const answered = how.how === 'ask' && new Promise((resolve) => this.open.set(number, resolve));
    say({ event: 'elicitation', number, params });
    if (answered) how = await answered;
    else await new Promise((resolve) => setTimeout(resolve, how.after ?? 0));
    return how.how === 'accept' ? { action: 'accept', content: how.content } : { action: how.how };
  }

  answer(command) {
    this.open.get(command.number)({ ...command, how: command.action });
    this.open.delete(command.number);
  }
}

/** Reports what nobody else handles. */
export function notified(notification) {
  say({ event: 'notification', ...notification });
}

/** What was not a message of the protocol, among other things. */
export function broken(error) {
  say({ event: 'broken', message: String(error?.message ?? error) });
}

function failure(error) {
  return { kind: error?.constructor?.name, code: error?.code ?? null, message: String(error?.message ?? error) };
}

function options(command, running) {
  const abort = new AbortController();
  running.set(command.id, abort);
  return {
    timeout: PATIENCE,
    signal: abort.signal,
    onprogress: (told) => say({ event: 'progress', call: command.id, ...told }),
  };
}

async function act(link, command, asking, running) {
  const { client } = link;
  const wait = { timeout: PATIENCE };
  switch (command.do) {
    case 'tools':
      return client.listTools(undefined, wait);
    case 'resources':
      return client.listResources(undefined, wait);
    case 'templates':
      return client.listResourceTemplates(undefined, wait);
    case 'prompts':
      return client.listPrompts(undefined, wait);
    case 'call':
      return link.call(command, options(command, running));
    case 'read':
      return client.readResource({ uri: command.uri }, wait);
    case 'prompt':
      return client.getPrompt({ name: command.name, arguments: command.args ?? {} }, wait);
    case 'subscribe':
      return link.subscribe(command.uri);
    case 'answering':
      asking.how = command;
      return {};
    case 'answer':
      asking.answer(command);
      return {};
    case 'cancel':
      running.get(command.call).abort('the test says so');
      return {};
    case 'close':
      await client.close();
      return {};
    default:
      throw new Error(`unknown command ${command.do}`);
  }
}

/** Drives `connect(command, asking)`, which gives `{ client, about, call, subscribe }`. */
export async function drive(connect) {
  let link = null;
  let asking = new Asking();
  const running = new Map();
  const answer = async (command) => {
    try {
      if (command.do === 'connect') {
        asking = new Asking();
        link = await connect(command, asking);
        say({ id: command.id, result: link.about });
      } else if (link === null) {
        throw new Error('not connected');
      } else {
        say({ id: command.id, result: await act(link, command, asking, running) });
      }
    } catch (error) {
      say({ id: command.id, error: failure(error) });
    }
  };
  const waits = new Set(['connect', 'close', 'answering', 'answer', 'cancel']);
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    const done = answer(command);
    if (waits.has(command.do)) await done;
  }
  await link?.client.close().catch(() => {});
  process.exit(0);
}
