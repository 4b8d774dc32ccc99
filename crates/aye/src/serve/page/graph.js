// The server's drawing of a flow, rebuilt element by element: what is not on the list is not drawn,
// so nothing in it can run. Each step gets a class for where the run stands.

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "path", "rect", "circle", "text", "title"]);
const ATTRIBUTES = new Set([
  "class", "d", "x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "transform", "viewBox", "role", "aria-label",
  "text-anchor", "font-size", "font-weight", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity",
]);

// Reads XML as data: no script of a document made this way runs, and only the copy below is shown.
const policy = globalThis.trustedTypes?.createPolicy("aye-graph", { createHTML: (text) => text });

/** An element with the drawing; `null` if the text is not one. */
export function drawing(text) {
  // Its own style sheet is for other viewers; the page has one, and its policy allows no other.
  const bare = text.replace(/<style>[^<]*<\/style>/, "");
  const source = policy ? policy.createHTML(bare) : bare;
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  return root.localName === "svg" && root.namespaceURI === SVG ? copy(root) : null;
}

function copy(from) {
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of from.attributes) {
    if (ATTRIBUTES.has(name)) to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE && ELEMENTS.has(child.localName)) to.append(copy(child));
  }
  return to;
}

const STANDINGS = { running: "lit", asking: "asking", done: "done", failed: "wrong", skipped: "left-out" };

/** Marks each step with where it stands: `{ build: "done", deploy: "running" }`. */
export function light(svg, standings) {
  for (const group of svg.querySelectorAll("g[class]")) {
    const name = group.querySelector(":scope > title")?.textContent.split("\n")[0];
    if (name === undefined) continue;
    const standing = STANDINGS[standings[name]];
    for (const other of Object.values(STANDINGS)) group.classList.toggle(other, other === standing);
  }
}
