//! A whole command line where a program's name belongs.

use super::Checker;
use crate::diagnostic::{Diagnostic, quote, visible};
use crate::skill::Template;
use crate::span::Spanned;
use crate::yaml::NodeId;

/// Longer ones are not a help as a hint.
pub(super) const MOST_WORDS: usize = 9;

impl Checker<'_> {
    /// Reports it, with the words apart. `shell` says whether the place has
    /// that key too; `beside` are the arguments that are given already.
    pub(super) fn command_line(
        &mut self,
        id: NodeId,
        program: &Spanned<String>,
        place: &str,
        shell: bool,
        beside: &[Template],
    ) {
        // A shell would not get them.
        let shell = shell && beside.is_empty();
        let message = format!("`command` of {place} is a whole command line");
        let diagnostic = Diagnostic::error("command-line", message)
            .label(program.span, format!("no program is called {}", quote(program)));
        let apart = words(program).filter(|words| words.len() <= MOST_WORDS);
        // A path may hold spaces.
        let certain = apart.as_ref().filter(|_| !program.contains('/'));
        let exact = certain.and_then(|words| {
            let words: Vec<String> = words.iter().map(|word| in_list(word)).collect();
            self.apart(id, words.split_first()?)
        });
        let diagnostic = diagnostic.fix_all(exact);
        self.report.push(match (apart, shell) {
            (Some(words), _) => {
                let beside = beside.iter().map(|argument| argument.as_str());
                let args = words[1..].iter().map(String::as_str).chain(beside);
                let args: Vec<String> = args.map(in_list).collect();
                let apart = format!("command: {}\nargs: [{}]", in_list(&words[0]), args.join(", "));
                let apart = match program.contains("${{") {
                    true => format!("{apart}\n(`${{{{ … }}}}` is written `{{{{ … }}}}` here)"),
                    false => apart,
                };
                let path = match shell && program.contains('/') {
                    true => "\n(if its path has a space, add `args: []`)",
                    false => "",
                };
                match shell && !program.contains("{{") {
                    true => diagnostic.hint(format!(
                        "write the words apart, or let a shell do it:\n{apart}\nor\nshell: {}{path}",
                        program.trim()
                    )),
                    false => diagnostic.hint(format!("write the words apart:\n{apart}")),
                }
            }
            (None, _) if !beside.is_empty() => {
                diagnostic.hint("move its words to the beginning of `args`, one each")
            }
            (None, true) => diagnostic.hint("write the words apart in `args`, or use `shell:`"),
            (None, false) => diagnostic
                .hint("write the words apart in `args`; a script is `command: sh, args: [-c, …]`"),
        });
    }
}

/// The words of a line, with `{{ … }}` in one piece; `None` if only a shell
/// could tell them apart.
pub(super) fn words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut rest = line.trim();
    while let Some(next) = rest.chars().next() {
        // GitHub's way to write a value.
        if rest.starts_with("${{") {
            rest = &rest[1..];
        }
        if rest.starts_with("{{") {
            let end = rest.find("}}")? + 2;
            words.last_mut()?.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        if "\"'\\|&;<>()$`*?[]#~{}!\n,:".contains(next) {
            return None;
        }
        match (next.is_whitespace(), words.last_mut()) {
            (true, Some(word)) if !word.is_empty() => words.push(String::new()),
            (true, _) => {}
            (false, word) => word?.push(next),
        }
        rest = &rest[next.len_utf8()..];
    }
    Some(words)
}

/// A word as it is written in a list between brackets.
pub(super) fn in_list(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./+=@%^~".contains(c);
    let word = visible(word);
    let begins = word.trim_start_matches('-').starts_with(|c| plain(c) && !"=@%~".contains(c));
    match begins && word.chars().all(plain) {
        true => word.into_owned(),
        false if word.contains(['"', '\\']) => format!("'{}'", word.replace('\'', "''")),
        false => format!("\"{word}\""),
    }
}
