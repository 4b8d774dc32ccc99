// Puts the parts together.

import * as vscode from "vscode";
import { Asker } from "./asking";
import { ApiError } from "./client";
import { GraphPreview } from "./editing/graphPreview";
import { Editing } from "./editing/providers";
import type { Schema } from "./editing/schema";
import type { CommandFields, CommandType } from "./model";
import { Panel } from "./panel";
import { withoutLinks } from "./question";
import type { ServerProblem } from "./server";
import { Session } from "./session";
import { Starting } from "./starting";
import { StatusBar } from "./statusBar";
import { Toasts } from "./toasts";
import { Inbox, Runs, Skills, type RunItem } from "./trees";
import { Walkthrough } from "./walkthrough";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Aye", { log: true });
  const session = new Session(log);
  const panel = new Panel(session, context.extensionUri);
  const openPanel = (path: string): void => panel.open(path);
  const skills = new Skills(session);
  const toasts = new Toasts(session);
  const schema = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(context.extensionUri, "dist", "skill.schema.json")))) as Schema;
  context.subscriptions.push(
    log, session, panel, skills, toasts, new StatusBar(session), new Asker(session, openPanel), new Inbox(session), new Runs(session),
    new Starting(session, skills, toasts, openPanel), new Editing(session, schema, () => skills.skills), new GraphPreview(session, context.extensionUri),
    new Walkthrough(session, skills),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("aye")) session.reload();
    }),
    session.onState(({ connected, problem }) => {
      void vscode.commands.executeCommand("setContext", "aye.connected", connected);
      void vscode.commands.executeCommand("setContext", "aye.problem", problem?.kind ?? "");
      if (problem) tell(problem);
    }),
    ...commands(session, panel),
  );
  session.client.connect();
}

function commands(session: Session, panel: Panel): vscode.Disposable[] {
  const command = vscode.commands.registerCommand;
  const act = async <T extends CommandType>(what: T, fields: CommandFields<T>): Promise<void> => {
    if (!session.mayAct()) {
      session.sayWhyNot();
      return;
    }
    try {
      await session.client.command(what, fields);
    } catch (error) {
      const problem = error instanceof ApiError ? error : new ApiError("failed", String(error));
      void vscode.window.showErrorMessage(withoutLinks(`Aye: ${problem.message}${problem.hint ? ` (${problem.hint})` : ""}`));
    }
  };
  return [
    command("aye.openPanel", () => panel.open()),
    command("aye.openRun", (run?: string | RunItem, step?: string) => {
      const [id, name] = typeof run === "string" ? [run, step] : [run?.row.run, run && "step" in run ? run.step.name : undefined];
      if (id) panel.open(`runs/${encodeURIComponent(id)}${name ? `/${encodeURIComponent(name)}` : ""}`);
    }),
    command("aye.cancelRun", async (item?: RunItem) => {
      if (!item) return;
      const answer = await vscode.window.showWarningMessage(`Cancel the run of ${item.row.skill}?`, { modal: true, detail: `Run ${item.row.run}. What it has done so far stays done.` }, "Cancel the run");
      if (answer) await act("cancel", { run: item.row.run });
    }),
    command("aye.retryRun", async (item?: RunItem) => {
      if (!item) return;
      if (session.mayStart(item.row.workspace)) await act("retry", { run: item.row.run });
      else void vscode.window.showWarningMessage(withoutLinks(session.whyNotStart(item.row.workspace)));
    }),
    command("aye.startServer", () => session.startServer()),
    command("aye.showLog", () => session.log.show()),
    command("aye.openWalkthrough", () => vscode.commands.executeCommand("workbench.action.openWalkthrough", "aye-run.aye#aye.start", false)),
  ];
}

let told = "";

/** Says once what a person can do about it. */
function tell(problem: ServerProblem): void {
  if (problem.kind === "not-running" || told === problem.message) return;
  told = problem.message;
  if (problem.kind === "missing" || problem.kind === "too-old") {
    const words = problem.kind === "missing"
      ? `Aye: ${problem.message}. Install it, or say where it is in the setting aye.path.`
      : `Aye: ${problem.message}.`;
    void vscode.window.showErrorMessage(withoutLinks(words), "Open setting", "How to install").then((answer) => {
      if (answer === "Open setting") void vscode.commands.executeCommand("workbench.action.openSettings", "aye.path");
      if (answer === "How to install") void vscode.commands.executeCommand("aye.openWalkthrough");
    });
    return;
  }
  void vscode.window.showErrorMessage(withoutLinks(`Aye: ${problem.message}`), "Show log").then((answer) => answer && vscode.commands.executeCommand("aye.showLog"));
}
