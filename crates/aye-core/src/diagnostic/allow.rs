//! Warnings that an author has looked at: `# aye: allow cycle`.

use super::{Diagnostic, Source};

/// What such a comment begins with.
const ALLOW: &str = "aye: allow ";

/// Leaves out warnings that a comment on their line, or on the line above,
/// allows by their code. Errors stay.
pub fn without_allowed(diagnostics: Vec<Diagnostic>, text: &str) -> Vec<Diagnostic> {
    if !text.contains(ALLOW) {
        return diagnostics;
    }
    let source = Source::new("", text);
    let allows = |line: usize, alone: bool, code: &str| {
        let Some((before, comment)) = source.line(line).split_once('#') else { return false };
        let Some((_, codes)) = comment.split_once(ALLOW) else { return false };
        (!alone || before.trim().is_empty())
            && codes.split([',', ' ']).any(|allowed| allowed.trim() == code)
    };
    let kept = |found: &Diagnostic| {
        let line = source.position(found.span().start).line;
        found.is_error()
            || !(allows(line, false, found.code)
                || (line > 1 && allows(line - 1, true, found.code)))
    };
    diagnostics.into_iter().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::without_allowed;
    use crate::diagnostic::Diagnostic;
    use crate::span::Span;

    #[test]
    fn a_warning_is_allowed_where_it_stands() {
        let text = "a: 1 # aye: allow cycle\n# aye: allow unknown-name, no-end\nb: 2\nc: 3 # aye: allow cycle\nd: 4\n";
        let at = |word: &str| {
            let start = text.find(word).unwrap();
            Span { start, end: start + 1 }
        };
        let kept = |code, word| {
            let found = Diagnostic::warning(code, "x").label(at(word), "");
            !without_allowed(vec![found], text).is_empty()
        };
        assert!(!kept("cycle", "a: 1"));
        assert!(kept("no-end", "a: 1"));
        assert!(!kept("no-end", "b: 2"));
        assert!(!kept("unknown-name", "b: 2"));
        assert!(kept("cycle", "b: 2"));
        assert!(kept("cycle", "d: 4"), "a comment behind a value is of its own line alone");
        let error = Diagnostic::error("cycle", "x").label(at("a: 1"), "");
        assert_eq!(without_allowed(vec![error], text).len(), 1);
    }
}
