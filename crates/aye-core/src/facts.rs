//! Facts: everything that decides what a step does, as it was when someone
//! was asked. A yes counts for these facts: before the step starts they are
//! collected again and compared.
//!
//! The core knows what it renders itself. What only the host can see (files,
//! directories, skills, tools) it looks at when asked with an [`Inspection`].

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::id::RunId;
use crate::secrets::Text;
use crate::word_enum;

/// How much of a value is written down, in bytes: what nobody can read, nobody
/// agrees to knowingly.
const LONGEST: usize = 64 * 1024;
/// How a value ends of which a part was left out.
const NOT_SHOWN: &str = " bytes are not shown)";

word_enum! {
    /// What a fact is about.
    FactKind {
        /// The machine that the step runs on.
        Machine = "machine",
        /// The command line, the script, or the call.
        Command = "command",
        /// The program file that the command means.
        Program = "program",
        /// A file that an argument names: a script or a program.
        File = "file",
        /// The working directory.
        Directory = "directory",
        /// A variable of the step's environment.
        Env = "env",
        /// What the step reads from standard input.
        Stdin = "stdin",
        /// The skill that the step runs.
        Skill = "skill",
        /// An input of that skill.
        Input = "input",
        /// What a `foreach` goes through.
        Items = "items",
        /// The code of a block.
        Code = "code",
        /// A value that a block, or a step inside, reads.
        Value = "value",
        /// What a tool is.
        Tool = "tool",
        /// It changed while it was looked at.
        Unsettled = "unsettled",
        /// From the host only: this input of the skill is a secret.
        SecretInput = "secret_input",
        /// From the host only: the run of this name continues as it began, whatever the file and
        /// the inputs would be now.
        Begun = "begun",
        /// From the host only: a step inside the skill destroys something, or may.
        Destructive = "destructive",
        /// From the host only: the input that says what the skill acts against, and what it is
        /// if nobody gives it.
        Environment = "environment",
        /// Something that a yes does not cover.
        NotCovered = "not_covered",
        /// The same, and it may be something else in the next run: the yes is not remembered.
        Uncertain = "uncertain",
    }
}

impl FactKind {
    /// Whether it may be different because someone changed what a step is given.
    pub(crate) fn follows_from_edits(&self) -> bool {
        match self {
            Self::Machine | Self::Directory | Self::Env | Self::Stdin | Self::Other(_) => false,
            Self::Command
            | Self::Program
            | Self::File
            | Self::Skill
            | Self::Input
            | Self::Items
            | Self::Code
            | Self::Value
            | Self::Tool
            | Self::Unsettled
            | Self::SecretInput
            | Self::Begun
            | Self::Destructive
            | Self::Environment
            | Self::NotCovered
            | Self::Uncertain => true,
        }
    }
}

