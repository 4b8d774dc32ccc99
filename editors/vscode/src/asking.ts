// Puts questions to the person in this window: a notification for each, and what opens from it.
//
// VS Code closes no message with buttons once it is shown, and changes none. A question may be answered
// elsewhere, and its time runs: so it is a notification of the kind that shows progress, which closes by
// itself and counts down. Its options are links.

import * as vscode from "vscode";
import { plain } from "aye-page/words.js";
import { brief, makeRoom, turn } from "./notices";
import { ApiError } from "./client";
import type { Option, Question } from "./model";
import { about, adviceText, answerForm, brokenLinks, commits, dialogText, elapsed, formOf, knownText, leadWords, mayDiffer, misfit, nameOf, notResumed, oneLine, oneLineBelow, outcome, placeOf, rememberChoices, roughTimeLeft, rulesOf, safeFirst, showsAll, timeLeft, timeUntil, titled, titleOf, withoutIcons, withoutLinks, type RememberChoice } from "./question";
import type { Session } from "./session";

// More would cover the editor; the others are in the inbox.
const AT_ONCE = 3;
// How many seconds it is said what became of a question.
const SAID = 12;
// VS Code cuts a notification after 1,000 characters, those of links included; some stand between its parts.
const MESSAGE = 980;
const LINKS = 500;
// How many characters of advice are shown where there is little room, and where there is more.
const ADVICE = { short: 160, long: 500 };
// Milliseconds after which the keyboard is asked for again for a field.
const REGAINED = 400;

// A line of the list of options.
interface Choice extends vscode.QuickPickItem {
  option?: Option;
  does?: "reason" | "panel" | "write";
}

interface ModalItem extends vscode.MessageItem {
  option?: Option;
  does?: "reason" | "answer";
}

interface Notification {
  digest: string;
  close(): void;
  isOpen: boolean;
}

interface Draft {
  reason: string;
}

export class Asker implements vscode.Disposable {
  #session: Session;
  #openPanel: (path: string) => void;
  #notifications = new Map<string, Notification>();
  // Put off, as it was asked then: a question that changed is shown again.
  #later = new Map<string, string>();
  #engaged: { id: string; close(): void } | null = null;
  // The question whose dialog is open: VS Code closes no dialog.
  #inDialog: string | null = null;
  #seen = new Set<string>();
  #disposables: vscode.Disposable[] = [];

