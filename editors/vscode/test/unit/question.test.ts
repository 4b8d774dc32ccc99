// How questions are put: what fits where, and that nothing is cut or clickable that should not be.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Question, RunState, StepState } from "../../src/model";
import { failureOf, marksOf, progressOf, since } from "../../src/progress";
import { adviceText, answerForm, brokenLinks, commits, dialogText, elapsed, formOf, knownText, leadLines, mayDiffer, misfit, nameOf, notResumed, oneLine, oneLineBelow, outcome, rememberChoices, rulesOf, safeFirst, showsAll, timeLeft, timeUntil, titled, titleOf, wholeText, withoutIcons, withoutLinks } from "../../src/question";

function question(more: Partial<Question> = {}): Question {
  return {
    id: "r-1", question: "r-1", run: "r", n: 1, skill: "release", workspace: "/w", path: [], asked: "2026-11-17T09:00:00Z", driven: true, missing: 1, step: "go",
    kind: "confirm", purpose: "gate", title: "Release", message: "Now?", overridable: true, digest: "d", state: "open",
    options: [{ value: "proceed", label: "Proceed", action: "proceed" }, { value: "cancel", label: "Cancel", action: "cancel" }], ...more,
  };
}

test("a form for each kind", () => {
  assert.equal(formOf(question()), "buttons");
  assert.equal(formOf(question({ typed: "prod" })), "buttons");
  assert.equal(formOf(question({ destructive: true })), "modal");
  assert.equal(formOf(question({ kind: "choose", options: [1, 2, 3, 4, 5].map((n) => ({ value: `${n}`, label: `${n}`, action: "proceed" as const })) })), "list");
  assert.equal(formOf(question({ kind: "recover", purpose: "recover" })), "list");
  assert.equal(formOf(question({ kind: "input", options: [] })), "text");
  // What does not fit whole goes where it does.
  assert.equal(formOf(question({ follows: "x".repeat(600) })), "modal");
  assert.equal(formOf(question({ follows: "x\n".repeat(100) })), "panel");
  assert.equal(formOf(question({ kind: "input", options: [], message: "y".repeat(600) })), "modal");
  assert.equal(formOf(question({ destructive: true, follows: "rm -rf ".repeat(1000) })), "panel");
});

test("a question has a title only where its author gave it one", () => {
  assert.deepEqual([nameOf(question()), titleOf(question()), titled(question(), "Now?"), oneLine(question()), oneLineBelow(question())], ["Release", "Release", "Release: Now?", "Release: Now?", "Now?"]);
  for (const [kind, title] of [["confirm", "Confirmation required"], ["choose", "Choice required"], ["input", "Input required"], ["recover", "Decision required"]] as const) {
    const untitled = question({ kind, title, message: "Ship it?\nIt is late." });
    assert.equal(nameOf(untitled), "Ship it?", kind);
    assert.equal(titleOf(untitled), "release › go", kind);
    assert.equal(titled(untitled, "Ship it?"), "Ship it?", kind);
    assert.equal(oneLine(untitled), "Ship it? It is late.", kind);
    assert.equal(outcome({ ...untitled, state: "withdrawn" }), "Ship it? withdrawn, the run ended first", kind);
  }
  const failed = question({ kind: "recover", purpose: "recover", title: "Step failed", message: "exit code 3" });
  assert.deepEqual([nameOf(failed), titleOf(failed)], ["go failed", "go failed"]);
});

const MANY = [1, 2, 3, 4, 5].map((n) => ({ value: `${n}`, label: `${n}`, action: "proceed" as const }));

test("what destroys is shown whole before its list, field or options", () => {
  const cases: [Partial<Question>, string][] = [
    [{}, "buttons"], [{ kind: "choose", options: MANY }, "list"], [{ kind: "input", options: [] }, "text"], [{ kind: "recover", purpose: "recover" }, "list"],
  ];
  for (const [more, then] of cases) {
    assert.equal(formOf(question({ ...more, destructive: true })), "modal", then);
    assert.equal(answerForm(question({ ...more, destructive: true })), then);
  }
});

