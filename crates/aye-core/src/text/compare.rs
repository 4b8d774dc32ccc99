//! Comparing as Python does: what has no order is an error, never an answer.
//!
//! The engine orders any two values: a text is greater than every number, so
//! `failures > 0` would hold for the text `0`. Comparisons are therefore
//! rewritten to calls of [`COMPARE`] before a template is compiled. The tests
//! (`is gt 0`, `select('gt', 0)`) and the filters that order follow the same
//! rule.

use std::borrow::Cow;
use std::cmp::Ordering;

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::chains::{Chain, Operator, chains};
use super::render::TextError;

/// What a comparison becomes: `__compare("a", a, "<", "b", b)`.
pub(super) const COMPARE: &str = "__compare";

/// A template or an expression with its comparisons rewritten.
pub(super) fn guarded(text: &str, is_expression: bool) -> Cow<'_, str> {
    if !["<", ">", "==", "!=", "in"].iter().any(|sign| text.contains(sign)) {
        return Cow::Borrowed(text);
    }
    let found = chains(text, is_expression);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    // Chains may stand inside of others: what is inserted goes by place, and
    // at one place what closes comes first.
    let mut inserted: Vec<(usize, usize, String)> = Vec::new();
    let mut left_out = Vec::new();
    for Chain { operands, operators } in &found {
        let first = operands.first().map_or(0, |operand| operand.start);
        let last = operands.last().map_or(0, |operand| operand.end);
        inserted.push((first, 2, format!("{COMPARE}({}, ", literal(&text[operands[0].clone()]))));
        for (operand, (sign, operator)) in operands[1..].iter().zip(operators) {
            let source = literal(&text[operand.clone()]);
            inserted.push((sign.start, 1, format!(", \"{}\", {source}, ", operator.sign())));
            left_out.push(sign.clone());
        }
        inserted.push((last, 0, ")".to_owned()));
    }
    inserted.sort_by_key(|(at, rank, _)| (*at, *rank));
    left_out.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len() * 2);
    let mut done = 0;
    let mut skipped = left_out.into_iter().peekable();
    let mut copy = |out: &mut String, to: usize| {
        while let Some(range) = skipped.next_if(|range| range.start < to) {
            out.push_str(&text[done..range.start]);
            done = range.end;
        }
        if done < to {
            out.push_str(&text[done..to]);
            done = to;
        }
    };
    for (at, _, words) in inserted {
        copy(&mut out, at);
        out.push_str(&words);
    }
    copy(&mut out, text.len());
    Cow::Owned(out)
}

/// A piece of a template as a text that the engine can read.
fn literal(source: &str) -> String {
    serde_json::Value::from(source.trim()).to_string()
}

/// Adds the function, the tests and the filters that compare.
pub(super) fn add(engine: &mut Environment<'_>) {
    engine.add_function(COMPARE, |state: &State<'_, '_>, args: Rest<Value>| compare(state, &args));
    let tests: [(&[&str], Operator); 7] = [
        (&["eq", "equalto", "=="], Operator::Equal),
        (&["ne", "!="], Operator::NotEqual),
        (&["lt", "lessthan", "<"], Operator::Less),
        (&["le", "<="], Operator::LessOrEqual),
        (&["gt", "greaterthan", ">"], Operator::Greater),
        (&["ge", ">="], Operator::GreaterOrEqual),
        (&["in"], Operator::In),
    ];
    for (names, operator) in tests {
        for &name in names {
            engine.add_test(name, move |state: &State<'_, '_>, a: &Value, b: &Value| {
                holds(state, operator, a, b).map_err(|refused| match refused {
                    Refused::Mismatch(a, b) => carry(
                        format!("the test `{name}` compares {a} with {b}"),
                        "make them one type first: `x | float`, or `xs | map('float')` for a list",
                    ),
                    Refused::Failed(error) => error,
                })
            });
        }
    }
    engine.add_filter(
        "int",
        |state: &State<'_, '_>,
         value: &Value,
         default: Option<Value>,
         base: Option<u32>,
         kwargs: Kwargs| {
            let read = minijinja::filters::int(state, value, default, base, kwargs);
            read.map_err(|error| unreadable("int", value, error))
        },
    );
    engine.add_filter(
        "float",
        |state: &State<'_, '_>, value: &Value, default: Option<Value>, kwargs: Kwargs| {
            let read = minijinja::filters::float(state, value, default, kwargs);
            read.map_err(|error| unreadable("float", value, error))
        },
    );
    engine.add_filter("sort", |state: &State<'_, '_>, value: Value, kwargs: Kwargs| {
        same_type("sort", &value, &kwargs)?;
        minijinja::filters::sort(state, value, kwargs)
    });
    engine.add_filter("min", |state: &State<'_, '_>, value: Value, kwargs: Kwargs| {
        same_type("min", &value, &kwargs)?;
        minijinja::filters::min(state, value, kwargs)
    });
    engine.add_filter("max", |state: &State<'_, '_>, value: Value, kwargs: Kwargs| {
        same_type("max", &value, &kwargs)?;
        minijinja::filters::max(state, value, kwargs)
    });
}

