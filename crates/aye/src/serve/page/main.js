// The page begins here: sign in, connect, show.

import { App } from "./app.js";
import { html, render } from "./vendor/lit-anser.js";
import { forget, redeem, secret, takeLink } from "./session.js";
import { Transport } from "./transport.js";
import { clock, visible } from "./text.js";

const root = document.getElementById("app");

function signIn(problem) {
  document.title = "Sign in · Aye";
  render(html`<main class="sign-in" id="main"><div class="panel stack"><h1>Aye</h1>
    ${problem ? html`<p class="error" role="alert">${visible(problem.message)}${problem.hint ? html` <span class="soft">${visible(problem.hint)}</span>` : ""}</p>` : ""}
    <p>This browser is not signed in. On the server's machine, run</p>
    <p><code>aye serve open</code></p>
    <p class="note">or ask for a link: <code>aye people add NAME --rights answer,start,read</code>. A link works once.</p></div></main>`, root);
}

const link = takeLink();
let problem = null;
if (link) {
  try {
    await redeem(link);
  } catch (error) {
    problem = error;
  }
}
/** Who is signed in; waits for a server that cannot be reached. */
async function session(transport) {
  const since = Date.now();
  for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
    try {
      return await transport.get("/session");
    } catch (error) {
      if (error.code !== "offline") throw error;
      render(html`<main id="main"><p class="offline" role="alert">Disconnected since ${clock(since)}. The server does not answer. The page tries again by itself.</p></main>`, root);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

if (secret() && !problem) {
  const transport = new Transport(secret());
  try {
    new App(root, transport, await session(transport), () => {
      forget();
      location.reload();
    }).start();
  } catch (error) {
    if (error.code !== "unauthorized") throw error;
    forget();
    signIn({ message: "this device was signed out" });
  }
} else {
  signIn(problem);
}