/// One of the things that decide what a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The step, if it is another than the one that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The answer that leads there, if there is more than one that proceeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What it is about.
    pub kind: FactKind,
    /// Which one, where there may be several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is; secrets masked, the end of a long one left out.
    pub value: String,
    /// SHA-256 of the contents, or of the whole value if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Fact {
    /// A fact about the step that asks.
    pub fn new(kind: FactKind, name: Option<&str>, value: &str) -> Self {
        let (value, digest) = match value.len() > LONGEST {
            true => (excerpt(value), Some(digest(&[value.as_bytes()]))),
            false => (value.to_owned(), None),
        };
        Self { step: None, answer: None, kind, name: name.map(str::to_owned), value, digest }
    }

    /// The same with the digest of what it names.
    #[must_use]
    pub fn with_digest(self, digest: impl Into<String>) -> Self {
        Self { digest: Some(digest.into()), ..self }
    }

    /// What it is about, in words: `stdin`, ``env `TARGET` ``.
    pub fn label(&self) -> String {
        let what = match &self.name {
            Some(name) => format!("{} `{name}`", self.kind),
            None => self.kind.to_string(),
        };
        match &self.step {
            Some(step) => match step.split_once(".heal.") {
                Some((_, rule)) => format!("{what} of the repair `{rule}`"),
                None => format!("{what} of `{step}`"),
            },
            None => what,
        }
    }

    /// Whether it is something that the host saw.
    pub fn is_seen(&self) -> bool {
        matches!(
            self.kind,
            FactKind::Program
                | FactKind::File
                | FactKind::Directory
                | FactKind::Skill
                | FactKind::Tool
                | FactKind::Unsettled
        )
    }

    /// Whether nothing of its value was left out because it is too long.
    pub fn is_whole(&self) -> bool {
        !self.value.ends_with(NOT_SHOWN)
    }

    /// All of it: ``env `TARGET`: stage``; a value of several lines below its name.
    pub fn line(&self) -> String {
        let leads = self.answer.as_ref().map(|answer| format!("{answer}: ")).unwrap_or_default();
        let value = match (&self.kind, &self.digest) {
            (FactKind::Command | FactKind::Stdin | FactKind::Items | FactKind::Code, _)
            | (_, None) => self.value.clone(),
            (_, Some(digest)) => {
                format!("{} (sha256 {})", self.value, digest.get(..12).unwrap_or(digest))
            }
        };
        let between = if value.contains('\n') { ":\n" } else { ": " };
        format!("{leads}{}{between}{value}", self.label())
    }

    /// Whether it is about the same thing as another.
    fn is_about(&self, other: &Self) -> bool {
        (&self.step, &self.answer, &self.kind, &self.name)
            == (&other.step, &other.answer, &other.kind, &other.name)
    }

    /// Its value as it stands in a comparison.
    fn told(&self, other: Option<&Self>) -> String {
        let alike = other.is_some_and(|other| other.value == self.value);
        match &self.digest {
            Some(digest) if alike => {
                format!("{} (sha256 {})", self.value, digest.get(..12).unwrap_or(digest))
            }
            Some(_) | None => self.value.clone(),
        }
    }
}

/// Something that is no longer what it was when someone agreed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What has changed, in words.
    pub what: String,
    /// What it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Change {
    /// All of it on one line: `stdin: select 1 -> drop table`.
    pub fn line(&self) -> String {
        let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{}: {} -> {}", self.what, told(&self.before), told(&self.after))
    }
}

/// What is different between two collections of facts.
pub fn changes(before: &[Fact], after: &[Fact]) -> Vec<Change> {
    let mut changes = Vec::new();
    for old in before {
        let new = after.iter().find(|new| new.is_about(old));
        if new != Some(old) {
            changes.push(Change {
                what: old.label(),
                before: Some(old.told(new)),
                after: new.map(|new| new.told(Some(old))),
            });
        }
    }
    for new in after.iter().filter(|new| !before.iter().any(|old| old.is_about(new))) {
        changes.push(Change { what: new.label(), before: None, after: Some(new.told(None)) });
    }
    changes
}

/// What the host is to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// When it was asked for; the answer says the same.
    pub at: Timestamp,
    /// What to look at.
    pub looks: Vec<Look>,
}

/// One thing to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The step, if it is another than the one that asks.
    pub step: Option<String>,
    /// The answer that leads there, if there is more than one that proceeds.
    pub answer: Option<String>,
    /// What.
    pub subject: Subject,
}

/// What there is to look at. A text that touches a secret is not rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A program, the files that its arguments name, and its directory.
    Program {
        /// The program and its arguments.
        argv: Vec<Text>,
        /// Environment overlay; `None` removes a variable.
        env: IndexMap<String, Option<Text>>,
        /// Working directory.
        cwd: Option<Text>,
        /// What it reads from standard input: a shell runs that.
        stdin: Option<Text>,
    },
    /// The definition of a tool, and the program behind it.
    Tool {
        /// `server.tool`, or the name of a tool of the project.
        tool: String,
        /// Its arguments, as [`crate::effect::ToolCall`] has them.
        args: serde_json::Map<String, serde_json::Value>,
    },
    /// A skill that a step runs.
    Skill {
        /// Its name or path.
        skill: Text,
        /// It stands like this in the file.
        written: bool,
        /// The run that continues, if it was begun.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begun: Option<RunId>,
    },
}