/// Says which value a cast cannot read.
fn unreadable(filter: &str, value: &Value, error: Error) -> Error {
    let Some(text) = value.as_str() else { return error };
    let shown: String = text.chars().take(40).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    carry(
        format!("`{filter}` cannot read `{}{more}` as a number", shown.escape_debug()),
        &format!("write `… | {filter}(default=0)` if it may be something else"),
    )
}

/// `a < b < c`: the source and the value of each operand, signs between them.
fn compare(state: &State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [_, _, rest @ ..] = args else { return Err(ErrorKind::MissingArgument.into()) };
    let mut left = &args[..2];
    for step in rest.chunks_exact(3) {
        let right = &step[1..];
        let Some(operator) = step[0].as_str().and_then(Operator::of) else {
            return Err(ErrorKind::InvalidOperation.into());
        };
        let held = holds(state, operator, &left[1], &right[1]).map_err(|refused| match refused {
            Refused::Mismatch(a, b) => refusal(left, operator, right, (a, b)),
            Refused::Failed(error) => error,
        });
        if !held? {
            return Ok(Value::from(false));
        }
        left = right;
    }
    Ok(Value::from(true))
}

/// Why a comparison has no answer.
enum Refused {
    /// What the two are.
    Mismatch(&'static str, &'static str),
    Failed(Error),
}

fn holds(state: &State<'_, '_>, operator: Operator, a: &Value, b: &Value) -> Result<bool, Refused> {
    if a.is_undefined() || b.is_undefined() {
        if state.env().undefined_behavior() != UndefinedBehavior::Chainable {
            return Err(Refused::Failed(ErrorKind::UndefinedError.into()));
        }
        return natively(state, operator, a, b);
    }
    match operator {
        Operator::Equal | Operator::NotEqual => match unlike(a, b) {
            Some((a, b)) => Err(Refused::Mismatch(a, b)),
            None => natively(state, operator, a, b),
        },
        Operator::In | Operator::NotIn => {
            let held = natively(state, operator, a, b)?;
            let is_found = held == (operator == Operator::In);
            match unlike_item(a, b).filter(|_| !is_found) {
                Some((a, b)) => Err(Refused::Mismatch(a, b)),
                None => Ok(held),
            }
        }
        _ => {
            let order = order(a, b).map_err(|(a, b)| Refused::Mismatch(a, b))?;
            Ok(match operator {
                Operator::Less => order.is_lt(),
                Operator::LessOrEqual => order.is_le(),
                Operator::Greater => order.is_gt(),
                _ => order.is_ge(),
            })
        }
    }
}

fn natively(
    state: &State<'_, '_>,
    operator: Operator,
    a: &Value,
    b: &Value,
) -> Result<bool, Refused> {
    Ok(match operator {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        Operator::GreaterOrEqual => a >= b,
        Operator::In | Operator::NotIn => {
            use ValueKind::{Bool, Bytes, None, Number};
            if matches!(b.kind(), Bool | Bytes | None | Number) {
                let message = format!("`{}` looks into {}", operator.sign(), kind(b));
                let hint = "`in` looks for a part of a text, an item of a list or a key";
                return Err(Refused::Failed(carry(message, hint)));
            }
            let inside = minijinja::tests::is_in(state, a, b).map_err(Refused::Failed)?;
            inside == (operator == Operator::In)
        }
    })
}

/// What two values are that differ only in that one has a text where the other has the
/// number that it reads as: also inside of lists and mappings.
fn unlike(a: &Value, b: &Value) -> Option<(&'static str, &'static str)> {
    use ValueKind::{Iterable, Map, Seq};
    if reads_as(a, b) || reads_as(b, a) {
        return Some((kind(a), kind(b)));
    }
    let items = |value: &Value| value.try_iter().ok().map(Iterator::collect::<Vec<Value>>);
    let is_map = match (a.kind(), b.kind()) {
        (Seq | Iterable, Seq | Iterable) => false,
        (Map, Map) => true,
        _ => return None,
    };
    let (first, second) = (items(a)?, items(b)?);
    if first.len() != second.len() {
        return None;
    }
    let pairs: Vec<(Value, Value)> = match is_map {
        false => first.into_iter().zip(second).collect(),
        true => {
            let mut pairs = Vec::with_capacity(2 * first.len());
            for key in &first {
                let near = |other: &&Value| !first.contains(other) && unlike(key, other).is_some();
                let same = second.iter().find(|other| *other == key);
                let other = same.or_else(|| second.iter().find(near))?;
                pairs.push((key.clone(), other.clone()));
                pairs.push((a.get_item(key).ok()?, b.get_item(other).ok()?));
            }
            pairs
        }
    };
    let mut found = None;
    for (a, b) in pairs.iter().filter(|(a, b)| a != b) {
        // Whatever else differs, they are not equal.
        found = Some(unlike(a, b)?);
    }
    found
}

