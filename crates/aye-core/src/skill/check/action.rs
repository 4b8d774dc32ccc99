//! What a step does: exactly one thing.

use super::skill::texts;
use super::step::flag;
use super::{Checker, before_template, is_template, template};
use crate::diagnostic::{Diagnostic, quote};
use crate::skill::document::{ListedArgs, NamedArgs, Question, StepDoc};
use crate::skill::{Action, AskKind};
use crate::span::{Span, Spanned};
use crate::yaml::NodeId;
use crate::yaml::decode::Field;
use serde_json::Value;

/// Keys that only make sense for a program, with their places.
fn program_keys(doc: &StepDoc) -> [(&'static str, Option<Span>); 10] {
    [
        ("env", doc.env.key()),
        ("cwd", doc.cwd.key()),
        ("stdin", doc.stdin.key()),
        ("interactive", doc.interactive.key()),
        ("tty", doc.tty.key()),
        ("stdout", doc.stdout.key()),
        ("stderr", doc.stderr.key()),
        ("log", doc.log.key()),
        ("max_memory", doc.max_memory.key()),
        ("max_cpu", doc.max_cpu.key()),
    ]
}

impl Checker<'_> {
    /// The action of a step. `ends` is set for final states, which need none.
    pub(super) fn action(
        &mut self,
        doc: &mut StepDoc,
        name: &Spanned<String>,
        id: NodeId,
        place: &str,
        ends: bool,
    ) -> Option<Action> {
        let given: Vec<(&str, Span)> = [
            ("command", doc.command.key()),
            ("shell", doc.shell.key()),
            ("tool", doc.tool.key()),
            ("compute", doc.compute.key()),
            ("skill", doc.skill.key()),
            ("steps", doc.steps.key()),
            ("confirm", doc.confirm.key()),
            ("choose", doc.choose.key()),
            ("input", doc.input.key()),
        ]
        .into_iter()
        .filter_map(|(word, key)| key.map(|key| (word, key)))
        .collect();
        if let [(first, first_key), (second, second_key), ..] = given.as_slice() {
            self.report.push(
                Diagnostic::error(
                    "two-actions",
                    format!("{place} has both `{first}` and `{second}`"),
                )
                .label(*second_key, "keep one of them")
                .label(*first_key, "and the other")
                .hint("a step does one thing; make it two steps"),
            );
            return None;
        }
        let word = given.first().map(|(word, _)| *word);
        // Without an action there is no telling what belongs to it.
        let belongs = !doc.validate.is_absent() || !doc.then.is_absent();
        let note =
            (ends || belongs || !doc.description.is_absent()) && !self.misspelt.contains_key(&id);
        if word.is_some() || note {
            self.stray_keys(doc, word, place);
        }
        let destructive = flag(&doc.destructive);
        let mut ask = |field: &mut Field<Question>, kind| {
            let question = std::mem::take(field).take()?;
            self.question(question.value, kind, name, destructive, place)
                .map(|ask| Action::Ask(Box::new(ask)))
        };
        match word {
            Some("command") => self.command(doc, id, place),
            Some("shell") => {
                let script = std::mem::take(&mut doc.shell).take()?;
                self.not_empty(&script, &format!("`shell` of {place}"));
                Some(Action::Shell { script })
            }
            Some("tool") => self.tool(doc, id, place),
            Some("compute") => {
                let code = std::mem::take(&mut doc.compute).take()?;
                self.not_empty(&code, &format!("`compute` of {place}"));
                let reads_files = doc.files.get().is_some();
                Some(Action::Compute { code, python: flag(&doc.python), reads_files })
            }
            Some("skill") => {
                let given = self.tree.entry(id, "inputs").map(|(_, value)| self.span(value));
                let span = given.or(doc.skill.key()).unwrap_or_default();
                let skill = std::mem::take(&mut doc.skill).take()?;
                self.not_empty(&skill, &format!("`skill` of {place}"));
                let inputs = std::mem::take(&mut doc.inputs).take();
                let inputs = inputs.map(|map| map.value.into_iter().collect()).unwrap_or_default();
                Some(Action::Skill { skill, inputs, span })
            }
            Some("steps") => Some(Action::Note),
            Some("confirm") => ask(&mut doc.confirm, AskKind::Confirm),
            Some("choose") => ask(&mut doc.choose, AskKind::Choose),
            Some(_) => ask(&mut doc.input, AskKind::Input),
            None => {
                let gate = !doc.confirmation.is_absent();
                if gate || (doc.description.is_absent() && !ends && !belongs) {
                    self.no_action(id, name.span, place, gate);
                }
                Some(Action::Note)
            }
        }
    }

    fn no_action(&mut self, id: NodeId, name: Span, place: &str, gate: bool) {
        // What it should do is probably there, under a wrong key.
        if self.misspelt.contains_key(&id) {
            return;
        }
        let at = if name == Span::default() { self.span(id) } else { name };
        let hint = if gate {
            "`confirmation` is asked before something runs; a step that only asks has `confirm:`"
        } else {
            "give it `command`, `shell`, `tool`, `compute`, `skill`, `confirm`, `choose` or `input`; with only a `description` it is a note"
        };
        self.report.push(
            Diagnostic::error("no-action", format!("{place} does nothing"))
                .label(at, "")
                .hint(hint),
        );
    }

    fn stray_keys(&mut self, doc: &StepDoc, word: Option<&str>, place: &str) {
        if let Some(key) = doc.args.key()
            && !matches!(word, Some("command" | "tool"))
        {
            let diagnostic = Diagnostic::error(
                "stray-key",
                format!("`args` without `command` or `tool` in {place}"),
            )
            .label(key, "");
            self.report.push(match word {
                Some("shell") => diagnostic.hint("write the arguments into the script"),
                Some("skill") => diagnostic.hint("what a skill is given goes under `inputs:`"),
                _ => diagnostic.hint("name the program with `command:`"),
            });
        }
        self.stray_for(doc, word, place);
        if !matches!(word, Some("command" | "shell")) {
            let acts = matches!(word, Some("tool" | "compute" | "skill" | "steps"));
            let timeout = ("timeout", doc.timeout.key().filter(|_| !acts));
            for (name, key) in program_keys(doc).into_iter().chain([timeout]) {
                let Some(key) = key else { continue };
                let diagnostic = Diagnostic::error(
                    "stray-key",
                    format!("`{name}` without a command in {place}"),
                )
                .label(key, "");
                self.report.push(match word {
                    Some(ask) if name == "timeout" => {
                        diagnostic.hint(format!("a question's time limit goes inside `{ask}:`"))
                    }
                    _ => diagnostic,
                });
            }
            return;
        }
        if let Some(stdin) = doc.stdin.get() {
            let hint = match stdin.0.as_str() {
                "inherit" => Some("write `interactive: true` to give the step the terminal"),
                "pipe" | "null" | "ignore" => {
                    Some("remove it; a step's input is empty unless `stdin` holds text")
                }
                _ => None,
            };
            if let Some(hint) = hint {
                let said =
                    Diagnostic::error("stdin-mode", "`stdin` holds the text itself, not a mode")
                        .label(stdin.span, "")
                        .hint(hint);
                let key = doc.stdin.key().filter(|_| stdin.0 != "inherit");
                let removed = key.and_then(|key| self.without(key, stdin.span));
                self.report.push(said.fix_all(removed));
            }
        }
        if let (true, Some(stdin), Some(interactive)) =
            (flag(&doc.interactive), doc.stdin.key(), doc.interactive.key())
        {
            self.report.push(
                Diagnostic::error(
                    "conflicting-keys",
                    format!("{place} has `stdin` and is interactive"),
                )
                .label(stdin, "the text for its input")
                .label(interactive, "its input is the terminal"),
            );
        }
        self.kept_output(doc, place);
    }

    /// Keys that belong to one kind of step.
    fn stray_for(&mut self, doc: &StepDoc, word: Option<&str>, place: &str) {
        let repeats = !doc.foreach.is_absent();
        let each = [
            ("as", doc.item_name.key()),
            ("label", doc.label.key()),
            ("parallel", doc.parallel.key()),
            ("fail_fast", doc.fail_fast.key()),
            ("steps", doc.steps.key()),
        ];
        let each = each.into_iter().map(|(key, span)| (key, span, "foreach", repeats));
        let rest = [
            ("python", doc.python.key(), "compute", word == Some("compute")),
            ("files", doc.files.key(), "compute", word == Some("compute")),
            ("inputs", doc.inputs.key(), "skill", word == Some("skill")),
        ];
        for (key, span, owner, fits) in each.chain(rest) {
            let Some(span) = span.filter(|_| !fits) else { continue };
            let message = format!("`{key}` without `{owner}` in {place}");
            self.report.push(Diagnostic::error("stray-key", message).label(span, ""));
        }
    }

    fn tool(&mut self, doc: &mut StepDoc, id: NodeId, place: &str) -> Option<Action> {
        let args = self.tree.entry(id, "args").map(|(_, value)| self.span(value));
        let span = args.or(doc.tool.key()).unwrap_or_default();
        let named: NamedArgs = match doc.args.is_absent() {
            true => NamedArgs::default(),
            false => self.decode_part(id, place)?,
        };
        let args = named.args.take().map(|args| args.value.0).unwrap_or_default();
        let args = args.into_iter().map(|(name, raw)| (name.value, self.tree.value(raw.id)));
        let args = Value::Object(args.collect());
        let tool = std::mem::take(&mut doc.tool).take()?;
        if self.not_empty(&tool, &format!("`tool` of {place}"))
            && (is_template(&tool) || tool.contains(char::is_whitespace))
        {
            self.report.push(
                Diagnostic::error("bad-name", format!("{} cannot be a tool", quote(&tool)))
                    .label(tool.span, "")
                    .hint("write `server.tool`, or the name of a tool in `aye.toml`"),
            );
        }
        Some(Action::Tool { tool, args, span })
    }

    fn command(&mut self, doc: &mut StepDoc, id: NodeId, place: &str) -> Option<Action> {
        let args_given = !doc.args.is_absent();
        let listed: ListedArgs = match args_given {
            true => self.decode_part(id, place)?,
            false => ListedArgs::default(),
        };
        let args = texts(listed.args);
        let program = template(std::mem::take(&mut doc.command).take()?);
        if self.not_empty(&program, &format!("`command` of {place}"))
            && before_template(program.trim()).contains(char::is_whitespace)
            // A path may hold spaces; with `args` beside it, it is meant.
            && !(args_given && program.contains(['/', '\\']))
        {
            self.command_line(id, &program, place, true, &args);
        }
        Some(Action::Command { program, args })
    }
}
