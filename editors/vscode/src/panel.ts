// The Command Center: the web page's own views in a panel. The panel has no session and no network of its
// own; everything it shows and does goes through this window's connection.

import * as vscode from "vscode";
import { randomBytes } from "node:crypto";
import { ApiError } from "./client";
import type { CommandFields, CommandType, ServerMessage } from "./model";
import type { Session } from "./session";

const TYPE = "aye.commandCenter";

interface Call {
  type: "call";
  id: number;
  what: "command" | "get" | "post" | "remove" | "bytes";
  args: unknown[];
}

type FromPanel =
  | Call
  | { type: "listen" }
  | { type: "at"; path: string }
  | { type: "show"; question: string | null };

export class Panel implements vscode.Disposable {
  #session: Session;
  #extension: vscode.Uri;
  #panel: vscode.WebviewPanel | null = null;
  #isLive = false;
  #path = "inbox";
  #disposables: vscode.Disposable[];

  constructor(session: Session, extension: vscode.Uri) {
    this.#session = session;
    this.#extension = extension;
    this.#disposables = [
      session.onMessage((message) => {
        if (this.#isLive) this.#post({ type: "message", message });
      }),
      session.onState(() => {
        this.#post({ type: "state", state: this.#state() });
        if (!session.client.state.connected) return;
        // The first connection after the panel was opened.
        if (!this.#isLive && this.#panel) void this.#listen();
      }),
      session.onChime(() => {
        if (!this.#panel?.visible) return false;
        this.#post({ type: "chime" });
        return true;
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#reload()),
      vscode.window.registerWebviewPanelSerializer(TYPE, {
        deserializeWebviewPanel: async (panel, state: { path?: string } | undefined) => {
          this.#path = state?.path ?? "inbox";
          this.#attach(panel);
        },
      }),
    ];
  }

  dispose(): void {
    this.#panel?.dispose();
    for (const one of this.#disposables) one.dispose();
  }

  /** Shows a view: `inbox`, `runs/ID`, `skills/NAME?project=…`. */
  open(path?: string): void {
    if (path) this.#path = path;
    if (this.#panel) {
      this.#panel.reveal();
      if (path) this.#post({ type: "go", path });
      return;
    }
    this.#attach(vscode.window.createWebviewPanel(TYPE, "Aye", vscode.ViewColumn.Active, { retainContextWhenHidden: true, enableFindWidget: true }));
  }

  #attach(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    const { webview } = panel;
    panel.title = "Aye";
    panel.iconPath = vscode.Uri.joinPath(this.#extension, "media", "aye.svg");
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.#extension, "dist")] };
    webview.onDidReceiveMessage((message: FromPanel) => this.#receive(message));
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#session.panelShows(null);
    });
    panel.onDidDispose(() => {
      this.#panel = null;
      this.#isLive = false;
      this.#session.panelShows(null);
    });
    webview.html = pageOf(webview, this.#extension, "panel", { path: this.#path, trusted: String(vscode.workspace.isTrusted) });
  }

  #reload(): void {
    if (!this.#panel) return;
    this.#isLive = false;
    const { webview } = this.#panel;
    webview.html = pageOf(webview, this.#extension, "panel", { path: this.#path, trusted: String(vscode.workspace.isTrusted) });
  }

  #post(message: object): void {
    void this.#panel?.webview.postMessage(message);
  }

  #state(): { connected: boolean; since: number } {
    const { connected, since } = this.#session.client.state;
    return { connected: connected && this.#isLive, since };
  }

  /** From here on the panel hears what this window hears, beginning with how things are now. */
  async #listen(): Promise<void> {
    try {
      const { snapshot } = await this.#session.client.command("snapshot", {});
      this.#isLive = true;
      this.#post({ type: "state", state: this.#state() });
      this.#post({ type: "message", message: { ...(snapshot as object), type: "snapshot" } satisfies ServerMessage });
    } catch {
      // It is tried again once there is a connection.
    }
  }

  #receive(message: FromPanel): void {
    switch (message.type) {
      case "listen":
        this.#post({ type: "state", state: this.#state() });
        // Where it was sent while it was loading.
        this.#post({ type: "go", path: this.#path });
        void this.#listen();
        break;
      case "at":
        this.#path = message.path;
        break;
      case "show":
        this.#session.panelShows(this.#panel?.visible ? message.question : null);
        break;
      case "call":
        void this.#call(message);
        break;
    }
  }

  async #call({ id, what, args }: Call): Promise<void> {
    try {
      this.#post({ type: "reply", id, value: await this.#do(what, args) });
    } catch (error) {
      const { code, message, hint } = error instanceof ApiError ? error : new ApiError("failed", String(error));
      this.#post({ type: "reply", id, error: { code, message, hint } });
    }
  }

  async #do(what: Call["what"], args: unknown[]): Promise<unknown> {
    const { client } = this.#session;
    const [first, second] = args as [string, object | undefined];
    switch (what) {
      case "command":
        this.#mustAct();
        await this.#mustStart(first as CommandType, (second ?? {}) as Record<string, unknown>);
        if (first === "answer") return this.#answer((second ?? {}) as CommandFields<"answer">);
        return client.command(first as CommandType, (second ?? {}) as CommandFields<CommandType>);
      case "get":
        return first === "/session" ? this.#who() : client.get(first);
      case "post":
        // A dry run changes nothing; everything else does.
        if (!first.endsWith("/dry-run")) this.#mustAct();
        return client.post(first, second);
      case "remove":
        this.#mustAct();
        await client.request("DELETE", first, { body: second ?? {} });
        return null;
      case "bytes": {
        const response = await client.request("GET", first, { headers: (second ?? {}) as Record<string, string> });
        return { status: response.status, headers: [...response.headers], bytes: new Uint8Array(await response.arrayBuffer()) };
      }
    }
  }

  async #answer(fields: CommandFields<"answer">): Promise<unknown> {
    const { answeredHere, client } = this.#session;
    answeredHere.add(fields.question);
    const result = await client.command("answer", fields);
    if (Number(result.missing ?? 0) > 0) answeredHere.delete(fields.question);
    return result;
  }

