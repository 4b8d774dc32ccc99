// What every part of the extension shares: the connection, what is known, the settings, a clock.

import * as vscode from "vscode";
import { Store, type Change } from "aye-page/store.js";
import { plain } from "aye-page/words.js";
import { Client, type ConnectionState } from "./client";
import { isInside } from "./folders";
import { cliOf, launch, playerOf, type Program } from "./launch";
import type { Question, ServerMessage } from "./model";
import { nameOf } from "./question";
import { find, homeOf, mustBeRecent, ServerProblem, start, versionOf, type Announcement, type Place } from "./server";

// A server that is restarted by others comes back within a few attempts; then we start one.
const ATTEMPTS = 5;

export interface Settings {
  program: string;
  home: string;
  start: boolean;
  questions: "all" | "workspace" | "none";
  sound: boolean;
  soundCommand: string[];
  raise: boolean;
  raiseCommand: string[];
  toasts: { started: boolean; completed: boolean; failed: boolean; heals: boolean; runs: "all" | "workspace" };
}

export function readSettings(): Settings {
  const config = vscode.workspace.getConfiguration("aye");
  const get = <T>(name: string, fallback: T): T => config.get<T>(name) ?? fallback;
  return {
    program: get("path", "") || "aye",
    home: homeOf(get("home", ""), process.env),
    start: get("server.start", true),
    questions: get("questions.notify", "all"),
    sound: get("questions.sound", false),
    soundCommand: get("questions.soundCommand", []),
    raise: get("questions.raiseWindow", false),
    raiseCommand: get("questions.raiseCommand", []),
    toasts: {
      started: get("toasts.started", true), completed: get("toasts.completed", true), failed: get("toasts.failed", true),
      heals: get("toasts.heals", true), runs: get("toasts.runs", "workspace"),
    },
  };
}

export class Session implements vscode.Disposable {
  readonly client: Client;
  readonly store: Store;
  readonly log: vscode.LogOutputChannel;
  settings: Settings;
  /** Answered in this window: no need to tell its person. */
  readonly answeredHere = new Set<string>();
  #changed = new vscode.EventEmitter<Change>();
  #stated = new vscode.EventEmitter<ConnectionState>();
  #ticked = new vscode.EventEmitter<void>();
  #messaged = new vscode.EventEmitter<ServerMessage>();
  #clock: NodeJS.Timeout;
  #focus: vscode.Disposable;
  #isPanelShowing: string | null = null;
  #prompting: string | null = null;
  #notified: readonly string[] = [];
  #wantsStart = false;
  // The server whose version is known to be recent enough.
  #recent = "";
  #chimes: ((question: Question) => boolean)[] = [];
  readonly onChange = this.#changed.event;
  readonly onState = this.#stated.event;
  readonly onTick = this.#ticked.event;
  readonly onMessage = this.#messaged.event;

