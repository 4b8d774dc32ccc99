//! How much work a template may be, estimated from its tokens.
//!
//! Most templates look up a few names. Their cost grows only with the size of
//! the values, so they are evaluated on the spot. Loops, variables, macros, `*`
//! and filters that make much out of little can take any time and any memory,
//! whatever the engine counts: they are evaluated where they can be stopped (see
//! `isolated`). A template that is nested too deeply to be read is refused.

use std::borrow::Cow;

use crate::error_code::ErrorCode;

use minijinja::machinery::{Span, Token, tokenize};

use super::engine::syntax;
use super::render::TextError;

/// The longest template.
const LENGTH: usize = 256 << 10;
/// The most `{% … %}` of a template: the engine's reader recurses at `elif`.
const TAGS: usize = 500;
/// The most signs and words of one expression that can nest in its reader.
const LINKS: usize = 400;

/// What is more than this is not a small work.
const FEW_LINKS: usize = 200;
const FEW_SUMS: usize = 4;
const GROWTH: usize = 2;
const SHORT: usize = 8;

const TAGS_ON_THE_SPOT: [&str; 4] = ["if", "elif", "else", "endif"];
/// Sorted, as are the next two.
const FUNCTIONS: [&str; 18] = [
    "__now",
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "float",
    "int",
    "isinstance",
    "len",
    "list",
    "max",
    "min",
    "now",
    "round",
    "sorted",
    "str",
    "sum",
];
const METHODS: [&str; 30] = [
    "capitalize",
    "count",
    "date",
    "endswith",
    "find",
    "get",
    "isalnum",
    "isalpha",
    "isascii",
    "isdigit",
    "islower",
    "isnumeric",
    "isoformat",
    "isspace",
    "isupper",
    "items",
    "keys",
    "lower",
    "lstrip",
    "rfind",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strftime",
    "strip",
    "time",
    "timestamp",
    "upper",
    "values",
];
const FILTERS: [&str; 26] = [
    "abs",
    "basename",
    "bool",
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
    "int",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "reverse",
    "round",
    "safe",
    "sort",
    "string",
    "sum",
    "title",
    "trim",
    "upper",
];

/// Where a template is to be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// On the spot.
    Low,
    /// Where it can be stopped.
    High,
}

/// Estimates the cost of a template, or of one expression.
pub(super) fn estimate_cost(text: &str, is_expression: bool) -> Result<Cost, TextError> {
    if text.len() > LENGTH {
        let message = format!("the template is longer than {} KiB", LENGTH >> 10);
        return Err(limit(message));
    }
    let mut scale = Scale::default();
    let mut before = [Kind::Other, Kind::Other];
    let mut tokens = tokenize(text, is_expression, syntax()).peekable();
    while let Some(token) = tokens.next() {
        // The engine says what is wrong; others may know better.
        let Ok((token, _)) = token else { return Ok(Cost::High) };
        let called = matches!(tokens.peek(), Some(Ok((Token::ParenOpen, _))));
        before = [before[1], scale.add(&token, before, called)?];
    }
    Ok(if scale.much || scale.links > FEW_LINKS { Cost::High } else { Cost::Low })
}

fn limit(message: String) -> TextError {
    let hint = "use a compute step, or a script of its own".to_owned();
    TextError { hint: Some(hint), code: ErrorCode::ResourceLimit, ..TextError::new(message) }
}

/// What stands before a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dot,
    Pipe,
    Tag,
    /// Something that can be called is complete.
    Operand,
    /// The name of a filter or function of which this is the opening bracket.
    Small,
    Other,
}

#[derive(Default)]
struct Scale {
    tags: usize,
    /// Of this expression, and of all of them.
    linked: usize,
    links: usize,
    sums: usize,
    growth: usize,
    /// Arguments have to be short texts until the bracket closes.
    short: bool,
    much: bool,
}

impl Scale {
    fn add(
        &mut self,
        token: &Token<'_>,
        before: [Kind; 2],
        called: bool,
    ) -> Result<Kind, TextError> {
        let [_, last] = before;
        if self.short {
            self.short = !matches!(token, Token::ParenClose);
            self.much |= match token {
                Token::Str(text) => text.len() > SHORT,
                Token::String(text) => text.len() > SHORT,
                Token::ParenOpen => last != Kind::Small,
                Token::ParenClose | Token::Comma => false,
                _ => true,
            };
        }
        Ok(match token {
            Token::TemplateData(_) => Kind::Other,
            Token::VariableStart | Token::BlockStart => {
                (self.linked, self.sums, self.growth) = (0, 0, 0);
                self.tags += usize::from(matches!(token, Token::BlockStart));
                if self.tags > TAGS {
                    return Err(limit(format!("the template has more than {TAGS} tags")));
                }
                if matches!(token, Token::BlockStart) { Kind::Tag } else { Kind::Other }
            }
            Token::Ident(name) => return self.word(name, last, called),
            Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_)
            | Token::ParenClose
            | Token::BracketClose
            | Token::BraceClose => Kind::Operand,
            Token::VariableEnd | Token::BlockEnd | Token::Comma | Token::Colon => Kind::Other,
            sign => {
                self.link()?;
                self.sums += usize::from(matches!(sign, Token::Plus | Token::Tilde));
                self.much |= self.sums > FEW_SUMS;
                match sign {
                    Token::Dot => Kind::Dot,
                    Token::Pipe => Kind::Pipe,
                    // Whatever is called there has no name.
                    Token::ParenOpen => {
                        self.much |= last == Kind::Operand;
                        Kind::Other
                    }
                    Token::Mul | Token::Pow | Token::Assign => {
                        self.much = true;
                        Kind::Other
                    }
                    _ => Kind::Other,
                }
            }
        })
    }

    fn word(&mut self, name: &str, last: Kind, called: bool) -> Result<Kind, TextError> {
        let small = match last {
            Kind::Tag => {
                self.much |= !TAGS_ON_THE_SPOT.contains(&name);
                return Ok(Kind::Other);
            }
            Kind::Pipe => {
                self.growth += match name {
                    "quote" | "tojson" if !called => 1,
                    "join" | "replace" => {
                        self.short = called;
                        2
                    }
                    _ if FILTERS.binary_search(&name).is_ok() => 0,
                    _ => GROWTH + 1,
                };
                self.growth <= GROWTH
            }
            Kind::Dot if called => METHODS.binary_search(&name).is_ok(),
            _ if called && !is_sign(name) => FUNCTIONS.binary_search(&name).is_ok(),
            _ => true,
        };
        self.much |= !small;
        if is_sign(name) {
            self.link()?;
            return Ok(Kind::Other);
        }
        Ok(if called { Kind::Small } else { Kind::Operand })
    }

    fn link(&mut self) -> Result<(), TextError> {
        self.links += 1;
        self.linked += 1;
        if self.linked > LINKS {
            return Err(limit("the expression is too long to be read".to_owned()));
        }
        Ok(())
    }
}