test("a list shows only what fits above it; the rest is shown before", () => {
  assert.equal(showsAll(question()), true);
  assert.equal(showsAll(question({ follows: "make release" })), false);
  assert.equal(showsAll(question({ message: "z".repeat(100) })), false);
  assert.equal(showsAll(question({ kind: "choose", options: MANY, facts: [{ kind: "file", value: "/x" }] })), false);
  assert.equal(showsAll(question({ not_covered: ["later"] })), false);
  // A field has several lines.
  assert.equal(showsAll(question({ kind: "input", options: [], message: "z".repeat(300) })), true);
  assert.equal(showsAll(question({ kind: "input", message: "z".repeat(300) })), false, "a list comes first");
});

test("each answer's command is shown", () => {
  const text = wholeText(question({
    kind: "choose", options: MANY,
    facts: ["1", "2"].flatMap((answer) => [{ answer, step: "wipe", kind: "command", value: `rm -rf /srv/${answer}` }, { answer, step: "wipe", kind: "machine", value: "db-1" }, { answer, step: "wipe", kind: "program", value: "/bin/rm" }]),
  }));
  for (const part of ["“1” runs step wipe on db-1:\nrm -rf /srv/1", "“2” runs step wipe on db-1:\nrm -rf /srv/2"]) assert.ok(text.includes(part), `${part} in ${text}`);
  assert.equal(text.split("program: /bin/rm").length, 2, "said once");
  const code = (value: string): string => wholeText(question({ facts: [{ kind: "code", value, digest: "c0ffee" }] }));
  assert.match(code("echo aaa… (the last 900 bytes are not shown)"), /shortened; sha256 of all of it: c0ffee/);
  assert.doesNotMatch(code("echo aaa"), /shortened/, "a script has a digest although all of it is shown");
});

const LEADS = [{ answer: "proceed", to: "deploy" }, { answer: "cancel", to: "rollback" }];

test("a notification and a dialog say where each answer leads", () => {
  const gate = question({ leads: LEADS });
  assert.equal(oneLine(gate), "Release: Now? · “Proceed” → deploy, “Cancel” → rollback");
  assert.ok(dialogText(gate).endsWith("\n\n“Proceed” → deploy\n“Cancel” → rollback"), dialogText(gate));
  const ends = question({ leads: [{ answer: "cancel", ends: "cancelled" }, { answer: "no answer", to: "later" }] });
  assert.deepEqual(leadLines(ends), ["“Cancel” → the run ends (cancelled)", "no answer → later"]);
  // Many answers are a list, whose lines say it: the notification has no room.
  const many = question({ kind: "choose", options: MANY, leads: MANY.map(({ value }) => ({ answer: value, to: `state-${value}` })) });
  assert.equal(oneLine(many), "Release: Now?");
  assert.ok(dialogText(many).includes("“5” → state-5"));
  const alike = (to: (value: string) => string): Question => question({ kind: "choose", options: MANY, leads: MANY.map(({ value }) => ({ answer: value, to: to(value) })) });
  assert.deepEqual(leadLines(alike(() => "next")), ["each answer → next"]);
  assert.deepEqual(leadLines(alike((value) => (value === "1" ? "stop" : "next"))), ["“1” → stop", "other answers → next"]);
  // What makes it too long for a notification is in the dialog.
  assert.equal(formOf(question({ leads: LEADS.map((lead) => ({ ...lead, to: `${lead.answer}-${"x".repeat(300)}` })) })), "modal");
  assert.doesNotMatch(oneLine(question({ leads: [{ answer: "cancel", to: "a\u202eb" }] })), /\u202e/);
});

test("who has to answer is said, and what memory knows", () => {
  assert.deepEqual(rulesOf(question()), []);
  const both = question({ approvals: 2, not_starter: true, agreed: [{ by: "ann" }], by: { names: ["ann", "bob"] } });
  assert.deepEqual(rulesOf(both), ["2 different people have to agree, and not who started the run; so far: ann.", "Only ann, bob may answer."]);
  for (const text of [oneLine(both), dialogText(both)]) for (const rule of rulesOf(both)) assert.ok(text.includes(rule), text);
  const memory = [
    { step: "go", learned: false, kind: "issue", message: "known issue `denied`;\nlog in first" }, { step: "other", learned: false, kind: "issue", message: "elsewhere" },
    { step: "go", learned: true, kind: "fix", message: "just learned" },
  ];
  const run = { memory } as unknown as RunState;
  assert.equal(knownText(question(), run, 200), "Known issue: `denied`; log in first");
  assert.equal(knownText(question(), run, 20).length, 20);
  assert.equal(knownText(question(), null, 200), "");
});

