// What a change changes, line by line.

import { html } from "./vendor/lit-anser.js";
import { visible } from "./text.js";

const LONGEST = 400;

/** The lines of two texts: `[{ sign: " " | "+" | "-", text }]`. */
export function lines(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length * b.length > LONGEST * LONGEST) {
    return [...a.map((text) => ({ sign: "-", text })), ...b.map((text) => ({ sign: "+", text }))];
  }
  // Longest common subsequence, from the end.
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ sign: " ", text: a[i] });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      out.push({ sign: "-", text: a[i] });
      i += 1;
    } else {
      out.push({ sign: "+", text: b[j] });
      j += 1;
    }
  }
  return out;
}

const CLASSES = { "+": "plus", "-": "minus", "@": "place" };
const SPOKEN = { "+": "added: ", "-": "removed: " };

function show(all) {
  return html`<div class="diff">${all.map(({ sign, text }) => html`<div class=${CLASSES[sign] ?? ""}>${
    SPOKEN[sign] ? html`<span class="visually-hidden">${SPOKEN[sign]}</span>` : ""}<span aria-hidden="true">${sign}</span> ${visible(text)}</div>`)}</div>`;
}

/** The difference between two texts. */
export function difference(before, after) {
  return show(lines(before ?? "", after ?? ""));
}

/** A diff that someone else made. */
export function unified(text) {
  const all = text.replace(/\n$/, "").split("\n").map((line) => ({ sign: line[0] ?? " ", text: line.slice(1) }));
  return show(all);
}
