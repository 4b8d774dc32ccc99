//! Where the comparisons of a template are, found from its tokens.

use std::ops::Range;

use minijinja::machinery::{Token, tokenize};

use super::engine::syntax;

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Operator {
    const ALL: [Self; 8] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::In,
        Self::NotIn,
    ];

    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }

    pub(super) fn of(sign: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.sign() == sign)
    }

    fn of_token(token: &Token<'_>) -> Option<Self> {
        Some(match token {
            Token::Eq => Self::Equal,
            Token::Ne => Self::NotEqual,
            Token::Lt => Self::Less,
            Token::Lte => Self::LessOrEqual,
            Token::Gt => Self::Greater,
            Token::Gte => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

/// `a < b`, or a chain such as `a < b <= c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// Where the operands stand, in order: one more than there are operators.
    pub(super) operands: Vec<Range<usize>>,
    /// Where the operators stand, and what they are.
    pub(super) operators: Vec<(Range<usize>, Operator)>,
}

/// What is open at one level of brackets.
#[derive(Default)]
struct Level {
    operand: Option<Range<usize>>,
    operands: Vec<Range<usize>>,
    operators: Vec<(Range<usize>, Operator)>,
}

impl Level {
    fn extend(&mut self, token: Range<usize>) {
        match &mut self.operand {
            Some(operand) => operand.end = token.end,
            None => self.operand = Some(token),
        }
    }

    fn compare(&mut self, sign: Range<usize>, operator: Operator) {
        if let Some(operand) = self.operand.take() {
            self.operands.push(operand);
            self.operators.push((sign, operator));
        }
    }

    fn close(&mut self, found: &mut Vec<Chain>) {
        let Self { operand, operands, operators } = std::mem::take(self);
        let mut operands = operands;
        operands.extend(operand);
        if !operators.is_empty() && operands.len() == operators.len() + 1 {
            found.push(Chain { operands, operators });
        }
    }
}

/// Every comparison, also those inside of others.
pub(super) fn chains(text: &str, is_expression: bool) -> Vec<Chain> {
    let mut tokens = Vec::new();
    for token in tokenize(text, is_expression, syntax()) {
        let Ok((token, span)) = token else { return Vec::new() };
        tokens.push((token, span.start_offset as usize..span.end_offset as usize));
    }
    let mut found = Vec::new();
    let mut levels = vec![Level::default()];
    let mut skip = false;
    // Between `for` and `in` stand the names of a loop, which compares nothing.
    let mut is_loop = false;
    for (at, (token, range)) in tokens.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        let before = at.checked_sub(1).map(|at| &tokens[at].0);
        let next = tokens.get(at + 1);
        let Some(level) = levels.last_mut() else { return Vec::new() };
        match token {
            Token::TemplateData(_)
            | Token::VariableStart
            | Token::VariableEnd
            | Token::BlockStart
            | Token::BlockEnd => {
                level.close(&mut found);
            }
            Token::Comma | Token::Colon | Token::Assign => level.close(&mut found),
            Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => {
                level.extend(range.clone());
                levels.push(Level::default());
            }
            Token::ParenClose | Token::BracketClose | Token::BraceClose => {
                level.close(&mut found);
                levels.pop();
                if let Some(outer) = levels.last_mut() {
                    outer.extend(range.clone());
                }
            }
            Token::Ident(word) if !matches!(before, Some(Token::Dot | Token::Pipe)) => {
                let after_is = match before {
                    Some(Token::Ident("not")) => {
                        matches!(
                            at.checked_sub(2).map(|at| &tokens[at].0),
                            Some(Token::Ident("is"))
                        )
                    }
                    before => matches!(before, Some(Token::Ident("is"))),
                };
                match (*word, next) {
                    // The word of a tag.
                    _ if matches!(before, Some(Token::BlockStart)) => is_loop = *word == "for",
                    ("in", _) if is_loop => {
                        is_loop = false;
                        *level = Level::default();
                    }
                    ("not", Some((Token::Ident("in"), last))) if !after_is => {
                        level.compare(range.start..last.end, Operator::NotIn);
                        skip = true;
                    }
                    ("in", _) if !after_is => level.compare(range.clone(), Operator::In),
                    ("and" | "or" | "not" | "if" | "else", _) if !after_is => {
                        level.close(&mut found);
                    }
                    _ => level.extend(range.clone()),
                }
            }
            token => match Operator::of_token(token) {
                Some(operator) => level.compare(range.clone(), operator),
                None => level.extend(range.clone()),
            },
        }
    }
    levels.iter_mut().for_each(|level| level.close(&mut found));
    found
}

/// A name that is compared with a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberComparison {
    /// The name, dotted.
    pub name: String,
    /// The comparison as it was written.
    pub source: String,
    /// With a cast, as it should be written.
    pub cast: String,
}

/// The comparisons of a bare name with a number.
pub fn number_comparisons(text: &str, is_expression: bool) -> Vec<NumberComparison> {
    let is_name = |source: &str| {
        source.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && source.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    let is_number = |source: &str| source.trim_start_matches('-').trim().parse::<f64>().is_ok();
    let are_numbers = |source: &str| {
        let inner = source.strip_prefix(['[', '(']).and_then(|rest| rest.strip_suffix([']', ')']));
        inner.is_some_and(|inner| {
            let inner = inner.trim().trim_end_matches(',');
            inner.split(',').all(|item| is_number(item.trim()))
        })
    };
    let mut found = Vec::new();
    for chain in chains(text, is_expression) {
        for (pair, (_, operator)) in chain.operands.windows(2).zip(&chain.operators) {
            let (a, b) = (text[pair[0].clone()].trim(), text[pair[1].clone()].trim());
            let sign = operator.sign();
            let looks_in = matches!(operator, Operator::In | Operator::NotIn);
            // `float` is right for every number: `int` takes 2.7 for 2.
            let (name, cast) = match (is_name(a), is_name(b)) {
                (true, false) if looks_in && are_numbers(b) || !looks_in && is_number(b) => {
                    (a, format!("{a} | float {sign} {b}"))
                }
                (false, true) if !looks_in && is_number(a) => {
                    (b, format!("{a} {sign} {b} | float"))
                }
                _ => continue,
            };
            let source = text[pair[0].start..pair[1].end].to_owned();
            found.push(NumberComparison { name: name.to_owned(), source, cast });
        }
    }
    found
}