test("Enter does not agree to what destroys", () => {
  const first = (more: Partial<Question>): string | undefined => safeFirst(question(more)).first?.value;
  assert.equal(first({}), "proceed");
  assert.equal(first({ destructive: true }), "cancel");
  assert.deepEqual(safeFirst(question({ destructive: true })).rest.map(({ value }) => value), ["proceed"]);
  assert.equal(first({ destructive: true, leads: [{ answer: "cancel", to: "kept", ends: "cancelled" }] }), "cancel");
  // Where a no starts something, Enter decides nothing.
  assert.equal(first({ destructive: true, leads: LEADS }), undefined);
  assert.equal(safeFirst(question({ destructive: true, leads: LEADS })).rest.length, 2);
});

test("advice is marked, and never makes a question longer than it is", () => {
  const advised = question({ advice: [{ by: "claude", option: "cancel", text: "staging is\nred" }] });
  assert.equal(adviceText(advised, 200), "Advice, not counted: claude suggests “Cancel”: staging is red");
  assert.equal(adviceText(question(), 200), "");
  assert.equal(adviceText(question({ advice: [{ by: "a\u202eb", text: "y".repeat(900) }] }), 100).length, 100);
  assert.match(adviceText(question({ advice: [{ by: "a\u202eb" }] }), 100), /a\\u\{202e\}b/);
  assert.equal(formOf(question({ advice: [{ by: "claude", text: "y".repeat(5000) }] })), "buttons");
});

test("the whole text has the command, where it runs, and what a yes covers", () => {
  const text = wholeText(question({
    follows: "rm -rf /srv/old", not_covered: ["`later`: what it does is not known yet"],
    facts: [
      { kind: "machine", value: "db-1" }, { kind: "directory", value: "/srv" }, { kind: "env", name: "MODE", value: "fast" },
      { kind: "command", value: "rm -rf /srv/old" }, { kind: "file", name: "script", value: "/srv/clean.sh" },
    ],
  }));
  for (const part of ["Now?", "Runs on db-1 in /srv with MODE=fast:\nrm -rf /srv/old", "file script: /srv/clean.sh", "not known yet"]) assert.ok(text.includes(part), `${part} in ${text}`);
  assert.ok(oneLine(question({ follows: "make release" })).includes("make release"));
});