/// The same for a value and an item of a list, or a key of a mapping.
fn unlike_item(a: &Value, list: &Value) -> Option<(&'static str, &'static str)> {
    use ValueKind::{Iterable, Map, Seq};
    let (Seq | Iterable | Map) = list.kind() else { return None };
    list.try_iter().ok()?.find_map(|item| unlike(a, &item))
}

/// Whether a text reads as this number: `"0"` and `0` look alike and differ.
fn reads_as(text: &Value, number: &Value) -> bool {
    let (Some(text), ValueKind::Number) = (text.as_str(), number.kind()) else { return false };
    match (text.trim().parse::<f64>(), f64::try_from(number.clone())) {
        (Ok(read), Ok(number)) => read == number,
        _ => false,
    }
}

/// As Python orders; fails with what the two are.
fn order(a: &Value, b: &Value) -> Result<Ordering, (&'static str, &'static str)> {
    use ValueKind::{Bool, Bytes, Iterable, Number, Plain, Seq, String};
    match (a.kind(), b.kind()) {
        (Number, Number) | (String, String) | (Bytes, Bytes) | (Plain, Plain) => Ok(a.cmp(b)),
        (Number | Bool, Number | Bool) => Ok(number(a).cmp(&number(b))),
        (Seq | Iterable, Seq | Iterable) => {
            let (Ok(a), Ok(b)) = (a.try_iter(), b.try_iter()) else { return Ok(a.cmp(b)) };
            let (a, b): (Vec<Value>, Vec<Value>) = (a.collect(), b.collect());
            match a.iter().zip(&b).find(|(a, b)| a != b) {
                Some((a, b)) => order(a, b),
                None => Ok(a.len().cmp(&b.len())),
            }
        }
        _ => Err((kind(a), kind(b))),
    }
}

fn number(value: &Value) -> Value {
    match value.kind() {
        ValueKind::Bool => Value::from(i64::from(value.is_true())),
        _ => value.clone(),
    }
}

/// The smallest or the largest of these.
pub(super) fn extreme(
    name: &str,
    items: impl Iterator<Item = Value>,
    wanted: Ordering,
) -> Result<Option<Value>, Error> {
    let mut best: Option<Value> = None;
    for item in items {
        let better = match &best {
            None => true,
            Some(best) => order(&item, best).map_err(|(a, b)| unordered(name, a, b))? == wanted,
        };
        if better {
            best = Some(item);
        }
    }
    Ok(best)
}

/// Refuses a list whose items have no order.
fn same_type(filter: &str, value: &Value, kwargs: &Kwargs) -> Result<(), Error> {
    let attribute = kwargs.peek::<Option<&str>>("attribute").ok().flatten();
    let paths: Vec<Option<&str>> = match attribute {
        Some(names) => names.split(',').map(|name| Some(name.trim())).collect(),
        None => vec![None],
    };
    let Ok(items) = value.try_iter() else { return Ok(()) };
    let items: Vec<Value> = items.collect();
    for path in paths {
        let key = |item: &Value| match path {
            Some(path) => path.split('.').fold(item.clone(), |item, part| at_key(&item, part)),
            None => item.clone(),
        };
        for pair in items.windows(2) {
            let (a, b) = (key(&pair[0]), key(&pair[1]));
            if a.is_undefined() || b.is_undefined() {
                continue;
            }
            order(&a, &b).map_err(|(a, b)| unordered(filter, a, b))?;
        }
    }
    Ok(())
}

fn at_key(item: &Value, part: &str) -> Value {
    let found = match part.parse::<usize>() {
        Ok(at) => item.get_item_by_index(at),
        Err(_) => item.get_attr(part),
    };
    found.unwrap_or_default()
}

fn unordered(name: &str, a: &str, b: &str) -> Error {
    carry(
        format!("`{name}` cannot order {a} and {b}"),
        "make them one type first: `xs | map('float')` for numbers, `xs | map('string')` for text",
    )
}

