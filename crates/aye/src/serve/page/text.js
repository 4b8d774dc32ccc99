// Words and numbers as people read them. Everything here returns text or lit templates, never markup.

import { html } from "./vendor/lit-anser.js";
import { ago, clock, day, HIDDEN } from "./words.js";

export * from "./words.js";

/** Text with every character that cannot be seen, or that reorders others, shown by its number. */
export function visible(text) {
  const source = String(text ?? "");
  const parts = [];
  let from = 0;
  for (const found of source.matchAll(HIDDEN)) {
    if (found.index > from) parts.push(source.slice(from, found.index));
    const number = found[0].codePointAt(0).toString(16);
    parts.push(html`<span class="control" title="control character U+${number.toUpperCase().padStart(4, "0")}">\\u{${number}}</span>`);
    from = found.index + found[0].length;
  }
  if (from === 0) return source;
  if (from < source.length) parts.push(source.slice(from));
  return parts;
}

/** The same as plain text, for names and titles that take no elements. */
export function plain(text) {
  return String(text ?? "").replace(HIDDEN, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** Paragraphs with `code` between backticks; what is quoted (`| …`) is shown as it is. */
export function prose(text) {
  const parts = String(text ?? "").split(/^(\| .*)$/m);
  return parts.map((part) => (part.startsWith("| ") ? visible(part) : paragraph(part)));
}

function paragraph(text) {
  const parts = text.split(/(`[^`\n]+`)/);
  return parts.map((part) =>
    part.length > 2 && part.startsWith("`") && part.endsWith("`")
      ? html`<code>${visible(part.slice(1, -1))}</code>`
      : visible(part));
}

/** A moment as an element: `4m ago`, and day and time when a pointer rests on it. */
export function moment(then, now) {
  if (!then) return "";
  return html`<time datetime=${then} title="${day(then)} ${clock(then)}">${ago(then, now)}</time>`;
}
