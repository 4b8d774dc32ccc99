//! What the files of memory hold, entry by entry: one that makes no sense is
//! reported with its place, and keeps none of the others from being read.

use serde_json::Value;

use super::error::Problem;
use super::fix::Fix;
use super::issue::{Issue, Written};
use super::memory_file::MemoryFile;
use super::pattern::{MOST_REGEXES, MOST_WORK, Pattern, looks_like_regex, regex_in};
use super::preference::EnvironmentRule;
use super::usage::UsagePattern;

/// How many lists of known issues of a file are read.
const MOST_GROUPS: usize = 500;

/// The entries of a list, those that make no sense reported.
pub(super) fn checked<T: serde::de::DeserializeOwned>(
    file: &MemoryFile,
    key: &str,
    check: impl Fn(&T) -> Result<(), String>,
    problems: &mut Vec<Problem>,
) -> Vec<(usize, T)> {
    let mut found = Vec::new();
    for entry in file.entries::<T>(key, problems) {
        match check(&entry.value) {
            Ok(()) => found.push((entry.line, entry.value)),
            Err(message) => problems.push(file.problem(entry.line, message)),
        }
    }
    found
}

/// Every list of the file holds issues; its name is a tag of them.
pub(super) fn read_issues(file: &MemoryFile, problems: &mut Vec<Problem>) -> Vec<(usize, Issue)> {
    let mut found = Vec::new();
    let mut limit = RegexLimit::default();
    let groups = file.keys();
    if groups.len() > MOST_GROUPS {
        let message = format!("only the first {MOST_GROUPS} lists of the file are read");
        problems.push(file.problem(1, message));
    }
    for group in groups.into_iter().take(MOST_GROUPS) {
        for entry in file.entries::<Written>(&group, problems) {
            if !limit.allows(&entry.value.pattern, entry.line) {
                continue;
            }
            if looks_like_regex(&entry.value.pattern) {
                let message = format!(
                    "`{}` reads like a regular expression and is looked for as it stands; write \
                     `/{}/` if it is one",
                    entry.value.pattern, entry.value.pattern
                );
                problems.push(file.problem(entry.line, message));
            }
            match entry.value.read(&group) {
                Ok(issue) => {
                    limit.spend(&issue.pattern, entry.line);
                    found.push((entry.line, issue));
                }
                Err(error) => problems.push(file.problem(entry.line, error.to_string())),
            }
        }
    }
    problems.extend(limit.problems(file));
    found
}

pub(super) fn read_fixes(file: &MemoryFile, problems: &mut Vec<Problem>) -> Vec<(usize, Fix)> {
    let mut found = Vec::new();
    let mut limit = RegexLimit::default();
    for entry in file.entries::<Fix>("fixes", problems) {
        if !limit.allows(&entry.value.matches.error, entry.line) {
            continue;
        }
        match entry.value.check() {
            Ok(pattern) => {
                limit.spend(&pattern, entry.line);
                found.push((entry.line, entry.value.identified()));
            }
            Err(message) => problems.push(file.problem(entry.line, message)),
        }
    }
    problems.extend(limit.problems(file));
    found
}

/// Counts the regular expressions of a file: compiling them takes time too.
#[derive(Default)]
struct RegexLimit {
    seen: usize,
    /// The first line that is passed over.
    line: Option<usize>,
    work: usize,
    /// The first line that a long error may not be compared with.
    costly: Option<usize>,
}

impl RegexLimit {
    fn allows(&mut self, written: &str, line: usize) -> bool {
        if regex_in(written).is_none() {
            return true;
        }
        self.seen += 1;
        let allowed = self.seen <= MOST_REGEXES;
        if !allowed {
            self.line.get_or_insert(line);
        }
        allowed
    }

    fn spend(&mut self, pattern: &Pattern, line: usize) {
        self.work = self.work.saturating_add(pattern.work());
        if self.work > MOST_WORK {
            self.costly.get_or_insert(line);
        }
    }

    fn problems(&self, file: &MemoryFile) -> impl Iterator<Item = Problem> {
        let many = self.line.map(|line| {
            let message = format!(
                "a file may have {MOST_REGEXES} regular expressions: this one and those after it \
                 are passed over; write words instead"
            );
            file.problem(line, message)
        });
        let costly = self.costly.map(|line| {
            let message = "comparing the regular expressions of this file with a long error \
                           takes too long: this one and those after it may be passed over then; \
                           write words instead";
            file.problem(line, message.to_owned())
        });
        many.into_iter().chain(costly)
    }
}

pub(super) fn read_usage(
    file: &MemoryFile,
    problems: &mut Vec<Problem>,
) -> Vec<(usize, UsagePattern)> {
    checked(file, "patterns", |_: &UsagePattern| Ok(()), problems)
}

pub(super) fn read_rules(
    file: &MemoryFile,
    problems: &mut Vec<Problem>,
) -> Vec<(usize, (String, EnvironmentRule))> {
    let value = file.value();
    let Some(rules) = value.get("environments").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, rule) in rules {
        match serde_json::from_value(rule.clone()) {
            Ok(rule) => found.push((1, (name.clone(), rule))),
            Err(_) => {
                // What is not understood must not mean "do not ask".
                found.push((1, (name.clone(), EnvironmentRule::AlwaysAsk)));
                let message = format!(
                    "`environments`: `{name}` should be `auto_proceed` or `always_ask`; Aye always asks"
                );
                problems.push(file.problem(1, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_file_has_a_largest_number_of_expressions() {
        let issues: String =
            (0..MOST_REGEXES + 2).map(|n| format!("  - pattern: /(a|aa)*{n}c/\n")).collect();
        let text = format!("issues:\n{issues}  - pattern: plain words\n");
        let file = MemoryFile::of(Path::new("patterns.yaml"), text);
        let mut problems = Vec::new();
        let found = read_issues(&file, &mut problems);
        assert_eq!(found.len(), MOST_REGEXES + 1);
        assert_eq!(found.last().map(|(_, issue)| issue.pattern.as_str()), Some("plain words"));
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert!(lines.len() == 2 && lines[0] == MOST_REGEXES + 2, "{problems:?}");
        assert!(lines[1] < lines[0], "{problems:?}");
    }

    #[test]
    fn a_file_has_a_largest_number_of_lists() {
        let text: String =
            (0..=MOST_GROUPS).map(|n| format!("g{n}:\n  - pattern: error {n}\n")).collect();
        let mut problems = Vec::new();
        let found = read_issues(&MemoryFile::of(Path::new("patterns.yaml"), text), &mut problems);
        assert_eq!((found.len(), problems.len()), (MOST_GROUPS, 1), "{problems:?}");
    }
}
