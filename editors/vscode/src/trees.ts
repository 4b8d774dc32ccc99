// The views of the activity bar: what waits for an answer, what runs and ran, and what can be run.

import * as vscode from "vscode";
import path from "node:path";
import { duration, plain, plural } from "aye-page/words.js";
import type { Question, RunRow, RunState, SkillView, StepState } from "./model";
import { iconOf, marksOf, progressOf, since } from "./progress";
import { nameOf, timeLeft, titled } from "./question";
import type { Session } from "./session";

// Changes come in bursts; a tree is drawn again at most this often.
const PAUSE = 250;
const OLDER = 30;

abstract class Tree<T> implements vscode.TreeDataProvider<T>, vscode.Disposable {
  #changed = new vscode.EventEmitter<void>();
  #timer: NodeJS.Timeout | null = null;
  protected disposables: vscode.Disposable[] = [];
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<T>;

  constructor(protected session: Session, id: string) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    this.disposables.push(this.view, session.onChange(() => this.refresh()), session.onState(() => this.refresh()));
  }

  refresh(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.drawn();
      this.#changed.fire();
    }, PAUSE);
  }

  /** Before it is drawn again. */
  protected drawn(): void {}

  abstract getTreeItem(element: T): vscode.TreeItem;
  abstract getChildren(element?: T): vscode.ProviderResult<T[]>;

  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
    for (const one of this.disposables) one.dispose();
  }
}

export interface InboxItem {
  question: Question;
}

export class Inbox extends Tree<InboxItem> {
  constructor(session: Session) {
    super(session, "aye.inbox");
    this.disposables.push(session.onTick(() => {
      if (this.view.visible && session.openQuestions().some((question) => question.deadline)) this.refresh();
    }));
  }

  protected override drawn(): void {
    const open = this.session.store.questionsOpen;
    this.view.badge = open > 0 ? { value: open, tooltip: `${plural(open, "question")} waiting` } : undefined;
  }

  getChildren(element?: InboxItem): InboxItem[] {
    return element ? [] : this.session.openQuestions().map((question) => ({ question }));
  }

  getTreeItem({ question }: InboxItem): vscode.TreeItem {
    const item = new vscode.TreeItem(nameOf(question));
    item.id = question.id;
    item.description = `${plain(question.skill)} · ${timeLeft(question, this.session.now())}`;
    item.tooltip = new vscode.MarkdownString().appendText(plain(question.message));
    item.iconPath = new vscode.ThemeIcon(question.destructive ? "warning" : "question", new vscode.ThemeColor("charts.yellow"));
    item.contextValue = "question";
    item.command = { command: "aye.answer", title: "Answer", arguments: [question.id] };
    item.accessibilityInformation = { label: titled(question, `${plain(question.skill)}, ${plain(question.message)}`) };
    return item;
  }
}

export type RunItem = { row: RunRow } | { row: RunRow; run: RunState; step: StepState };

export class Runs extends Tree<RunItem> {
  #older: RunRow[] = [];
  #loadedFor: string | null = null;
  // How long ago the runs began, as the tree says it.
  #drawn = "";

  constructor(session: Session) {
    super(session, "aye.runs");
    this.disposables.push(
      session.onState(({ connected }) => {
        if (connected) void this.#load();
      }),
      session.onTick(() => {
        if (this.view.visible && this.#ages() !== this.#drawn) this.refresh();
      }),
    );
  }

  protected override drawn(): void {
    this.#drawn = this.#ages();
  }

  #ages(): string {
    return this.rows().map((row) => since(row.started, this.session.now())).join();
  }

