// The connection, against a real server.

import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { test } from "node:test";
import { Store } from "aye-page/store.js";
import { ApiError, Client, pauseAfter } from "../../src/client";
import type { ServerMessage } from "../../src/model";
import { find, homeOf, isOlder, isProven, mustBeRecent, ServerProblem, start, versionOf } from "../../src/server";
import { Place, until } from "./place";

const SKILLS = {
  ask: `
name: ask
steps:
  - name: sure
    confirm: { title: Sure, message: Really?, timeout: 10m, default: cancel }
  - { name: after, shell: "echo done" }
`,
  quick: `
name: quick
steps:
  - { name: one, shell: "echo 1" }
  - { name: two, shell: "echo 2" }
`,
};

// For nobody: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=other -days 36500`.
const OTHER = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUY5XvQR6dOy7wf7U5Ji88lmgFdYEwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTE3MTQwNTIzWhgPMjEyNjEwMjQxNDA1
MjNaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
rJqeVCz5+P4uzMQWqrUO3RI9Gb+t+EMCqxhJgmWB7ZlOCezaKbG78Jn7zRANgaDJ
vImN5QzMhYcepNz0DA+d/6NTMFEwHQYDVR0OBBYEFLYI83zppCRRJ/wxYhNpNeQT
/VcxMB8GA1UdIwQYMBaAFLYI83zppCRRJ/wxYhNpNeQT/VcxMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAPzgJLWQYscVELBxmafYa//66clU+jaC
7LxvakIeCEtvAiAdbvZNZsRdxcR1yhaV9/190Q1tVpVNytXGIguFWRZBhg==
-----END CERTIFICATE-----
`;

interface Connected {
  client: Client;
  store: Store;
  heard: ServerMessage[];
}

async function connect(place: Place, locate = async () => (await find(place.home)) ?? start(place.where)): Promise<Connected> {
  const client = new Client(locate);
  const store = new Store(client);
  const heard: ServerMessage[] = [];
  client.on("message", (message) => {
    heard.push(message);
    store.receive(message);
  });
  client.connect();
  await until(() => client.state.connected && store.ready, "connected");
  return { client, store, heard };
}

test("starts the server once, and finds it afterwards", async () => {
  const place = await Place.make(SKILLS);
  try {
    assert.equal(await find(place.home), null);
    // Two windows at once: there is one server.
    const [first, second] = await Promise.all([start(place.where), start(place.where)]);
    assert.deepEqual(first, second);
    assert.equal((await find(place.home))?.pid, first.pid);
    // What a killed server left behind does not count.
    await place.killServer();
    assert.equal(await find(place.home), null);
  } finally {
    await place.end();
  }
});

/** A process of another account at this port: it says yes to everything, with this proof, and keeps what it hears. */
async function impostor(port: number, proof: (challenge: string) => Promise<string>): Promise<{ heard: IncomingHttpHeaders[]; server: Server }> {
  const heard: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers);
    void proof(String(request.headers["aye-challenge"])).then((given) => response.writeHead(200, { "aye-proof": given }).end("{\"status\":\"ok\"}"));
  });
  server.on("upgrade", (request, socket) => {
    heard.push(request.headers);
    socket.destroy();
  });
  // The port is free when the killed process is gone for good.
  const listen = (): Promise<boolean> => new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => (error.code === "EADDRINUSE" ? resolve(false) : reject(error));
    server.once("error", failed).listen(port, "127.0.0.1", () => {
      server.off("error", failed);
      resolve(true);
    });
  });
  await until(listen, "the port is free");
  return { heard, server };
}

test("the token goes to no process that listens where a killed server was", async () => {
  const place = await Place.make(SKILLS);
  const stale = await start(place.where);
  assert.equal(await isProven(stale), true);
  process.kill(stale.pid, "SIGKILL");
  await until(() => isProven(stale).then((is) => !is), "the server is gone");
  const port = Number(new URL(stale.url).port);
  let given = "0".repeat(64);
  const { heard, server } = await impostor(port, async (challenge) => {
    if (!given.startsWith("http")) return given;
    // It passes on what the real server says.
    const response = await fetch(`${given}/healthz`, { headers: { "Aye-Challenge": challenge } });
    return response.headers.get("aye-proof") ?? "";
  });
  const client = new Client(async () => (await find(place.home)) ?? Promise.reject(new ServerProblem("not-running", "none")));
  try {
    client.connect();
    await until(() => client.state.problem !== null && heard.length > 0, "it was tried");
    assert.equal(await find(place.home), null);
    await assert.rejects(client.get("/session"), (error: ApiError) => error.code === "offline");
    const real = await start(place.where);
    assert.notEqual(real.url, stale.url);
    given = real.url;
    assert.equal(await isProven(stale), false, "a proof of another address does not count");
    // The client finds the real one by itself.
    await until(() => client.state.connected, "connected");
    assert.equal(client.url, real.url);
    assert.deepEqual(heard.filter((headers) => headers.authorization !== undefined || JSON.stringify(headers).includes(stale.token)), []);
  } finally {
    client.close();
    server.close();
    await place.end();
  }
});

test("answers as an editor, says what it shows, and hears why not", async () => {
  const place = await Place.make(SKILLS);
  const { client, store } = await connect(place);
  try {
    const run = await place.start("ask");
    const question = await until(() => [...store.questions.values()].find((one) => one.run === run), "the question came");
    client.show(question.id, []);
    await until(() => store.clients.some((one) => one.kind === "editor" && one.question === question.id), "others see what is shown");
    await assert.rejects(client.command("answer", { question: question.id, digest: "0".repeat(64), choice: "proceed" }), (error: ApiError) => error.code === "digest_mismatch" && error.hint !== null);
    await client.command("hold", { question: question.id });
    await client.command("answer", { question: question.id, digest: question.digest, choice: "proceed", reason: "tested" });
    const decided = await until(() => [store.questions.get(question.id)].find((one) => one?.state === "answered"), "it is decided");
    assert.equal(decided.decision?.prompter, "editor");
    assert.equal(decided.decision?.reason, "tested");
    await assert.rejects(client.command("answer", { question: question.id, digest: question.digest, choice: "proceed" }), (error: ApiError) => error.code === "decided");
    await assert.rejects(client.get("/runs/nothing-like-that"), (error: ApiError) => error.code === "not_found");
  } finally {
    client.close();
    await place.end();
  }
});

test("misses nothing and hears nothing twice while the server is killed and started again", async () => {
  const place = await Place.make(SKILLS);
  const { client, heard } = await connect(place);
  const states: boolean[] = [];
  client.on("state", ({ connected }) => states.push(connected));
  try {
    const before = await place.start("quick");
    await until(() => heard.some((one) => one.run === before && one.type === "skill_completed"), "the first run ended");
    await place.killServer();
    await assert.rejects(client.command("snapshot", {}), (error: ApiError) => error.code === "offline");
    const during = await place.start("quick");
    await until(() => heard.some((one) => one.run === during && one.type === "skill_completed"), "the second run was caught up with");
    const after = await place.start("quick");
    await until(() => heard.some((one) => one.run === after && one.type === "skill_completed"), "the third run came");
    const numbers = heard.filter((one) => one.run !== undefined && one.type !== "step_output").map((one) => Number(one.n));
    assert.deepEqual(numbers, numbers.map((_, at) => (numbers[0] ?? 0) + at), "the numbers have no holes");
    assert.deepEqual(states, [false, true]);
  } finally {
    client.close();
    await place.end();
  }
});

test("says what is missing, too old, or another program", async () => {
  const place = await Place.make({});
  try {
    const kind = (wanted: string) => (error: unknown) => error instanceof ServerProblem && error.kind === wanted;
    await assert.rejects(versionOf({ ...place.where, program: "/nowhere/aye" }), kind("missing"));
    const old = await place.script("old", "#!/bin/sh\necho aye 0.0.9\n");
    await assert.rejects(start({ ...place.where, program: old }), kind("too-old"));
    const other = await place.script("other", "#!/bin/sh\necho yes 9.1\n");
    await assert.rejects(versionOf({ ...place.where, program: other }), kind("failed"));
    const broken = await place.script("broken", "#!/bin/sh\n[ \"$1\" = --version ] && echo aye 1.0.0 && exit\necho no space left >&2; exit 1\n");
    await assert.rejects(start({ ...place.where, program: broken }), /no space left/);
    // The connection says so, and continues trying.
    let tries = 0;
    const client = new Client(async () => {
      tries += 1;
      throw new ServerProblem("missing", "`aye` was not found");
    });
    client.connect();
    await until(() => tries > 2 && client.state.problem?.kind === "missing", "it tries again");
    client.close();
  } finally {
    await place.end();
  }
});

test("a server that runs already is asked for its version, too", async () => {
  const place = await Place.make({});
  const token = "5f".repeat(32);
  const asked: (string | undefined)[] = [];
  let version: object = { info: { version: "0.0.9" } };
  const old = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end(JSON.stringify(version));
  });
  await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
  const { port } = old.address() as { port: number };
  const server = { url: `http://127.0.0.1:${port}`, pid: 4711, token, ca: null };
  try {
    const tooOld = (words: RegExp) => (error: unknown) => error instanceof ServerProblem && error.kind === "too-old" && words.test(error.message);
    await assert.rejects(mustBeRecent(server), tooOld(/process 4711\) is version 0\.0\.9; this extension needs 0\.1\.0/));
    // One that does not describe itself is older still.
    version = {};
    await assert.rejects(mustBeRecent(server), tooOld(/an old version/));
    assert.deepEqual(asked, [`Bearer ${token}`, `Bearer ${token}`]);
    await mustBeRecent(await start(place.where));
  } finally {
    old.close();
    await place.end();
  }
});