test("characters that cannot be seen are shown, and texts of a skill are never links", () => {
  assert.equal(wholeText(question({ message: "safe\u202etxt" })), "safe\\u{202e}txt");
  assert.equal(withoutLinks("[x](command:evil)"), "\uff3bx\uff3d(command:evil)");
  // One that is left open would end in a link of ours.
  assert.doesNotMatch(withoutLinks("[Read more, ](x) \\[ and ![ "), /[[\]]/);
  assert.doesNotMatch(brokenLinks("^[a-z](command:evil)"), /\]\(/);
  assert.doesNotMatch(withoutIcons("$(verified) Approved"), /\$\(/);
  assert.equal(formOf(question({ follows: "[ -f x ] && rm x" })), "modal", "a notification would show other brackets");
});

test("time", () => {
  const now = Date.parse("2026-11-17T09:00:00Z");
  const limited = question({ deadline: "2026-11-17T09:05:00Z", window: 600_000, default: "cancel" });
  assert.equal(timeLeft(limited, now), "5m 00s left, then “Cancel”");
  assert.equal(elapsed(limited, now), 50);
  assert.equal(timeLeft(question(), now), "no time limit");
  assert.equal(timeLeft(limited, now + 600_000), "time is up");
  // A dialog cannot be changed: it has the moment, too.
  assert.match(timeUntil(limited, now, "UTC"), /^Until 09:05:00 (UTC|GMT) \(5m 00s left when this opened\), then “Cancel”$/);
  assert.match(timeUntil(limited, now, "Europe/Berlin"), /^Until 10:05:00 \S+ /);
  assert.equal(timeUntil(question(), now), "no time limit");
});

test("what an answer needs, and what remembering covers", () => {
  assert.equal(commits(question(), { action: "proceed" }), true);
  assert.equal(commits(question(), { action: "cancel" }), false);
  assert.equal(commits(question({ purpose: "recover" }), { action: "skip" }), true);
  const [none, step, , always] = rememberChoices(question({ remember: true, any: ["tag"] }));
  const failed = rememberChoices(question({ remember: true, purpose: "recover" }));
  assert.deepEqual(failed.map((one) => one.scope), [null, "error", "step", "skill", "always"]);
  assert.equal(failed[1]?.detail, "This error of this step, only where it does the same.");
  assert.equal(rememberChoices(question({ purpose: "recover" })).length, 1);
  assert.equal(none?.scope, null);
  assert.equal(step?.detail, "The same question at this step, only where everything shown is the same.");
  assert.match(always?.detail ?? "", /in any skill/);
  // A line of a list has room for about 85 characters.
  for (const one of [...failed, ...rememberChoices(question({ remember: true }))]) assert.ok(one.detail.length <= 85, one.detail);
  assert.deepEqual(mayDiffer(question({ remember: true, any: ["tag"] })), ["May differ: tag"]);
  assert.deepEqual(mayDiffer(question({ any: ["tag"] })), []);
  const many = mayDiffer(question({ remember: true, any: Array.from({ length: 12 }, (_, at) => `variable_${at}`) }));
  assert.ok(many.length > 1 && many.every((line) => line.length <= 85) && many.join(", ").includes("variable_11"), String(many));
  assert.equal(misfit(question({ match: "^a+$" }), "b"), "Must match ^a+$");
  assert.equal(misfit(question({ match: "^a+$" }), "aa"), null);
  assert.equal(misfit(question({ match: "(?P<rust>a)" }), "b"), null, "only the server can say");
  assert.equal(misfit(question(), ""), "Write something first.");
  assert.equal(misfit(question({ match: "^a*$" }), ""), null, "nothing may be an answer");
});

test("what became of it", () => {
  const decision = { at: "", value: "proceed", by: "ann", prompter: "web" };
  assert.equal(outcome(question({ state: "answered", decision })), "Release: “Proceed” by ann, on the web page");
  assert.equal(outcome(question({ state: "answered", secret: true, decision: { ...decision, value: "hunter2" } })), "Release: answered by ann, on the web page");
  assert.equal(outcome(question({ state: "expired", decision: { at: "", value: "cancel", expired: true } })), "Release: nobody answered in time; “Cancel” was taken");
});

test("progress and marks", () => {
  const step = (name: string, more: Partial<StepState> = {}): StepState => ({ name, kind: "shell", description: null, status: "completed", attempt: 1, execution: 1, notes: [], repaired: false, ...more });
  const run = { steps: new Map(["a", "b", "c"].map((name) => [name, step(name)])), memory: [{ step: "b", learned: false, kind: "fix", message: "" }] } as unknown as RunState;
  assert.equal(progressOf({ skill: "release", step: "b" }, run), "release 2/3");
  assert.equal(progressOf({ skill: "release", step: "b" }, null), "release");
  assert.equal(failureOf("release", "ship", "step `ship`: exit code 1\nmore"), "release failed at ship: exit code 1");
  assert.equal(failureOf("release", null, null), "release failed");
  const at = (now: string): string => since("2026-11-18T04:00:00Z", Date.parse(now));
  assert.deepEqual(["2026-11-18T04:00:59Z", "2026-11-18T04:01:00Z", "2026-11-18T06:00:00Z"].map(at), ["just now", "1m ago", "2h ago"]);
  assert.deepEqual(marksOf(step("b", { attempt: 3, repaired: true }), run), ["2 retries", "healed", "memory read"]);
  assert.deepEqual(marksOf(step("a", { attempt: 2, repaired: true, status: "failed" }), run), ["1 retry"], "a repair that did not help is not one");
});

test("who answers a run that nobody drives hears that it waits", () => {
  assert.equal(notResumed({ state: "answered", missing: 0 }), null);
  assert.equal(notResumed({ not_resumed: null }), null);
  assert.match(notResumed({ not_resumed: "resume it with: `aye resume r`\u202e" }) ?? "", /recorded.*`aye resume r`/);
  assert.ok(!notResumed({ not_resumed: "\u202e" })?.includes("\u202e"), "what turns text around is taken out");
});
