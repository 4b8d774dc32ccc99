// Inside the Command Center: the page's own frame and views, with a transport that speaks to the extension.

import { App } from "aye-page/app.js";
import { PanelTransport } from "./transport";
import "./panel.css";

const root = document.getElementById("app");
if (!root) throw new Error("the document has no place for the page");
const transport = new PanelTransport();

// VS Code takes clicks on links for itself, and follows none that begins with `#`.
addEventListener("click", (event) => {
  const link = (event.target as Element | null)?.closest?.("a[href^='#/']");
  if (!link || event.defaultPrevented) return;
  event.preventDefault();
  event.stopPropagation();
  location.hash = link.getAttribute("href") ?? "";
}, { capture: true });

addEventListener("hashchange", () => transport.remember(location.hash.replace(/^#\//, "")));
location.hash = `#/${transport.restored() ?? root.dataset.path ?? "inbox"}`;

async function begin(element: Element): Promise<void> {
  for (;;) {
    try {
      const who = await transport.get("/session");
      new App(element, transport, who, () => {}, { embedded: true }).start();
      return;
    } catch {
      element.textContent = "Aye is connecting…";
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

void begin(root);