test("speaks to a server that made its own certificate, and to no other with it", async () => {
  const place = await Place.make(SKILLS);
  const served = await place.serve("--tls-self-signed");
  const { client, store, heard } = await connect(place, async () => (await find(place.home)) ?? Promise.reject(new ServerProblem("not-running", "none")));
  try {
    assert.match(client.url ?? "", /^https:/);
    await mustBeRecent(served);
    const run = await place.start("ask");
    const question = await until(() => [...store.questions.values()].find((one) => one.run === run), "the question came");
    await client.command("answer", { question: question.id, digest: question.digest, choice: "proceed" });
    await until(() => heard.some((one) => one.run === run && one.type === "skill_completed"), "the run ended");
    assert.equal((await client.get<{ runs: unknown[] }>("/runs")).runs.length, 1);
    assert.equal(await isProven(served), true);
    assert.equal(await isProven({ ...served, ca: null }), false, "nobody else vouches for it");
    assert.equal(await isProven({ ...served, ca: OTHER }), false, "another certificate does not do");
  } finally {
    client.close();
    await place.end();
  }
});

test("pauses between attempts grow", async () => {
  for (const chance of [0, 0.5, 1]) {
    const pauses = [0, 1, 2, 3, 4, 5].map((attempts) => pauseAfter(attempts, chance));
    assert.ok(pauses.every((one, at) => at === 0 || one > (pauses[at - 1] ?? 0)), String(pauses));
    assert.equal(pauseAfter(50, chance), pauseAfter(49, chance), "up to a limit");
  }
  // Whatever chance says, the next is longer.
  assert.ok(pauseAfter(1, 0) > pauseAfter(0, 1) && pauseAfter(4, 0) > pauseAfter(3, 1));
  const tries: number[] = [];
  const client = new Client(async () => {
    tries.push(performance.now());
    throw new ServerProblem("not-running", "none");
  });
  client.connect();
  await until(() => tries.length === 4, "it was tried");
  client.close();
  for (const attempts of [0, 1, 2]) {
    const waited = (tries[attempts + 1] ?? 0) - (tries[attempts] ?? 0);
    assert.ok(waited >= pauseAfter(attempts, 0) - 5, `${waited} ms after attempt ${attempts}`);
  }
});

test("knows homes and versions", () => {
  assert.equal(homeOf("", { HOME: "/h" }), "/h/.local/state/aye");
  assert.equal(homeOf("", { HOME: "/h", XDG_STATE_HOME: "/s" }), "/s/aye");
  assert.equal(homeOf("", { HOME: "/h", AYE_HOME: "/a" }), "/a");
  assert.equal(homeOf("/set", { AYE_HOME: "/a" }), "/set");
  assert.equal(isOlder("0.9.0", "0.10.0"), true);
  assert.equal(isOlder("0.10.0", "0.9.9"), false);
  assert.equal(isOlder("1.0.0", "1.0.0"), false);
});