/// What the host has seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspected {
    /// What it looked at.
    pub inspection: Inspection,
    /// What it saw, by the places of [`Inspection::looks`].
    pub facts: Vec<Vec<Fact>>,
}

impl Inspected {
    /// What was seen where one of these looks went.
    pub(crate) fn only(&self, looks: &[Look]) -> Self {
        let seen = self.inspection.looks.iter().zip(&self.facts);
        let (looks, facts) = seen
            .filter(|(look, _)| looks.contains(look))
            .map(|(look, facts)| (look.clone(), facts.clone()))
            .unzip();
        Self { inspection: Inspection { at: self.inspection.at, looks }, facts }
    }

    /// All facts, each with the step it is about.
    pub fn labelled(&self) -> impl Iterator<Item = Fact> {
        let looks = self.inspection.looks.iter().zip(&self.facts);
        looks.flat_map(|(look, facts)| {
            facts.iter().map(|fact| Fact {
                step: look.step.clone(),
                answer: look.answer.clone(),
                ..fact.clone()
            })
        })
    }
}

/// The beginning of a long text.
fn excerpt(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    format!("{}… (the last {}{NOT_SHOWN}", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(kind: FactKind, name: Option<&str>, value: &str) -> Fact {
        Fact::new(kind, name, value)
    }

    #[test]
    fn what_changed_is_told_with_both_values() {
        let before = [
            fact(FactKind::Stdin, None, "select 1"),
            fact(FactKind::File, Some("x.sh"), "/w/x.sh").with_digest("a".repeat(64)),
            fact(FactKind::Env, Some("T"), "stage"),
        ];
        let after = [
            fact(FactKind::Stdin, None, "drop table"),
            fact(FactKind::File, Some("x.sh"), "/w/x.sh").with_digest("b".repeat(64)),
            fact(FactKind::Env, Some("U"), "stage"),
        ];
        assert_eq!(changes(&before, &before), []);
        let told: Vec<_> = changes(&before, &after)
            .into_iter()
            .map(|one| (one.what, one.before.unwrap_or_default(), one.after.unwrap_or_default()))
            .collect();
        let expected = [
            ("stdin", "select 1", "drop table"),
            ("file `x.sh`", "/w/x.sh (sha256 aaaaaaaaaaaa)", "/w/x.sh (sha256 bbbbbbbbbbbb)"),
            ("env `T`", "stage", ""),
            ("env `U`", "", "stage"),
        ];
        let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
        assert_eq!(told, expected);
    }

    #[test]
    fn what_a_person_may_have_to_read_is_whole() {
        let script = format!("{}drop database", "x".repeat(LONGEST - 20));
        let fact = fact(FactKind::Stdin, None, &script);
        assert!(fact.is_whole());
        assert_eq!((fact.value, fact.digest), (script, None));
    }

    #[test]
    fn a_long_value_is_cut_and_its_end_counts_all_the_same() {
        let long = format!("{}é", "é".repeat(LONGEST));
        let one = fact(FactKind::Stdin, None, &format!("{long}a"));
        let other = fact(FactKind::Stdin, None, &format!("{long}b"));
        assert!(
            one.value.ends_with("… (the last 65539 bytes are not shown)"),
            "{}",
            one.value.len()
        );
        assert!(one.value.len() < LONGEST + 100, "{}", one.value.len());
        assert!(!one.is_whole());
        assert_eq!(one.value, other.value);
        assert_ne!(one, other);
    }
}