  #mustAct(): void {
    if (!vscode.workspace.isTrusted) throw new ApiError("not_trusted", this.#session.whyNot());
  }

  /** What starts something of a project needs a window that has the project open. */
  async #mustStart(command: CommandType, fields: Record<string, unknown>): Promise<void> {
    if (command !== "start" && command !== "retry" && command !== "resume") return;
    const project = command === "start" ? await this.#projectOf(fields) : await this.#placeOf(String(fields.run));
    if (!this.#session.isOpen(project)) throw new ApiError("not_trusted", this.#session.whyNotStart(project));
  }

  async #projectOf({ skill, project }: Record<string, unknown>): Promise<string> {
    if (typeof project === "string") return project;
    return (await this.#session.client.get<{ project: string }>(`/skills/${encodeURIComponent(String(skill))}`)).project;
  }

  async #placeOf(run: string): Promise<string> {
    return this.#session.store.rows.get(run)?.workspace ?? (await this.#session.client.get<{ workspace: string }>(`/runs/${encodeURIComponent(run)}`)).workspace;
  }

  /** Who this window speaks for; in a restricted window it may only read. */
  async #who(): Promise<unknown> {
    const who = await this.#session.client.get<{ rights: string[] }>("/session");
    return vscode.workspace.isTrusted ? who : { ...who, rights: ["read"] };
  }
}

/** A document that may run one script of ours and nothing else, and reach nothing. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri, name: string, data: Record<string, string>): string {
  const nonce = randomBytes(16).toString("base64url");
  const at = (file: string): string => String(webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", file)));
  const attributes = Object.entries(data).map(([key, value]) => ` data-${key}="${escape(value)}"`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; img-src ${webview.cspSource}; form-action 'none'; base-uri 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at("panel.css")}">
<title>Aye</title>
</head>
<body class="aye-${name}">
<div id="app"${attributes}></div>
<script type="module" nonce="${nonce}" src="${at(`${name}.js`)}"></script>
</body>
</html>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;");
}
