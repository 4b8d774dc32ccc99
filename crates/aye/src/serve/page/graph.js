// The server's drawing of a flow, rebuilt element by element: what is not on the list is not drawn,
// so nothing in it can run. Each step gets a class for where the run stands.

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(["svg", "g", "path", "rect", "circle", "text", "title"]);
const ATTRIBUTES = new Set([
  "class", "d", "x", "y", "width", "height", "rx", "ry", "cx", "cy", "r", "transform", "viewBox", "role", "aria-label",
  "text-anchor", "font-size", "font-weight", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity",
  "data-end", "data-after",
]);

// Reads XML as data: no script of a document made this way runs, and only the copy below is shown.
const policy = globalThis.trustedTypes?.createPolicy("aye-graph", { createHTML: (text) => text });

/** An element with the drawing; `null` if the text is not one. */
export function drawing(text) {
  // Its own style sheet is for other viewers; the page has one, and its policy allows no other.
  const bare = text.replace(/<style>[^<]*<\/style>/, "");
  const source = policy ? policy.createHTML(bare) : bare;
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  return root.localName === "svg" && root.namespaceURI === SVG ? withoutTitle(copy(root)) : null;
}

// The room that the drawing has for its title; the page has a heading of its own.
const TITLE = 44;

function withoutTitle(svg) {
  const [x, y, width, height] = (svg.getAttribute("viewBox") ?? "").split(" ").map(Number);
  if (!(height > TITLE)) return svg;
  svg.setAttribute("viewBox", [x, y + TITLE, width, height - TITLE].join(" "));
  svg.setAttribute("height", String(height - TITLE));
  return svg;
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

const STANDINGS = { running: "lit", asking: "asking", done: "done", failed: "wrong", unsure: "unsure", cancelled: "stopped", skipped: "left-out" };

/** Marks each step with where it stands (`{ build: "done", deploy: "running" }`), and the end that was reached. */
export function light(svg, standings, end) {
  // An end has the colour of how it ends only once a run is there.
  svg.classList.add("of-run");
  for (const group of svg.querySelectorAll("g[class]")) {
    const name = group.querySelector(":scope > title")?.textContent.split("\n")[0];
    if (name === undefined) continue;
    const standing = STANDINGS[group.hasAttribute("data-end") ? standingOfEnd(group, name, end) : standings[name]];
    for (const other of Object.values(STANDINGS)) group.classList.toggle(other, other === standing);
  }
}

function standingOfEnd(group, name, end) {
  if (!end) return null;
  const reached = {
    state: end.state === name,
    last: !end.state && end.status === "done",
    after: !end.state && end.after === group.getAttribute("data-after") && group.classList.contains(end.status === "done" ? "completed" : "cancelled"),
  };
  return reached[group.getAttribute("data-end")] ? end.status : null;
}
