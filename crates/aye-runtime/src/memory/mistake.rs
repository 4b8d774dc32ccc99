//! What kind of mistake an error tells of.

use std::sync::LazyLock;

use regex_lite::Regex;

use aye_core::heal::Category;
use aye_core::word_enum;

use super::pattern::SearchText;

word_enum! {
    /// A mistake that can be learned from: the caller made it, and can avoid it
    /// the next time.
    #[derive(Hash)]
    pub enum Mistake {
        /// A parameter that is not taken, or a value that means something else.
        WrongParameter = "wrong_parameter",
        /// The right parameter, written the wrong way.
        Format = "format",
        /// Something has to be there first.
        MissingPrerequisite = "missing_prerequisite",
        /// Something has to be done first.
        Sequence = "sequence",
        /// Another tool is meant.
        WrongTool = "wrong_tool",
    }
}

impl Mistake {
    /// Why it fails, as people say it.
    pub fn because(self) -> &'static str {
        match self {
            Self::WrongParameter => "a parameter is not the right one",
            Self::Format => "a value is written the wrong way",
            Self::MissingPrerequisite => "something that it needs is not there",
            Self::Sequence => "something has to be done first",
            Self::WrongTool => "another tool is meant for it",
        }
    }
}

/// The mistake an error tells of. Nothing for trouble with logins and networks,
/// which is nobody's mistake, and for what is not understood.
pub fn mistake(error_text: &str) -> Option<Mistake> {
    let searched = SearchText::new(error_text);
    let infrastructure = [Category::Auth, Category::Network];
    if infrastructure.into_iter().any(|category| category.is_in(searched.raw())) {
        return None;
    }
    if Category::Tty.is_in(searched.raw()) {
        return Some(Mistake::WrongTool);
    }
    let words = WORDS.iter().find(|(_, all)| all.iter().any(|words| searched.has(words)));
    let shape = || SHAPES.iter().find(|(_, regex)| regex.is_match(searched.raw()));
    words.map(|(mistake, _)| *mistake).or_else(|| shape().map(|(mistake, _)| *mistake))
}

/// In this order: what says more comes first.
const WORDS: [(Mistake, &[&str]); 5] = [
    (
        Mistake::Sequence,
        &[
            "must be run first",
            "before you can",
            "must first",
            "has not been pushed",
            "no upstream branch",
            "has not been reserved",
            "not reserved",
            "not yet initialized",
            "out of order",
            "not in the right state",
        ],
    ),
    (
        Mistake::WrongTool,
        &["unknown command", "unknown subcommand", "no such subcommand", "unknown tool"],
    ),
    (
        Mistake::Format,
        &[
            "malformed",
            "could not parse",
            "cannot parse",
            "unable to parse",
            "failed to parse",
            "expected format",
            "must match",
            "does not match the pattern",
            "does not match the format",
            "manifest unknown",
        ],
    ),
    (
        Mistake::WrongParameter,
        &[
            "unknown option",
            "unknown flag",
            "unknown argument",
            "unknown parameter",
            "unrecognized option",
            "unrecognized arguments",
            "unexpected argument",
            "unexpected keyword argument",
            "no such option",
            "invalid choice",
            "invalid value",
            "invalid argument",
            "invalid parameter",
            "is not owned by",
            "not owned by",
            "does not belong to",
            "belongs to another",
        ],
    ),
    (
        Mistake::MissingPrerequisite,
        &[
            "no commits",
            "nothing to push",
            "nothing to commit",
            "does not exist",
            "no such file or directory",
            "not a git repository",
            "command not found",
            "not installed",
            "not initialized",
            "is not running",
        ],
    ),
];

static SHAPES: LazyLock<Vec<(Mistake, Regex)>> = LazyLock::new(|| {
    [
        (Mistake::Format, r"(?i)\binvalid\b[^\n]{0,40}\bformat\b"),
        (Mistake::Format, r"(?i)\bnot a valid (?:date|time|uuid|url|json|number|sha|hash|id)\b"),
        (Mistake::Sequence, r"(?i)\brun\b[^\n]{0,60}\bfirst\b"),
        (Mistake::WrongTool, r"(?i)\buse\b[^\n]{0,60}\binstead\b"),
        (Mistake::WrongTool, r"(?i)\bis not an? \S+ command\b"),
    ]
    .into_iter()
    .filter_map(|(mistake, regex)| Some((mistake, Regex::new(regex).ok()?)))
    .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_apart() {
        let cases = [
            ("namespace x is not owned by you", Mistake::WrongParameter),
            ("error: unrecognized arguments: --fast", Mistake::WrongParameter),
            ("manifest unknown", Mistake::Format),
            ("invalid commit format", Mistake::Format),
            ("no commits between main and topic", Mistake::MissingPrerequisite),
            ("branch x does not exist", Mistake::MissingPrerequisite),
            ("the branch topic has no upstream branch", Mistake::Sequence),
            ("run `aye init` first", Mistake::Sequence),
            ("the input device is not a TTY", Mistake::WrongTool),
            ("deprecated: use deploy2 instead", Mistake::WrongTool),
            ("git: 'foo' is not a git command", Mistake::WrongTool),
        ];
        for (text, wanted) in cases {
            assert_eq!(mistake(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn infrastructure_is_nobodys_mistake() {
        for text in [
            "401 Unauthorized: invalid value for token",
            "dial tcp: connection refused; the service does not exist",
            "HTTP 503",
        ] {
            assert_eq!(mistake(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_nothing() {
        assert_eq!(mistake("segmentation fault"), None);
        assert_eq!(mistake(""), None);
    }
}