  constructor(session: Session, openPanel: (path: string) => void) {
    this.#session = session;
    this.#openPanel = openPanel;
    this.#disposables.push(
      session.onChange((change) => {
        if (change.decided) this.#decided(change.decided);
        this.#sync();
      }),
      session.onState(() => this.#sync()),
      session.onTick(() => this.#tick()),
      vscode.commands.registerCommand("aye.answer", (id?: unknown) => this.answer(idOf(id))),
      vscode.commands.registerCommand("aye.answerWith", (id: string, digest: string, value: string) => this.#answerWith(id, digest, value)),
      vscode.commands.registerCommand("aye.answerLater", (id: string) => {
        const question = this.#question(id);
        if (question) this.#later.set(id, question.digest);
        this.#sync();
      }),
      vscode.commands.registerCommand("aye.openQuestion", (id?: unknown) => {
        const question = this.#question(idOf(id));
        if (question) this.#openPanel(`questions/${encodeURIComponent(question.id)}`);
      }),
    );
  }

  dispose(): void {
    for (const one of this.#notifications.values()) one.close();
    this.#engaged?.close();
    for (const one of this.#disposables) one.dispose();
  }

  /**
   * Answers a question: the one that is named, else the oldest, else what is chosen from several. `read` is the
   * digest of what the person has before their eyes, whole.
   */
  async answer(id?: string, read?: string): Promise<void> {
    const open = this.#session.openQuestions();
    if (open.length === 0) {
      void brief("Nothing waits for an answer.", 5);
      return;
    }
    const question = id ? this.#question(id) : open.length === 1 ? open[0] : await this.#which(open);
    if (!question) return;
    if (question.state !== "open") {
      void brief(outcome(question), SAID);
      return;
    }
    await this.#engage(question, () => this.#ask(question, { reason: "" }, read));
  }

  async #which(open: Question[]): Promise<Question | undefined> {
    const items = open.map((question) => {
      const [label, detail] = [nameOf(question), plain(question.message).replace(/\s+/g, " ").trim()].map(withoutIcons) as [string, string];
      return { label, description: withoutIcons(placeOf(question)), ...(detail === label ? {} : { detail }), question };
    });
    const chosen = await vscode.window.showQuickPick(items, { title: "Aye: which question?", matchOnDescription: true, matchOnDetail: true });
    return chosen?.question;
  }

  async #answerWith(id: string, digest: string, value: string): Promise<void> {
    const question = this.#question(id);
    if (!question || question.state !== "open") {
      if (question) void brief(outcome(question), SAID);
      return;
    }
    // What was clicked belongs to what was shown.
    if (!question.digest.startsWith(digest) || !digest) return this.answer(id);
    const option = question.options?.find((one) => one.value === value);
    if (option) await this.#engage(question, () => this.#complete(question, option, { reason: "" }));
  }

  #question(id: string | undefined): Question | undefined {
    return id ? this.#session.store.questions.get(id) : this.#session.openQuestions()[0];
  }

  /** While a person is at a question, its time is held and others see who looks. */
  async #engage(question: Question, work: () => Promise<void>): Promise<void> {
    if (!this.#session.mayAct()) {
      this.#session.sayWhyNot();
      return;
    }
    this.#engaged?.close();
    const engagement = { id: question.id, close() {} };
    this.#engaged = engagement;
    this.#session.showing(question.id);
    if (question.deadline) void this.#session.client.command("hold", { question: question.id }).catch(() => {});
    try {
      await work();
    } finally {
      // Unless the same question was opened again meanwhile: that one continues holding it.
      if (this.#engaged === engagement || this.#engaged?.id !== question.id) {
        if (this.#engaged === engagement) this.#engaged = null;
        this.#tellShown();
        if (this.#session.store.questions.get(question.id)?.state === "open") {
          void this.#session.client.command("release", { question: question.id }).catch(() => {});
        }
      }
    }
  }

  async #ask(question: Question, draft: Draft, read?: string): Promise<void> {
    switch (formOf(question)) {
      case "panel":
        this.#openPanel(`questions/${encodeURIComponent(question.id)}`);
        return;
      case "modal":
        return this.#modal(question, draft);
      default:
        // Nobody agrees to what they have not seen: where the list has no room for it, it is shown first.
        return read === question.digest || showsAll(question) ? this.#choose(question, draft) : this.#modal(question, draft);
    }
  }

