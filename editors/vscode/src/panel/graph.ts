// Inside the preview of a graph: the drawing, rebuilt element by element as the page does it. A click on a
// step goes to it in the file.

import { drawing } from "aye-page/graph.js";
import "./panel.css";

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

const host = acquireVsCodeApi();
const root = document.getElementById("app");

addEventListener("message", (event: MessageEvent<{ svg?: string; problem?: string }>) => {
  const { svg, problem } = event.data;
  const drawn = svg ? drawing(svg) : null;
  const frame = document.createElement("div");
  frame.className = "graph";
  if (problem) {
    const words = document.createElement("p");
    words.className = "error";
    words.textContent = problem;
    root?.replaceChildren(words, ...(root.querySelector(".graph") ? [root.querySelector(".graph") as Element] : []));
    return;
  }
  if (drawn) frame.append(drawn);
  root?.replaceChildren(frame);
});

addEventListener("click", (event) => {
  const step = (event.target as Element | null)?.closest?.("g[class]")?.querySelector(":scope > title")?.textContent?.split("\n")[0];
  if (step) host.postMessage({ type: "reveal", step });
});
host.postMessage({ type: "ready" });