  constructor(log: vscode.LogOutputChannel) {
    this.log = log;
    this.settings = readSettings();
    this.client = new Client((attempt) => this.#locate(attempt));
    this.store = new Store(this.client);
    this.store.subscribe((change) => this.#changed.fire(change));
    this.client.on("message", (message) => {
      this.store.receive(message);
      this.#messaged.fire(message);
    });
    this.client.on("state", (state) => {
      log.info(state.connected ? `connected to ${this.client.url}` : `not connected${state.problem ? `: ${state.problem.message}` : ""}`);
      this.#stated.fire(state);
    });
    this.#clock = setInterval(() => this.#ticked.fire(), 1000);
    const tell = (): void => this.#tellShown();
    this.#focus = vscode.Disposable.from(vscode.window.onDidChangeWindowState(tell), vscode.workspace.onDidGrantWorkspaceTrust(tell));
  }

  dispose(): void {
    clearInterval(this.#clock);
    this.#focus.dispose();
    this.client.close();
    for (const one of [this.#changed, this.#stated, this.#ticked, this.#messaged]) one.dispose();
  }

  get place(): Place {
    return { program: this.settings.program, home: this.settings.home, env: { ...process.env, AYE_HOME: this.settings.home } };
  }

  /** Settings changed: another program or home is another server. */
  reload(): void {
    const before = this.settings;
    this.settings = readSettings();
    this.log.info("settings read");
    if (before.program !== this.settings.program || before.home !== this.settings.home) void vscode.window.showInformationMessage("Aye: reload the window to use the other program or home.", "Reload").then((answer) => answer && vscode.commands.executeCommand("workbench.action.reloadWindow"));
  }

  /** Finds the server or starts it, now. */
  startServer(): void {
    this.#wantsStart = true;
    this.client.reconnect();
  }

  async #locate(attempt: number): Promise<Announcement> {
    const server = (await find(this.settings.home)) ?? (await this.#start(attempt));
    const which = `${server.pid} ${server.url}`;
    if (which !== this.#recent) await mustBeRecent(server);
    this.#recent = which;
    return server;
  }

  async #start(attempt: number): Promise<Announcement> {
    await versionOf(this.place);
    const isFirst = this.client.after === 0;
    if (this.#wantsStart || (this.settings.start && (isFirst || attempt >= ATTEMPTS))) {
      this.#wantsStart = false;
      this.log.info(`starting \`${this.settings.program} serve\` for ${this.settings.home}`);
      return start(this.place);
    }
    throw new ServerProblem("not-running", "no server runs for this home");
  }

  /** The server's clock. */
  now(): number {
    return Date.now() + this.store.skew;
  }

  openQuestions(): Question[] {
    return this.store.list().filter((question) => question.state === "open");
  }

  /** Whether a directory belongs to this window: it is inside one of its folders, or around it. */
  isHere(directory: string | null | undefined): boolean {
    return this.#folders().some((folder) => directory && (isInside(directory, folder) || isInside(folder, directory)));
  }

  #folders(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  }

  /** Starting and answering need a window that VS Code trusts. */
  mayAct(): boolean {
    return vscode.workspace.isTrusted && this.client.state.connected;
  }

  /** Something of a project starts only where VS Code trusts it: in a window that has it open. */
  mayStart(project: string | null | undefined): boolean {
    return this.mayAct() && this.isOpen(project);
  }

  /** Whether this window was asked to trust a project: it is a folder of the window, or inside one. */
  isOpen(project: string | null | undefined): boolean {
    return this.#folders().some((folder) => project && isInside(project, folder));
  }

  whyNotStart(project: string | null | undefined): string {
    if (!this.mayAct()) return this.whyNot();
    return `${plain(project ?? "The project")} is not open in this window, so VS Code was never asked to trust it: Aye only reads it here. Open that folder to run its skills.`;
  }

  whyNot(): string {
    return vscode.workspace.isTrusted
      ? "Aye is not connected; nothing was sent."
      : "Aye only reads in a restricted window. Trust this workspace in VS Code to start runs and answer questions.";
  }

  /** Says why nothing is done. Without a button, VS Code would cut the message after its first line. */
  sayWhyNot(): void {
    const button = vscode.workspace.isTrusted ? "Show log" : "Manage Trust";
    const command = vscode.workspace.isTrusted ? "aye.showLog" : "workbench.trust.manage";
    void vscode.window.showWarningMessage(this.whyNot(), button).then((answer) => answer && vscode.commands.executeCommand(command));
  }

  /** Which question an open list, field or dialog shows. */
  showing(prompt: string | null): void {
    this.#prompting = prompt;
    this.#tellShown();
  }

  /** Of which questions this window has told its person: VS Code may hide a notification, so none of them counts as seen. */
  notifies(questions: readonly string[]): void {
    this.#notified = questions;
    this.#tellShown();
  }

  panelShows(question: string | null): void {
    this.#isPanelShowing = question;
    this.#tellShown();
  }

  /** The panel's question, else the one of a prompt; none in a window that nobody is at. */
  #tellShown(): void {
    const shown = vscode.window.state.focused ? this.#isPanelShowing ?? this.#prompting : null;
    // Nothing can be answered in a restricted window.
    this.client.show(shown, vscode.workspace.isTrusted ? this.#notified : []);
  }

  /** Anyone who can play a sound in the window itself; says whether it does. */
  onChime(play: (question: Question) => boolean): vscode.Disposable {
    this.#chimes.push(play);
    return { dispose: () => (this.#chimes = this.#chimes.filter((one) => one !== play)) };
  }

  /** A new question: a sound and the window in front, if that is wanted. */
  attract(question: Question): void {
    this.log.info(`asked: ${nameOf(question)} (${question.id})`);
    if (this.settings.sound) {
      const [program, ...args] = this.settings.soundCommand;
      if (program) this.#launch([program, ...args]);
      else if (!this.#chimes.some((play) => play(question)) && !vscode.env.remoteName) this.#launch(playerOf(process.platform));
    }
    if (this.settings.raise) this.#raise();
  }

  /** The editor's own command line brings the window of a folder to the front. */
  #raise(): void {
    const [program, ...args] = this.settings.raiseCommand;
    if (program) {
      this.#launch([program, ...args]);
      return;
    }
    const open = vscode.workspace.workspaceFile ?? vscode.workspace.workspaceFolders?.[0]?.uri;
    const { appRoot, appName, remoteName } = vscode.env;
    const { program: cli, env } = cliOf({ platform: process.platform, appRoot, appName, execPath: process.execPath, isRemote: Boolean(remoteName) });
    if (open) this.#launch([...cli, "--reuse-window", open.fsPath], env);
  }

  #launch(program: Program, env: Record<string, string> = {}): void {
    void launch(program, { ...process.env, ...env }).then((problem) => problem && this.log.warn(problem));
  }
}
