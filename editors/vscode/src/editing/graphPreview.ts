// The graph of a skill file beside it, drawn again when it is saved.

import * as vscode from "vscode";
import { execFile } from "node:child_process";
import path from "node:path";
import { pageOf } from "../panel";
import type { Session } from "../session";
import { outline, targetOf } from "./outline";

interface Preview {
  panel: vscode.WebviewPanel;
  skill: string | null;
}

export class GraphPreview implements vscode.Disposable {
  #session: Session;
  #extension: vscode.Uri;
  #previews = new Map<string, Preview>();
  #disposables: vscode.Disposable[];

  constructor(session: Session, extension: vscode.Uri) {
    this.#session = session;
    this.#extension = extension;
    this.#disposables = [
      vscode.commands.registerCommand("aye.graph", (uri?: vscode.Uri, skill?: string | null) => this.#open(uri ?? vscode.window.activeTextEditor?.document.uri, skill ?? null)),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => void this.#draw(uri)),
    ];
  }

  dispose(): void {
    for (const { panel } of this.#previews.values()) panel.dispose();
    for (const one of this.#disposables) one.dispose();
  }

  #open(uri: vscode.Uri | undefined, skill: string | null): void {
    if (!uri) return;
    const known = this.#previews.get(String(uri));
    if (known) {
      known.skill = skill;
      known.panel.reveal(undefined, true);
      void this.#draw(uri);
      return;
    }
    const panel = vscode.window.createWebviewPanel("aye.graphPreview", `Graph ${path.basename(uri.fsPath)}`, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, {
      enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.#extension, "dist")], retainContextWhenHidden: true,
    });
    panel.iconPath = vscode.Uri.joinPath(this.#extension, "media", "aye.svg");
    this.#previews.set(String(uri), { panel, skill });
    panel.onDidDispose(() => this.#previews.delete(String(uri)));
    panel.webview.onDidReceiveMessage((message: { type: string; step?: string }) => {
      if (message.type === "ready") void this.#draw(uri);
      else if (message.step) void this.#reveal(uri, message.step);
    });
    panel.webview.html = pageOf(panel.webview, this.#extension, "graph", {});
  }

  async #draw(uri: vscode.Uri): Promise<void> {
    const preview = this.#previews.get(String(uri));
    if (!preview) return;
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
    const { program, env } = this.#session.place;
    const text = await vscode.workspace.openTextDocument(uri).then((document) => document.getText(), () => "");
    if (this.#previews.get(String(uri)) !== preview) return;
    const target = targetOf(uri.fsPath, text, preview.skill);
    preview.panel.title = `Graph ${path.basename(target)}`;
    execFile(program, ["graph", target, "--format", "svg"], { cwd: folder, env, timeout: 60_000, maxBuffer: 32 * 1024 * 1024 }, (error, stdout, stderr) => {
      void preview.panel.webview.postMessage(error ? { problem: stderr.trim() || error.message } : { svg: stdout });
    });
  }

  async #reveal(uri: vscode.Uri, step: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const skills = outline(document.getText());
    const drawn = skills.find(({ name }) => name === this.#previews.get(String(uri))?.skill) ?? skills[0];
    const found = drawn?.definitions.find((one) => one.name === step && (one.kind === "step" || one.kind === "state"));
    if (!found) return;
    const range = new vscode.Range(document.positionAt(found.start), document.positionAt(found.end));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, selection: range });
  }
}