  async #load(): Promise<void> {
    const page = await this.session.client.get<{ runs: RunRow[] }>(`/runs?limit=${OLDER}`).catch(() => ({ runs: [] }));
    this.#older = page.runs;
    this.#loadedFor = this.session.client.url;
    this.refresh();
  }

  rows(): RunRow[] {
    const rows = new Map(this.#older.filter((row) => !row.parent).map((row) => [row.run, row]));
    for (const row of this.session.store.rows.values()) {
      if (!row.parent) rows.set(row.run, { ...rows.get(row.run), ...row });
    }
    return [...rows.values()].sort((a, b) => b.n - a.n).slice(0, 100);
  }

  async getChildren(element?: RunItem): Promise<RunItem[]> {
    if (!element) {
      if (this.#loadedFor === null && this.session.client.state.connected) void this.#load();
      return this.rows().map((row) => ({ row }));
    }
    if ("step" in element) return [];
    const tree = await this.session.store.tree(element.row.run).catch(() => null);
    const run = tree?.runs.get(element.row.run);
    return run ? [...run.steps.values()].map((step) => ({ row: element.row, run, step })) : [];
  }

  getTreeItem(element: RunItem): vscode.TreeItem {
    return "step" in element ? this.#step(element) : this.#run(element.row);
  }

  #run(row: RunRow): vscode.TreeItem {
    const isOver = row.ended !== null;
    const item = new vscode.TreeItem(plain(row.skill), isOver ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded);
    const words = isOver ? `${row.status} · ${duration(row.duration_ms)} · ${since(row.started, this.session.now())}` : `${row.status}${row.step ? ` at ${plain(row.step)}` : ""}`;
    item.id = `${row.run}${isOver ? "" : "-open"}`;
    item.label = progressOf(isOver ? { ...row, step: null } : row, this.session.store.trees.get(row.run)?.runs.get(row.run));
    item.description = words;
    item.tooltip = new vscode.MarkdownString().appendText(`${plain(row.skill)} ${row.run}\n${plain(row.workspace)}${row.message ? `\n${plain(row.message)}` : ""}`);
    item.iconPath = themed(row.status);
    item.contextValue = isOver ? (row.status === "failed" ? "run-failed" : "run-over") : "run-open";
    item.command = { command: "aye.openRun", title: "Open", arguments: [row.run] };
    return item;
  }

  #step({ row, run, step }: { row: RunRow; run: RunState; step: StepState }): vscode.TreeItem {
    const asks = step.question !== undefined && run.questions.get(step.question)?.state === "open";
    const item = new vscode.TreeItem(plain(step.name));
    item.id = `${row.run}/${step.name}`;
    const took = step.duration === null || step.duration === undefined ? "" : duration(step.duration);
    item.description = [asks ? "asks" : step.status === "pending" ? "" : step.status.replaceAll("_", " "), took, ...marksOf(step, run)].filter(Boolean).join(" · ");
    item.tooltip = new vscode.MarkdownString().appendText([step.description, step.message, ...step.notes].filter(Boolean).map(plain).join("\n"));
    item.iconPath = themed(asks ? "asking" : step.status);
    item.contextValue = step.execution > 0 ? "step" : "step-pending";
    item.command = { command: "aye.openRun", title: "Open", arguments: [row.run, step.execution > 0 ? step.name : undefined] };
    return item;
  }
}

function themed(status: string): vscode.ThemeIcon {
  const { icon, color } = iconOf(status);
  return new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
}

export type SkillItem = { project: string; skills: SkillView[] } | { skill: SkillView };

export class Skills extends Tree<SkillItem> {
  skills: SkillView[] = [];

  constructor(session: Session) {
    super(session, "aye.skills");
    this.disposables.push(
      session.onState(({ connected }) => {
        if (connected) void this.load();
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (/\.(ya?ml|toml)$/.test(document.fileName)) void this.load();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.load()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()),
    );
  }

  /** Those of every trusted project, and of the folders of this window. */
  async load(): Promise<void> {
    const { client } = this.session;
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => `/skills?${new URLSearchParams({ project: uri.fsPath })}`);
    const pages = await Promise.all([...folders, "/skills"].map((one) => client.get<{ skills: SkillView[] }>(one).catch(() => ({ skills: [] as SkillView[] }))));
    const found = new Map(pages.flatMap((page) => page.skills).map((skill) => [`${skill.project}\n${skill.skill}\n${skill.file}`, skill]));
    this.skills = [...found.values()];
    this.refresh();
  }

  getChildren(element?: SkillItem): SkillItem[] {
    if (element) return "skills" in element ? element.skills.map((skill) => ({ skill })) : [];
    const projects = new Map<string, SkillView[]>();
    for (const skill of this.skills) projects.set(skill.project, [...(projects.get(skill.project) ?? []), skill]);
    const all = [...projects].map(([project, skills]) => ({ project, skills }));
    // Those of this window first.
    all.sort((a, b) => Number(this.session.isHere(b.project)) - Number(this.session.isHere(a.project)));
    return all.length === 1 && all[0] && this.session.isHere(all[0].project) ? all[0].skills.map((skill) => ({ skill })) : all;
  }

  getTreeItem(element: SkillItem): vscode.TreeItem {
    if ("skills" in element) {
      const here = this.session.isHere(element.project);
      const item = new vscode.TreeItem(path.basename(element.project), here ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed);
      const isTrusted = element.skills.every((skill) => skill.trusted);
      item.description = !isTrusted ? "not trusted: read only" : this.session.isOpen(element.project) ? "" : "not open here: read only";
      item.tooltip = element.project;
      item.iconPath = new vscode.ThemeIcon(isTrusted ? "folder" : "lock");
      item.contextValue = isTrusted ? "project" : "project-untrusted";
      return item;
    }
    const { skill } = element;
    const item = new vscode.TreeItem(plain(skill.skill));
    item.description = skill.errors > 0 ? plural(skill.errors, "error") : plain(skill.description ?? "");
    const asks = skill.steps.filter((step) => step.asks).length;
    item.tooltip = new vscode.MarkdownString().appendText([skill.description, `${plural(skill.steps.length, "step")}${asks ? `, ${asks} of them ask` : ""}`, skill.file, skill.trusted ? "" : "Its project is not trusted: `aye trust` in it changes that."].filter(Boolean).map(plain).join("\n"));
    item.iconPath = new vscode.ThemeIcon(skill.errors > 0 ? "error" : "notebook", skill.errors > 0 ? new vscode.ThemeColor("testing.iconFailed") : undefined);
    item.contextValue = skill.errors > 0 ? "skill-wrong" : skill.trusted && vscode.workspace.isTrusted && this.session.isOpen(skill.project) ? "skill" : "skill-read";
    item.command = { command: "aye.openSkill", title: "Open", arguments: [element] };
    return item;
  }
}
