// Starting skills: from the tree, the palette or the lens over a file.

import * as vscode from "vscode";
import { randomUUID } from "node:crypto";
import path from "node:path";
import { plain } from "aye-page/words.js";
import type { SkillView } from "./model";
import { withoutIcons, withoutLinks } from "./question";
import type { Session } from "./session";
import type { SkillItem, Skills } from "./trees";
import type { Toasts } from "./toasts";

export class Starting implements vscode.Disposable {
  #session: Session;
  #skills: Skills;
  #toasts: Toasts;
  #openPanel: (path: string) => void;
  #disposables: vscode.Disposable[];

  constructor(session: Session, skills: Skills, toasts: Toasts, openPanel: (path: string) => void) {
    this.#session = session;
    this.#skills = skills;
    this.#toasts = toasts;
    this.#openPanel = openPanel;
    const command = vscode.commands.registerCommand;
    this.#disposables = [
      command("aye.run", async (item?: SkillItem) => this.#run(skillOf(item) ?? (await this.#choose("Run which skill?")))),
      command("aye.dryRun", async (item?: SkillItem) => this.#form(skillOf(item) ?? (await this.#choose("Dry run of which skill?")), true)),
      command("aye.openSkill", (item?: SkillItem) => this.#form(skillOf(item), false)),
      command("aye.openSkillFile", async (item?: SkillItem) => {
        const skill = skillOf(item);
        if (skill) await vscode.window.showTextDocument(vscode.Uri.file(path.resolve(skill.project, skill.file)));
      }),
      command("aye.runFile", async (uri: vscode.Uri, name: string | null) => this.#file(uri, name, false)),
      command("aye.dryRunFile", async (uri: vscode.Uri, name: string | null) => this.#file(uri, name, true)),
      command("aye.trustProject", (item?: SkillItem) => this.#trust(item && "project" in item ? item.project : undefined)),
    ];
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  async #choose(title: string): Promise<SkillView | undefined> {
    await this.#skills.load();
    const items = this.#skills.skills.filter((skill) => skill.errors === 0).map((skill) => ({
      label: withoutIcons(plain(skill.skill)), description: withoutIcons(path.basename(skill.project)), detail: withoutIcons(plain(skill.description ?? "")), skill,
    }));
    return (await vscode.window.showQuickPick(items, { title: `Aye: ${title}`, matchOnDetail: true, matchOnDescription: true }))?.skill;
  }

  /** The skill of a file, as the server lists it. */
  async #file(uri: vscode.Uri, name: string | null, isDry: boolean): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    if (document.isDirty) await document.save();
    await this.#skills.load();
    const inFile = this.#skills.skills.filter((skill) => path.resolve(skill.project, skill.file) === uri.fsPath);
    const skill = inFile.find((one) => one.skill === name) ?? inFile[0];
    if (skill) return isDry ? this.#form(skill, true) : this.#run(skill);
    if (!this.#session.client.state.connected) {
      this.#session.sayWhyNot();
      return;
    }
    void vscode.window.showWarningMessage(withoutLinks(`Aye does not list ${path.basename(uri.fsPath)}: skills are in the folder \`skills\` of a project, or where \`aye.toml\` says.`));
  }

  /** A skill with inputs has a form; one without is started at once. */
  async #run(skill: SkillView | undefined): Promise<void> {
    if (!skill) return;
    if (!this.#session.mayStart(skill.project)) {
      await this.#refuse(skill.project);
      return;
    }
    if (!skill.trusted) {
      const answer = await vscode.window.showWarningMessage(withoutLinks(`${path.basename(skill.project)} is not trusted: Aye reads it and starts nothing of it.`), "Look at it and trust it…");
      if (answer) this.#trust(skill.project);
      return;
    }
    if (skill.errors > 0 || Object.keys(skill.inputs.properties ?? {}).length > 0) return this.#form(skill, false);
    try {
      const started = await this.#session.client.command("start", { skill: skill.skill, project: skill.project, inputs: {}, key: randomUUID() });
      this.#toasts.follow(String(started.run));
      this.#openPanel(`runs/${encodeURIComponent(String(started.run))}`);
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string | null };
      void vscode.window.showErrorMessage(withoutLinks(`Aye: ${message}${hint ? ` (${hint})` : ""}`));
    }
  }

  /** Says why nothing of a project starts here, and offers to open it. */
  async #refuse(project: string): Promise<void> {
    if (!this.#session.mayAct()) {
      this.#session.sayWhyNot();
      return;
    }
    const answer = await vscode.window.showWarningMessage(withoutLinks(this.#session.whyNotStart(project)), "Open Folder");
    if (answer) await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(project), { forceNewWindow: true });
  }

  #form(skill: SkillView | undefined, isPlanned: boolean): void {
    if (!skill) return;
    const query = new URLSearchParams({ project: skill.project, ...(isPlanned ? { plan: "" } : {}) });
    this.#openPanel(`skills/${encodeURIComponent(skill.skill)}?${query}`);
  }

  /** `aye trust` itself shows what it is about and asks: at a terminal. */
  #trust(project: string | undefined): void {
    const folder = project ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (!folder) return;
    if (!vscode.workspace.isTrusted) {
      this.#session.sayWhyNot();
      return;
    }
    if (!this.#session.isOpen(folder)) {
      void this.#refuse(folder);
      return;
    }
    const { program, env } = this.#session.place;
    const terminal = vscode.window.createTerminal({ name: "aye trust", cwd: folder, shellPath: program, shellArgs: ["trust"], env: { AYE_HOME: env.AYE_HOME ?? null } });
    terminal.show();
    const closed = vscode.window.onDidCloseTerminal((one) => {
      if (one !== terminal) return;
      closed.dispose();
      void this.#skills.load();
    });
  }
}

function skillOf(item: SkillItem | undefined): SkillView | undefined {
  return item && "skill" in item ? item.skill : undefined;
}
