// The page begins here: sign in, connect, show.

import { App } from "./app.js";
import { html, render } from "./vendor/lit-anser.js";
import { forget, redeem, secret, takeLink } from "./session.js";
import { Transport } from "./transport.js";
import { visible } from "./text.js";

const root = document.getElementById("app");

function signIn(problem) {
  document.title = "Sign in · Aye";
  render(html`<main class="sign-in" id="main"><div class="panel stack"><h1>Aye</h1>
    ${problem ? html`<p class="error" role="alert">${visible(problem.message)}${problem.hint ? html` <span class="soft">${visible(problem.hint)}</span>` : ""}</p>` : ""}
    <p>This browser is not signed in. On the machine of the server, run</p>
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
if (secret() && !problem) {
  const transport = new Transport(secret());
  try {
    new App(root, transport, await transport.get("/session"), () => {
      forget();
      location.reload();
    }).start();
  } catch (error) {
    if (error.code !== "unauthorized") throw error;
    forget();
    signIn({ message: "this browser was signed out" });
  }
} else {
  signIn(problem);
}
