//! Texts that are refused as a whole: too large, too deep, or not YAML.

use granit_parser::{ErrorKind, ScanError};

use super::read::{MAX_BYTES, MAX_DEPTH, MAX_NODES};
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// Refuses by length alone, before a single character is looked at.
pub(super) fn check_size(text: &str) -> Result<(), Box<Diagnostic>> {
    match too_large(text.len() as u64) {
        None => Ok(()),
        Some(refused) => Err(Box::new(refused)),
    }
}

/// Refuses a file by its size, before it is read.
pub fn too_large(bytes: u64) -> Option<Diagnostic> {
    let kib = bytes / 1024;
    (bytes > MAX_BYTES as u64).then(|| {
        Diagnostic::error(
            "too-large",
            format!("the file has {kib} KiB, the limit is {} KiB", MAX_BYTES / 1024),
        )
        .hint("a skill is a short text; keep data in files of its own")
    })
}

/// Refuses characters that YAML does not allow outside of escapes.
pub(super) fn check_characters(text: &str) -> Result<(), Box<Diagnostic>> {
    let allowed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some((at, c)) = text.char_indices().find(|(_, c)| !allowed(*c)) else {
        return Ok(());
    };
    let code = u32::from(c);
    let diagnostic = Diagnostic::error(
        "control-character",
        format!("control character U+{code:04X} in the file"),
    )
    .label(Span { start: at, end: at + c.len_utf8() }, "not allowed in YAML");
    Err(Box::new(if c == '\0' {
        diagnostic.hint("is this a text file, saved as UTF-8?")
    } else {
        diagnostic.hint(format!("if it is meant, write `\\x{code:02x}` inside double quotes"))
    }))
}

pub(super) fn empty(text: &str) -> Box<Diagnostic> {
    let end = text.len();
    Box::new(
        Diagnostic::error("empty-file", "the file is empty")
            .label(Span { start: end, end }, "a skill is expected here")
            .hint("a skill has a `name:` and `steps:` or `states:`"),
    )
}

pub(super) fn too_deep(span: Span) -> Box<Diagnostic> {
    let message = format!("lists and mappings are nested more than {MAX_DEPTH} deep");
    Box::new(Diagnostic::error("too-deep", message).label(span, "one too deep"))
}

pub(super) fn too_much(span: Span) -> Box<Diagnostic> {
    let message = format!("the file has more than {MAX_NODES} values, aliases counted in full");
    Box::new(Diagnostic::error("too-many-values", message).label(span, "the limit is reached here"))
}

/// What the parser found, in our words where they help more.
pub(super) fn error(error: &ScanError, text: &str, offset: usize) -> Box<Diagnostic> {
    let at = error.marker().byte_offset().map_or(text.len(), |byte| byte + offset);
    let at = text.floor_char_boundary(at.min(text.len()));
    let width =
        text[at..].chars().next().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
    let span = Span { start: at, end: at + width };
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(span);
    }
    let (message, hint) = words(error.kind());
    let message = message.map_or_else(|| error.info(), str::to_owned);
    Box::new(Diagnostic::error("yaml", message).label(span, "").hint_if(hint))
}

fn words(kind: &ErrorKind) -> (Option<&'static str>, Option<&'static str>) {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => {
            (Some("a tab in the indentation"), Some("YAML is indented with spaces"))
        }
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::DocumentIndicatorInQuotedScalar => (
            Some("a quoted text is not closed before this line"),
            Some("add the closing quote, or indent the rest of the text"),
        ),
        ErrorKind::UnclosedQuotedScalar => {
            (Some("a quoted text is not closed"), Some("add the closing quote"))
        }
        ErrorKind::UnclosedFlowCollection { open: '[' } | ErrorKind::UnexpectedEofFlowSequence => {
            (Some("a `[` is not closed"), Some("add the closing `]`"))
        }
        ErrorKind::UnclosedFlowCollection { .. } | ErrorKind::UnexpectedEofFlowMapping => {
            (Some("a `{` is not closed"), Some("add the closing `}`"))
        }
        ErrorKind::MappingValueNotAllowed => (
            Some("a `:` in a place where no key can be"),
            Some("put text that holds `: ` in quotes, or look at the indentation"),
        ),
        ErrorKind::UnexpectedCharacter { character: '@' | '`' | '%' } => {
            (None, Some("put text that starts with this character in quotes"))
        }
        ErrorKind::UnknownQuotedScalarEscape => (
            Some("an unknown escape in double quotes"),
            Some("write `\\\\` for a backslash, or use single quotes"),
        ),
        ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::BlockSequenceEntryNotAllowed => (
            None,
            Some("look at the indentation of this line and the one above, and for a missing `:`"),
        ),
        _ => (None, None),
    }
}
