// Skill files in the editor: diagnostics, quick fixes, lenses, definitions, completion, hover.

import * as vscode from "vscode";
import path from "node:path";
import type { SkillView } from "../model";
import type { Session } from "../session";
import { check, repairsOf, wordsOf, type Repair } from "./check";
import { definitionAt, outline } from "./outline";
import { describeKey, placeAt, suggestions, type Schema } from "./schema";

const YAML: vscode.DocumentSelector = { language: "yaml" };

/** Whether a document is a skill: by where it is, or by what it says. */
export function isSkill(document: vscode.TextDocument): boolean {
  if (document.languageId !== "yaml") return false;
  if (/[\\/]skills[\\/]/.test(document.fileName) || /\.aye\.ya?ml$/.test(document.fileName)) return true;
  const text = document.getText();
  return /^(steps|states|workflows):/m.test(text) && outline(text).length > 0;
}

export class Editing implements vscode.Disposable {
  #session: Session;
  #schema: Schema;
  #findings = vscode.languages.createDiagnosticCollection("aye");
  #repairs = new Map<string, { range: vscode.Range; repair: Repair }[]>();
  #running = new Map<string, number>();
  #disposables: vscode.Disposable[];

  constructor(session: Session, schema: Schema, skills: () => SkillView[]) {
    this.#session = session;
    this.#schema = schema;
    this.#disposables = [
      this.#findings,
      vscode.workspace.onDidOpenTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#findings.delete(document.uri)),
      vscode.languages.registerCodeActionsProvider(YAML, { provideCodeActions: (document, range) => this.#actions(document, range) }, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
      vscode.languages.registerCodeLensProvider(YAML, { provideCodeLenses: (document) => lenses(document) }),
      vscode.languages.registerDefinitionProvider(YAML, { provideDefinition: (document, position) => definition(document, position, skills()) }),
      vscode.languages.registerCompletionItemProvider(YAML, { provideCompletionItems: (document, position) => this.#complete(document, position) }, ":", " "),
      vscode.languages.registerHoverProvider(YAML, { provideHover: (document, position) => this.#hover(document, position) }),
      vscode.commands.registerCommand("aye.check", () => {
        const document = vscode.window.activeTextEditor?.document;
        if (document) this.#check(document);
      }),
    ];
    for (const document of vscode.workspace.textDocuments) this.#check(document);
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  /** Checks what is on disk. */
  #check(document: vscode.TextDocument): void {
    if (document.uri.scheme !== "file" || !isSkill(document)) return;
    const key = String(document.uri);
    const turn = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, turn);
    const folder = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ?? path.dirname(document.fileName);
    const { program, env } = this.#session.place;
    check(program, env, folder, [document.fileName]).then((found) => {
      // A later save is checked as well; only the last one counts.
      if (this.#running.get(key) !== turn) return;
      const repairs: { range: vscode.Range; repair: Repair }[] = [];
      this.#findings.set(document.uri, found.map((finding) => {
        const range = rangeOf(finding);
        for (const repair of repairsOf(finding)) repairs.push({ range, repair });
        const isError = finding.severity === "error";
        const diagnostic = new vscode.Diagnostic(range, wordsOf(finding), isError ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning);
        diagnostic.source = "aye";
        diagnostic.code = finding.code;
        return diagnostic;
      }));
      this.#repairs.set(key, repairs);
    }, (error: Error) => this.#session.log.warn(error.message));
  }

  #actions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    return (this.#repairs.get(String(document.uri)) ?? []).filter((one) => one.range.intersection(range)).map(({ range: place, repair }) => {
      const action = new vscode.CodeAction(repair.title, vscode.CodeActionKind.QuickFix);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.replace(document.uri, rangeOf(repair), repair.text);
      action.diagnostics = vscode.languages.getDiagnostics(document.uri).filter((one) => one.source === "aye" && one.range.isEqual(place));
      action.isPreferred = true;
      return action;
    });
  }

  #complete(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
    if (!isSkill(document) || hasYamlExtension()) return [];
    const place = placeAt(document.getText().split(/\r?\n/), position.line, position.character);
    if (!place) return [];
    return suggestions(this.#schema, place).map((one) => {
      const item = new vscode.CompletionItem(one.label, one.isKey ? vscode.CompletionItemKind.Property : vscode.CompletionItemKind.EnumMember);
      item.documentation = new vscode.MarkdownString(one.description);
      if (one.isKey) item.insertText = one.holds === "value" ? `${one.label}: ` : `${one.label}:`;
      return item;
    });
  }

  #hover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | null {
    if (!isSkill(document) || hasYamlExtension()) return null;
    const range = document.getWordRangeAtPosition(position, /[\w$.-]+(?=\s*:(\s|$))/);
    if (!range) return null;
    const place = placeAt(document.getText().split(/\r?\n/), range.start.line, range.start.character);
    const words = place ? describeKey(this.#schema, place.path, document.getText(range)) : "";
    return words ? new vscode.Hover(new vscode.MarkdownString(words), range) : null;
  }
}

/** Red Hat's extension reads the contributed schema itself; two lists would be one too many. */
function hasYamlExtension(): boolean {
  return vscode.extensions.getExtension("redhat.vscode-yaml") !== undefined;
}

function rangeOf(place: { line: number; column: number; end_line: number; end_column: number }): vscode.Range {
  return new vscode.Range(place.line - 1, place.column - 1, place.end_line - 1, Math.max(place.end_column - 1, place.line === place.end_line ? place.column : 0));
}

function lenses(document: vscode.TextDocument): vscode.CodeLens[] {
  if (!isSkill(document)) return [];
  return outline(document.getText()).flatMap((skill) => {
    const at = document.positionAt(skill.at);
    const range = new vscode.Range(at, at);
    const lens = (title: string, command: string, tooltip: string): vscode.CodeLens => new vscode.CodeLens(range, { title, command, tooltip, arguments: [document.uri, skill.name] });
    return [
      lens("Run", "aye.runFile", "Start this skill"),
      lens("Dry run", "aye.dryRunFile", "Show what would happen; nothing runs"),
      lens("Graph", "aye.graph", "Show its graph beside the file"),
    ];
  });
}

function definition(document: vscode.TextDocument, position: vscode.Position, skills: SkillView[]): vscode.Location | null {
  if (!isSkill(document)) return null;
  const found = definitionAt(document.getText(), document.offsetAt(position));
  if (!found) return null;
  if ("definition" in found) return new vscode.Location(document.uri, new vscode.Range(document.positionAt(found.definition.start), document.positionAt(found.definition.end)));
  const other = skills.find((skill) => skill.skill === found.skill);
  return other ? new vscode.Location(vscode.Uri.file(path.resolve(other.project, other.file)), new vscode.Position(0, 0)) : null;
}