/// Words that work as signs.
fn is_sign(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "is" | "in" | "if" | "else")
}

/// The text with `-` in the place of `*`: it uses the same names and is right
/// or wrong in the same way, but the engine's reader has nothing to multiply
/// out: `'a' * 99999999` takes 100 MB before anything is evaluated.
pub(super) fn tame(text: &str, is_expression: bool) -> Cow<'_, str> {
    if !text.contains('*') {
        return Cow::Borrowed(text);
    }
    let mut tame = text.as_bytes().to_vec();
    let mut after_operand = false;
    let mut read = 0;
    for token in tokenize(text, is_expression, syntax()) {
        let Ok((token, span)) = token else {
            // What follows cannot be told apart; its pieces are read anyway.
            tame[read..].iter_mut().filter(|byte| **byte == b'*').for_each(|byte| *byte = b'-');
            break;
        };
        let Span { start_offset, end_offset, .. } = span;
        read = (end_offset as usize).min(text.len());
        if after_operand
            && matches!(token, Token::Mul | Token::Pow)
            && let Some(sign) = tame.get_mut(start_offset as usize..end_offset as usize)
        {
            sign.fill(b' ');
            sign[0] = b'-';
        }
        after_operand = match token {
            Token::Ident(name) => !is_sign(name),
            Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::Int128(_)
            | Token::Float(_)
            | Token::ParenClose
            | Token::BracketClose
            | Token::BraceClose => true,
            _ => false,
        };
    }
    String::from_utf8(tame).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_is_done_on_the_spot() {
        for small in [
            "{{ inputs.commit }}",
            "{{ a.b[0] | default('x') | upper }}{% if a and not b %}{{ c }}{% else %}d{% endif %}",
            "{{ xs | join(', ') }} {{ x | replace('a', 'b') }} {{ x | tojson | quote }}",
            "{{ inputs.get('a', {}).items() }} {{ len(x) > 3 or str(y) == 'z' }} {{ a ~ b + c }}",
            "{{ now().strftime('%Y') }} {{ any(x for x in xs) }} {{ (a or b) is defined }}",
            "{# a * b #}{{ 'a * b' }}",
        ] {
            assert_eq!(estimate_cost(small, false), Ok(Cost::Low), "{small}");
        }
    }

    #[test]
    fn what_can_grow_is_not() {
        for much in [
            "{{ 'a' * 9 }}",
            "{{ 2 ** 9 }}",
            "{% for x in xs %}{{ x }}{% endfor %}",
            "{% set a = b %}",
            "{% macro a() %}{% endmacro %}",
            "{{ x | format(1) }}",
            "{{ '{:9999}'.format(1) }}",
            "{{ x.replace('a', y) }}",
            "{{ x | replace('a', y) }}",
            "{{ x | replace('a', 'bbbbbbbbb') }}",
            "{{ x | replace('a', 'b') | replace('b', 'cc') }}",
            "{{ x | join(y) }}",
            "{{ x | join(('a')) }}",
            "{{ x | tojson(indent=9) }}",
            "{{ x | indent(9) }}",
            "{{ x | quote | quote | quote }}",
            "{{ range(9) }}",
            "{{ (a.b)(1) }}",
            "{{ a[0](1) }}",
            "{{ a + b + c + d + e + f }}",
        ] {
            assert_eq!(estimate_cost(much, false), Ok(Cost::High), "{much}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for deep in [
            format!("{{{{ 1{} }}}}", " + 1".repeat(9999)),
            format!("{{{{ a{} }}}}", ".b".repeat(9999)),
            format!("{{{{ {}a }}}}", "not ".repeat(9999)),
            format!("{{{{ a{} }}}}", " if b else c".repeat(9999)),
            format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(9999)),
            format!("{{{{ a }}}}{}", "x".repeat(999_999)),
        ] {
            assert!(estimate_cost(&deep, false).is_err(), "{}", &deep[..40]);
        }
    }

    #[test]
    fn nothing_is_multiplied_out() {
        for (written, tamed) in [
            ("{{ 'a*' * 9 }} * {{ a**2 }}", "{{ 'a*' - 9 }} * {{ a- 2 }}"),
            ("{{ f(*a, **b) }} {{ [*a] }}", "{{ f(*a, **b) }} {{ [*a] }}"),
            ("{{ a * b | é | join('x' * 9) }}", "{{ a - b | é | join('x' - 9) }}"),
        ] {
            assert_eq!(tame(written, false), tamed);
        }
    }
}