  /** The list or the field, after everything was shown. */
  #choose(question: Question, draft: Draft): Promise<void> {
    return answerForm(question) === "text" ? this.#text(question, draft) : this.#list(question, draft);
  }

  async #modal(question: Question, draft: Draft): Promise<void> {
    const isFew = answerForm(question) === "buttons";
    const button = (option: Option): ModalItem => ({ title: plain(option.label), option });
    const { first, rest } = safeFirst(question);
    const reason: ModalItem = { title: "With a Reason…", does: "reason" };
    // Enter presses the first; a reason alone sends nothing.
    const answers = first ? [button(first), ...rest.map(button), reason] : [reason, ...rest.map(button)];
    const items: ModalItem[] = isFew ? answers : [{ title: "Answer…", does: "answer" }];
    // Esc is none of the answers.
    const later: ModalItem = { title: "Decide Later", isCloseAffordance: true };
    const beside = [this.#known(question, ADVICE.long), adviceText(this.#advised(question), ADVICE.long)];
    this.#inDialog = question.id;
    const chosen = await vscode.window.showWarningMessage(
      titleOf(question),
      { modal: true, detail: [dialogText(question), ...beside, draft.reason ? `Reason: ${plain(draft.reason)}` : "", timeUntil(question, this.#session.now())].filter(Boolean).join("\n\n") },
      ...items, later,
    );
    this.#inDialog = null;
    if (this.#isOver(question, chosen !== undefined && chosen !== later)) return;
    if (!chosen || chosen === later) return;
    if (chosen.does === "answer") return this.#choose(question, draft);
    if (chosen.does === "reason") {
      const given = await this.#input(question, { prompt: "Why? It is kept in the record.", value: draft.reason, placeholder: "Reason" });
      if (given !== undefined) await this.#modal(question, { reason: given });
      return;
    }
    if (chosen.option) await this.#complete(question, chosen.option, draft);
  }

  /** A question with everything that was said of it, also before this window was there. */
  #advised(question: Question): Question {
    const { store } = this.#session;
    const known = store.inside(question.run)?.questions.get(question.id)?.advice ?? [];
    const heard = store.questions.get(question.id)?.advice ?? [];
    return { ...question, advice: known.length >= heard.length ? known : heard };
  }

  /** What memory knows of it. */
  #known(question: Question, limit: number): string {
    return knownText(question, this.#session.store.inside(question.run), limit);
  }

  /** Who has to answer, what memory knows and what assistants advise, as lines of a list that lead to all of it. */
  #linesBeside(question: Question): Choice[] {
    const line = (label: string, detail = ""): Choice => ({ label, ...(detail ? { detail } : {}), does: "panel", alwaysShow: true });
    const named = (icon: string, text: string): Choice[] => {
      const [label = "", ...rest] = withoutIcons(text).split(": ");
      return text ? [line(`$(${icon}) ${label}`, rest.join(": "))] : [];
    };
    return [
      ...rulesOf(question).map((rule) => line(`$(organization) ${withoutIcons(rule)}`)),
      ...named("book", this.#known(question, ADVICE.long)), ...named("comment-discussion", adviceText(this.#advised(question), ADVICE.long)),
    ];
  }

  /** Whether a question was decided, or became another one, while it was before the person. Then says so, and that nothing is sent. */
  #isOver(question: Question, wasAnswered: boolean): boolean {
    const now = this.#session.store.questions.get(question.id);
    if (now?.state === "open" && now.digest === question.digest) return false;
    const nothing = wasAnswered ? " Your answer was not sent." : "";
    if (!now) void brief(`${about(question)} no longer open.${nothing}`, SAID);
    else if (now.state !== "open") void brief(`${outcome(now)}.${nothing}`, SAID);
    else {
      void brief(`${about(question)} what it is about has changed.${nothing}`, SAID);
      if (wasAnswered) void this.answer(question.id);
    }
    return true;
  }

  async #list(question: Question, draft: Draft): Promise<void> {
    const chosen = await this.#pick<Choice>(question, [
      // Enter takes the first line.
      ...(question.destructive ? [{ label: "$(clock) Decide later" }] : []),
      ...(question.options ?? []).map((option): Choice => ({
        label: withoutIcons(plain(option.label)), description: arrow(leadWords(question, option)), option,
        ...(option.description ? { detail: withoutIcons(plain(option.description)) } : {}),
      })),
      { label: "", kind: vscode.QuickPickItemKind.Separator },
      ...this.#linesBeside(question),
      { label: "$(comment) Give a reason…", description: draft.reason ? `“${withoutIcons(plain(draft.reason))}”` : "kept in the record", does: "reason", alwaysShow: true },
      { label: "$(open-preview) Show everything in the Command Center", does: "panel", alwaysShow: true },
    ], plain(question.message).replace(/\s+/g, " "));
    if (!chosen) return;
    if (chosen.does === "panel") {
      this.#openPanel(`questions/${encodeURIComponent(question.id)}`);
    } else if (chosen.does === "reason") {
      const given = await this.#input(question, { prompt: "Why? It is kept in the record.", value: draft.reason, placeholder: "Reason" });
      await this.#list(question, { reason: given ?? draft.reason });
    } else if (chosen.option) {
      await this.#complete(question, chosen.option, draft);
    }
  }

  async #text(question: Question, draft: Draft): Promise<void> {
    const options = question.options ?? [];
    if (options.length > 0) {
      const chosen = await this.#pick<Choice>(question, [
        { label: "$(edit) Write an answer…", does: "write" },
        ...options.map((option): Choice => ({ label: withoutIcons(plain(option.label)), description: arrow(leadWords(question, option)), option })),
        ...this.#linesBeside(question),
      ], plain(question.message).replace(/\s+/g, " "));
      if (!chosen) return;
      if (chosen.does === "panel") {
        this.#openPanel(`questions/${encodeURIComponent(question.id)}`);
        return;
      }
      if (chosen.option) return this.#complete(question, chosen.option, draft);
    }
    const beside = [this.#known(question, ADVICE.short), adviceText(this.#advised(question), ADVICE.short)];
    const text = await this.#input(question, {
      // Without its title, which stands above it. A dialog has shown what is too long for this.
      prompt: [formOf(question) === "text" ? oneLineBelow(question) : plain(question.message).replace(/\s+/g, " "), ...beside].filter(Boolean).join(" · "),
      password: question.secret === true, value: question.secret ? "" : question.default ?? "", check: (given) => misfit(question, given),
    });
    if (text !== undefined) await this.#complete(question, { value: text, label: text, action: "proceed" }, draft);
  }

  /** Asks for what an answer needs before it counts, and sends it. */
  async #complete(question: Question, option: Option, draft: Draft): Promise<void> {
    if (this.#isOver(question, true)) return;
    if (option.value === "edit" && question.purpose === "recover") {
      this.#openPanel(`questions/${encodeURIComponent(question.id)}`);
      return;
    }
    const more: Record<string, string> = {};
    if (commits(question, option)) {
      if (question.typed) {
        const wanted = question.typed;
        const typed = await this.#input(question, {
          prompt: `Type ${plain(wanted)} to agree.`, check: (given) => (given === wanted ? null : `Type exactly ${plain(wanted)}`),
        });
        if (typed === undefined) return;
        more.typed = typed;
      }
      if (question.reauth) {
        const code = await this.#input(question, {
          prompt: "Your one-time code.", placeholder: "123456", check: (given) => (/^\d{6,8}$/.test(given) ? null : "6 to 8 digits"),
        });
        if (code === undefined) return;
        more.code = code;
      }
    }
    if (question.remember) {
      const lines = mayDiffer(question).map((label) => ({ label: `$(info) ${withoutIcons(label)}`, alwaysShow: true }));
      const chosen = await this.#pick<vscode.QuickPickItem & Partial<RememberChoice>>(question, [...rememberChoices(question), ...lines], "Remember this answer? Esc sends nothing.");
      if (chosen?.scope === undefined) return;
      if (chosen.scope) more.remember = chosen.scope;
    }
    if (draft.reason) more.reason = draft.reason;
    await this.#send(question, option, more, draft);
  }

  async #send(question: Question, option: Option, more: Record<string, string>, draft: Draft): Promise<void> {
    this.#session.answeredHere.add(question.id);
    try {
      const result = await this.#session.client.command("answer", { question: question.id, digest: question.digest, choice: option.value, ...more });
      const missing = Number(result.missing ?? 0);
      // Others decide it: that is said.
      if (missing > 0) this.#session.answeredHere.delete(question.id);
      const what = question.secret ? "answered" : `“${plain(option.label)}”`;
      vscode.window.setStatusBarMessage(`$(check) ${withoutIcons(`${about(question)} ${what}`)}${missing > 0 ? `, ${missing} more must agree` : ""}`, 5000);
      const waits = notResumed(result);
      if (waits) void brief(waits, SAID);
    } catch (error) {
      this.#session.answeredHere.delete(question.id);
      const now = this.#session.store.questions.get(question.id);
      const problem = error instanceof ApiError ? error : new ApiError("failed", String(error));
      const words = `Aye: ${problem.message}${problem.hint ? ` (${problem.hint})` : ""}`;
      if (now && now.state !== "open") {
        void brief(`${outcome(now)}. Your answer was not needed.`, SAID);
        return;
      }
      const again = await vscode.window.showErrorMessage(withoutLinks(words), "Answer again");
      const latest = this.#session.store.questions.get(question.id);
      if (!again || !latest) return;
      if (latest.state === "open") await this.#engage(latest, () => this.#ask(latest, draft, question.digest));
      else void brief(outcome(latest), SAID);
    }
  }

  /** A list that counts down, and closes when the question is decided. */
  #pick<T extends vscode.QuickPickItem>(question: Question, items: readonly T[], placeholder: string): Promise<T | undefined> {
    const pick = vscode.window.createQuickPick<T>();
    pick.items = items;
    pick.placeholder = placeholder;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    return this.#run(question, pick, () => pick.selectedItems[0] ?? pick.activeItems[0]);
  }

  /** A field that counts down, and closes when the question is decided. */
  #input(question: Question, about: { prompt: string; placeholder?: string; value?: string; password?: boolean; check?(text: string): string | null }): Promise<string | undefined> {
    const box = vscode.window.createInputBox();
    box.prompt = withoutIcons(withoutLinks(about.prompt));
    box.value = about.value ?? "";
    box.password = about.password ?? false;
    if (about.placeholder) box.placeholder = about.placeholder;
    box.buttons = [{ iconPath: new vscode.ThemeIcon("check"), tooltip: "OK" }];
    // A panel takes the keyboard back some time after a dialog in front of it has closed.
    const focus = setTimeout(() => void vscode.commands.executeCommand("workbench.action.focusQuickOpen"), REGAINED);
    box.onDidHide(() => clearTimeout(focus));
    box.onDidChangeValue(() => {
      box.validationMessage = undefined;
    });
    return this.#run(question, box, () => {
      const problem = about.check?.(box.value) ?? null;
      if (problem === null) return box.value;
      box.validationMessage = withoutIcons(brokenLinks(problem));
      return undefined;
    });
  }

  #run<T>(question: Question, input: vscode.QuickInput & { onDidAccept: vscode.Event<void>; onDidTriggerButton: vscode.Event<unknown> }, read: () => T | undefined): Promise<T | undefined> {
    input.ignoreFocusOut = true;
    const title = (): void => {
      const now = this.#session.store.questions.get(question.id) ?? question;
      input.title = `${titleOf(question)} · ${timeLeft(now, this.#session.now())}`;
    };
    title();
    const ticking = this.#session.onTick(title);
    if (this.#engaged?.id === question.id) this.#engaged.close = () => input.hide();
    return new Promise((resolve) => {
      const accept = (): void => {
        const value = read();
        if (value === undefined) return;
        resolve(value);
        // What comes next takes its place: between the two, a panel would get the keyboard.
        setTimeout(() => input.hide(), 0);
      };
      input.onDidAccept(accept);
      // A field has one button, which does as Enter does.
      input.onDidTriggerButton(accept);
      input.onDidHide(() => {
        ticking.dispose();
        resolve(undefined);
        input.dispose();
      });
      input.show();
    });
  }

  /** It is decided: everything about it closes, and says so if it was not this window. */
  #decided(question: Question): void {
    const shown = this.#notifications.get(question.id);
    const isEngaged = this.#engaged?.id === question.id;
    if (isEngaged) {
      this.#engaged?.close();
      this.#engaged = null;
    }
    this.#later.delete(question.id);
    shown?.close();
    const dialog = this.#inDialog === question.id ? ". VS Code cannot close its dialog, which sends nothing any more" : "";
    if ((shown?.isOpen || isEngaged) && !this.#session.answeredHere.has(question.id)) void brief(`${outcome(question)}${dialog}`, SAID);
  }

  /** Shows what is open, and takes away what is not. */
  #sync(): void {
    const wanted = this.#session.settings.questions;
    // Decided while this window was not connected.
    const engaged = this.#engaged && this.#session.store.questions.get(this.#engaged.id);
    if (engaged && engaged.state !== "open") this.#decided(engaged);
    const open = this.#session.client.state.connected ? this.#session.openQuestions() : [];
    const shown = open.filter((question) => this.#later.get(question.id) !== question.digest && wanted !== "none" && (wanted === "all" || this.#session.isHere(question.workspace))).slice(0, AT_ONCE);
    for (const [id, one] of this.#notifications) {
      const question = shown.find((other) => other.id === id);
      if (!question || question.digest !== one.digest) {
        one.close();
        this.#notifications.delete(id);
      }
    }
    for (const question of shown) if (!this.#notifications.has(question.id)) void this.#notify(question);
    // Who puts a question off knows of it.
    this.#session.notifies(open.filter((question) => this.#notifications.has(question.id) || this.#later.has(question.id)).map(({ id }) => id));
    this.#tellShown();
  }

  // A notification is not a question before someone's eyes: VS Code hides it when nobody wants to be disturbed.
  #tellShown(): void {
    if (!this.#engaged) this.#session.showing(null);
  }

  async #notify(question: Question): Promise<void> {
    let close = (): void => {};
    const done = new Promise<void>((resolve) => {
      close = resolve;
    });
    const one: Notification = { digest: question.digest, isOpen: false, close: () => close() };
    this.#notifications.set(question.id, one);
    if (!this.#seen.has(question.id)) {
      this.#seen.add(question.id);
      this.#session.attract(question);
    }
    await turn();
    // It may be decided by now.
    if (this.#notifications.get(question.id) !== one) return;
    makeRoom([...this.#notifications.values()].filter((other) => other.isOpen).length);
    one.isOpen = true;
    // It may have been advised before this window was there.
    void this.#session.store.tree(question.run).catch(() => {});
    const form = formOf(question);
    // A notification with a button is shown whole; without one it is cut after its first line. VS Code takes a
    // text here for the button's label; should it stop doing so, the button says "Cancel" and still only opens the answer.
    const cancellable = "Answer…" as unknown as boolean;
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable }, async (progress, token) => {
      let worked = 0;
      const report = (): void => {
        const now = this.#session.store.questions.get(question.id);
        if (!now || now.state !== "open") return;
        const over = elapsed(now, this.#session.now());
        const increment = Math.max(0, over - worked);
        worked += increment;
        const text = form === "panel" || form === "modal" ? titled(now, firstLine(now)) : oneLine(now);
        const [links, time] = [this.#links(now), withoutLinks(roughTimeLeft(now, this.#session.now()))];
        // What memory knows and advice get what room there is; the rest is what the question consists of.
        let room = MESSAGE - text.length - links.length - time.length;
        const beside = [(limit: number) => this.#known(now, limit), (limit: number) => adviceText(this.#advised(now), limit)].map((words) => {
          const said = room > ADVICE.short / 4 ? withoutLinks(words(Math.min(room, ADVICE.short))) : "";
          room -= said.length;
          return said;
        });
        progress.report({ message: [withoutLinks(text), ...beside, links, time].filter(Boolean).join(" — "), increment });
      };
      report();
      const ticking = this.#session.onTick(report);
      await Promise.race([done, new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()))]);
      ticking.dispose();
      one.isOpen = false;
      if (!token.isCancellationRequested) return;
      // The button closes it; it comes back at once, for its text is what is answered.
      if (this.#notifications.get(question.id) === one) this.#notifications.delete(question.id);
      this.#sync();
      await this.answer(question.id, form === "modal" || form === "panel" ? undefined : question.digest);
    });
  }

  #links(question: Question): string {
    const link = (label: string, command: string, ...args: unknown[]): string => `[${plain(label).replace(/[[\]()]/g, "")}](command:${command}?${encodeURIComponent(JSON.stringify(args)).replaceAll("(", "%28").replaceAll(")", "%29")})`;
    const form = formOf(question);
    let answers: string[] = [];
    if (form === "buttons") answers = (question.options ?? []).map((option) => link(option.label, "aye.answerWith", question.id, question.digest.slice(0, 16), option.value));
    // Long values would make the message too long.
    if (form === "modal" || form === "panel" || answers.join(" · ").length > LINKS) answers = [link("Review", "aye.answer", question.id)];
    return [...answers, link("Later", "aye.answerLater", question.id)].join(" · ");
  }

  #tick(): void {
    for (const id of this.#notifications.keys()) {
      const question = this.#session.store.questions.get(id);
      if (!question || question.state !== "open") {
        this.#notifications.get(id)?.close();
        this.#notifications.delete(id);
      }
    }
  }
}

function arrow(words: string): string {
  return words && `→ ${withoutIcons(words)}`;
}

function firstLine(question: Question): string {
  const line = plain(question.message).split("\n")[0] ?? "";
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** A command is called with an id, or with the item of a tree. */
function idOf(given: unknown): string | undefined {
  if (typeof given === "string") return given;
  return (given as { question?: { id?: string } } | undefined)?.question?.id;
}