/// Says what is compared with what, and the cast to write.
fn refusal(
    left: &[Value],
    operator: Operator,
    right: &[Value],
    kinds: (&'static str, &'static str),
) -> Error {
    let source = |side: &[Value]| side[0].as_str().unwrap_or_default().to_owned();
    let (a, b, sign) = (source(left), source(right), operator.sign());
    let message = format!("`{a} {sign} {b}` compares {} with {}", kinds.0, kinds.1);
    let cast = |side: &[Value], source: &str| {
        let read: Option<f64> = side[1].as_str().and_then(|text| text.trim().parse().ok());
        match read {
            // A number in quotes needs no cast.
            Some(_) if source.starts_with(['"', '\'']) => {
                source.trim_matches(['"', '\'']).trim().to_owned()
            }
            // `int` would take 2.7 for 2.
            _ => format!("{} | float", atom(source)),
        }
    };
    use ValueKind::{None, Number, String};
    let hint = match (left[1].kind(), right[1].kind()) {
        (String, _) if matches!(operator, Operator::In | Operator::NotIn) => {
            format!("write `{} {sign} {b}`", cast(left, &a))
        }
        (Number, _) if matches!(operator, Operator::In | Operator::NotIn) => {
            format!("write `{} | string {sign} {b}`", atom(&a))
        }
        (String, Number) => format!("write `{} {sign} {b}`", cast(left, &a)),
        (Number, String) => format!("write `{a} {sign} {}`", cast(right, &b)),
        (None, Number) => format!("write `({a} or 0) {sign} {b}` if it may be missing"),
        (Number, None) => format!("write `{a} {sign} ({b} or 0)` if it may be missing"),
        _ => "compare values of one type: `x | float`, `x | string`, `x | length`".to_owned(),
    };
    carry(message, &hint)
}

/// An operand that a filter can follow.
fn atom(source: &str) -> Cow<'_, str> {
    let simple = |c: char| c.is_alphanumeric() || "_.|()[]'\" ".contains(c);
    let words = ["is ", " in ", " not "];
    match source.chars().all(simple) && !words.iter().any(|word| source.contains(word)) {
        true => Cow::Borrowed(source),
        false => Cow::Owned(format!("({source})")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => "nothing (`none`)",
        ValueKind::Bool => "a truth value",
        ValueKind::Number => "a number",
        ValueKind::String | ValueKind::Bytes => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "a mapping",
        _ => "an object",
    }
}

fn carry(message: String, hint: &str) -> Error {
    let error = TextError { hint: Some(hint.to_owned()), ..TextError::new(message) };
    Error::new(ErrorKind::InvalidOperation, error.message.clone()).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn comparisons_become_calls() {
        for (written, rewritten) in [
            ("a < 1", r#"__compare("a", a , "<", "1",  1)"#),
            (
                "a.b|x - 1 >= -c and d",
                r#"__compare("a.b|x - 1", a.b|x - 1 , ">=", "-c",  -c) and d"#,
            ),
            (
                "f(a < b) == [c > d]",
                r#"__compare("f(a < b)", f(__compare("a", a , "<", "b",  b)) , "==", "[c > d]",  [__compare("c", c , ">", "d",  d)])"#,
            ),
            ("1 < a <= 3", r#"__compare("1", 1 , "<", "a",  a , "<=", "3",  3)"#),
            ("a in b", r#"__compare("a", a , "in", "b",  b)"#),
            ("a not in b and 'x<y'", r#"__compare("a", a , "not in", "b",  b) and 'x<y'"#),
            ("a is not in b or a is in(b)", "a is not in b or a is in(b)"),
            (
                "not a is not none == true",
                r#"not __compare("a is not none", a is not none , "==", "true",  true)"#,
            ),
            ("x if a == 'b' else y", r#"x if __compare("a", a , "==", "'b'",  'b') else y"#),
            ("f(k=a<b)", r#"f(k=__compare("a", a, "<", "b", b))"#),
        ] {
            assert_eq!(guarded(written, true), rewritten, "{written}");
        }
        assert_eq!(
            guarded("{% for k, v in m if k in v %}{% endfor %}", false),
            "{% for k, v in m if __compare(\"k\", k , \"in\", \"v\",  v) %}{% endfor %}"
        );
        assert_eq!(
            guarded("a<b {% for x in xs if x > 1 %}{{ x != 'é' }}{% endfor %}", false),
            "a<b {% for x in xs if __compare(\"x\", x , \">\", \"1\",  1) %}{{ __compare(\"x\", x , \"!=\", \"'é'\",  'é') }}{% endfor %}"
        );
    }
}
