//! What a person reads of the facts before answering: not what the command, or the place
//! where they read it, says already.

use std::path::{Path, PathBuf};

use crate::facts::{Fact, FactKind};

use super::Question;

/// Where programs of the system are: found there, a name means what people expect.
const SYSTEM: [&str; 6] =
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Where a question is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reader<'a> {
    /// The directory of the run.
    pub workspace: Option<&'a str>,
    /// The machine.
    pub host: Option<&'a str>,
}

impl Question {
    /// The facts to read before answering.
    pub fn told_to(&self, reader: Reader<'_>) -> Vec<&Fact> {
        let all = self.facts.iter().flatten();
        all.filter(|fact| !self.goes_without_saying(fact, reader)).collect()
    }

    fn goes_without_saying(&self, fact: &Fact, reader: Reader<'_>) -> bool {
        match &fact.kind {
            FactKind::Machine => reader.host == Some(&fact.value),
            FactKind::Directory => reader.workspace == Some(&fact.value),
            FactKind::Program => match self.called(fact) {
                Some(path) if path.contains('/') => self.is_at(fact, path),
                Some(_) | None => {
                    let parent = Path::new(&fact.value).parent();
                    parent.is_some_and(|parent| SYSTEM.iter().any(|one| parent == Path::new(one)))
                }
            },
            FactKind::File => fact.name.as_ref().is_some_and(|name| self.is_at(fact, name)),
            FactKind::Command
            | FactKind::Env
            | FactKind::Stdin
            | FactKind::Skill
            | FactKind::Input
            | FactKind::Items
            | FactKind::Code
            | FactKind::Value
            | FactKind::Tool
            | FactKind::Unsettled
            | FactKind::SecretInput
            | FactKind::Begun
            | FactKind::Destructive
            | FactKind::Environment
            | FactKind::NotCovered
            | FactKind::Uncertain
            | FactKind::Other(_) => false,
        }
    }

    /// What a program is called by its command or its tool; a script does not name its shell.
    fn called(&self, program: &Fact) -> Option<&str> {
        let beside = |kind| self.beside(program, kind);
        let command = || beside(&FactKind::Command).filter(|command| command.digest.is_none());
        let line = beside(&FactKind::Tool).or_else(command)?;
        line.value.split(' ').next()
    }

    /// Whether a path, from where its step runs, is the file that a fact is about.
    fn is_at(&self, fact: &Fact, path: &str) -> bool {
        let directory = self.beside(fact, &FactKind::Directory).map_or("", |one| &one.value);
        let path: PathBuf = Path::new(directory).join(path).components().collect();
        path == Path::new(&fact.value)
    }

    /// The fact of another kind about the same start.
    fn beside(&self, fact: &Fact, kind: &FactKind) -> Option<&Fact> {
        self.facts
            .iter()
            .flatten()
            .find(|one| one.kind == *kind && (&one.step, &one.answer) == (&fact.step, &fact.answer))
    }
}

#[cfg(test)]
mod tests {
    use crate::id::QuestionId;
    use crate::skill::AskKind;

    use super::*;

    /// The kinds of facts that are told of a command in `/w` on `here`.
    fn told(facts: &[(FactKind, Option<&str>, &str)]) -> Vec<String> {
        let id = QuestionId::from_text("r-1");
        let mut question = Question::new(id, AskKind::Confirm, "Go?");
        let facts = facts.iter().map(|(kind, name, value)| {
            let fact = Fact::new(kind.clone(), *name, value);
            // Only the text of a script has a digest.
            let is_script = *kind == FactKind::Command && value.contains(';');
            if is_script { fact.with_digest("0") } else { fact }
        });
        question.facts = Some(facts.collect());
        let reader = Reader { workspace: Some("/w"), host: Some("here") };
        question.told_to(reader).into_iter().map(|fact| fact.kind.to_string()).collect()
    }

    #[test]
    fn what_the_command_and_the_place_say_is_not_said_again() {
        let usual = [
            (FactKind::Machine, None, "here"),
            (FactKind::Command, None, "./deploy.sh stage"),
            (FactKind::Directory, None, "/w"),
            (FactKind::Program, None, "/w/deploy.sh"),
            (FactKind::File, Some("./x.sh"), "/w/x.sh"),
        ];
        assert_eq!(told(&usual), ["command"]);
    }

    #[test]
    fn what_is_not_as_it_seems_is_told() {
        for (command, program, tells) in [
            ("kubectl delete x", "/usr/bin/kubectl", false),
            ("kubectl delete x", "/w/bin/kubectl", true),
            ("./deploy", "/w/deploy", false),
            ("./deploy", "/usr/bin/dd", true),
            ("../w/deploy", "/w/deploy", true),
            ("/opt/deploy x", "/opt/deploy", false),
            ("/opt/deploy x", "/opt/deploy-2", true),
            ("true; ./deploy", "/usr/bin/dash", false),
            ("true; ./deploy", "/tmp/bin/sh", true),
            ("missing", "not found", true),
        ] {
            let directory = (FactKind::Directory, None, "/w");
            let facts =
                [(FactKind::Command, None, command), directory, (FactKind::Program, None, program)];
            let kinds = told(&facts);
            assert_eq!(kinds.contains(&"program".to_owned()), tells, "{command}: {program}");
        }
        let kinds = told(&[
            (FactKind::Machine, None, "db-1"),
            (FactKind::Directory, None, "/elsewhere"),
            (FactKind::File, Some("x.sh"), "/w/x.sh"),
            (FactKind::Tool, None, "./ship"),
            (FactKind::Program, None, "/elsewhere/ship"),
        ]);
        assert_eq!(kinds, ["machine", "directory", "file", "tool"]);
    }
}
